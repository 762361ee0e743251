"""The bundled sample, built into a store as a newcomer's `memory up` does, for the tests that tell its story."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import polars as pl
from polars.testing import assert_frame_equal

from memory_assets.harnesses.readers import session_id_of
from memory_assets.interfaces.entry import main
from memory_assets.runs.steps.deliver import EMITTED, KINDS
from memory_assets.schema.frames import key_of
from memory_assets.schema.tables import table_names
from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.capture.sample import lay_out, sample_root
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.conftest import NOW

ONE_SESSION = "019eb302"
"""In the path of one transcript, for tests that need any session and no story."""

KEPT = ("resources", "ledger", "answers")
"""What a rebuild starts from, beside the workspace's git."""


def lay_out_sample(into: Path, *patterns: str) -> Path:
    """Lays the sample's transcripts out, or those whose path holds one of the patterns, and returns the folder."""
    folder = lay_out(sample_root(), into, NOW)
    if patterns:
        for path in [*folder.rglob("*.jsonl")]:
            if not any(pattern in str(path) for pattern in patterns):
                path.unlink()
    return folder


def session_ids() -> dict[str, str]:
    """The id of each session of the sample by its name, as the links of `data/sample/README.md` name them."""
    links = re.findall(
        r"^\[(\S+)\]: <transcripts/((\w+)/\S+)>$",
        (sample_root() / "README.md").read_text(),
        re.MULTILINE,
    )
    harness: dict[str, Harness] = {"claude": "claude_code", "codex": "codex", "pi": "pi"}
    return {name: session_id_of(harness[folder], path, ()) for name, path, folder in links}


def environment(data: Path, sources: Path, **more: str) -> dict[str, str]:
    """The variables with which a process of its own works on the store."""
    ours = {
        "MEMORY_DATA": str(data),
        "MEMORY_SOURCES": str(sources),
        "MEMORY_OWNER": "mira",
        "MEMORY_TIMEZONE": "UTC",
    }
    return {**os.environ, **ours, "MEMORY_NOW": NOW.isoformat(), **more}


def start(command: str, data: Path, sources: Path, **more: str) -> subprocess.Popen[str]:
    """Starts `memory COMMAND --json` on the store."""
    arguments = [sys.executable, "-m", "memory_assets.interfaces.entry", *command.split(), "--json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        arguments, env=environment(data, sources, **more), start_new_session=True, **pipes
    )


def run(command: str, data: Path, sources: Path, **more: str) -> dict:
    """Runs `memory COMMAND --json` on the store, in this process, and returns its data."""
    out, errors = StringIO(), StringIO()
    with (
        patch.dict(os.environ, environment(data, sources, **more)),
        redirect_stdout(out),
        redirect_stderr(errors),
    ):
        code = main([*command.split(), "--json"])
    assert code == 0, errors.getvalue()[-3000:] + out.getvalue()[-2000:]
    return json.loads(out.getvalue())["data"]


def run_apart(command: str, data: Path, sources: Path, **more: str) -> dict:
    """Runs the same in a process of its own."""
    process = start(command, data, sources, **more)
    out, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors[-3000:] + out[-2000:]
    return json.loads(out)["data"]


def open_at(data: Path, sources: Path) -> Store:
    """Opens the store in this process."""
    return open_store(
        read_settings(data=data, sources=str(sources), owner="mira", timezone="UTC", now=NOW)
    )


def all_tables(store: Store) -> dict[str, pl.DataFrame]:
    """Every table of the store, in key order, without what runs say of themselves: the events that they emit, and telemetry."""
    tables = {
        table: store.tables.read(table).sort(key_of(table))
        for table in table_names()
        if table != "telemetry"
    }
    return {
        **tables,
        "events": tables["events"].filter(~pl.col("event_id").str.starts_with(EMITTED)),
    }


def emitted(store: Store) -> list[str]:
    """The ids of the events that runs emitted."""
    return [event.id for event in store.ledger.events(KINDS) if event.id.startswith(EMITTED)]


def assert_same_tables(found: dict[str, pl.DataFrame], expected: dict[str, pl.DataFrame]) -> None:
    """All tables are equal in every column, vectors within 1e-5."""
    for table, frame in expected.items():
        assert_frame_equal(
            found[table], frame, check_exact=table != "embeddings", rel_tol=0.0, abs_tol=1e-5
        )


def delete_derived(data: Path) -> None:
    """Deletes everything but the archive, the ledger, the stored answers and the workspace's git."""
    for path in data.iterdir():
        if path.name in KEPT:
            continue
        if path.name == "workspace":
            for inner in path.iterdir():
                if inner.name != ".git":
                    shutil.rmtree(inner) if inner.is_dir() else inner.unlink()
        else:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
