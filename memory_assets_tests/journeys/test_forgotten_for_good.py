"""Facts are forgotten, then everything is rebuilt and captured again: no word of them is found, not even in git.

The search here shares no code with the one that verifies a forgetting.
"""

import base64
import gzip
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import polars as pl
import pytest
import zstandard

from memory_assets.errors import UnknownMemoryError
from memory_assets.memory import MemoryAgent
from memory_assets.store.settings import read_settings
from memory_assets_tests.conftest import NOW
from memory_assets_tests.once import TEST_ALL, sampled
from memory_assets_tests.story import environment, lay_out_sample, run

SESSIONS = ("/codex/", "/pi/") if TEST_ALL else ("-home-mira-code-notes-site",)
"""In the paths of the transcripts."""
COUNT, BY_COMMAND = (20, 3) if TEST_ALL else (2, 1)
"""Facts that are forgotten, and those of them by a command of their own; the others by the facade behind it."""

ESCAPES = re.compile(r"\\+(?:u00([0-9a-fA-F]{2})|[bfnrt\"/])")
BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}={0,2}")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_forgotten_facts_are_nowhere_after_a_rebuild_a_backfill_and_another_capture(tmp_path: Path):
    sources, data = lay_out_sample(tmp_path / "transcripts", *SESSIONS), tmp_path / "store"
    run("ingest", data, sources)
    agent = MemoryAgent(
        read_settings(data=data, sources=str(sources), owner="mira", timezone="UTC", now=NOW)
    )
    (promoted, *others), known = facts_of(agent), agent.store.tables.read("memories").height
    facts = [promoted, *sampled(others, COUNT - 1)]
    phrases = [normal(text) for _, text in facts]
    plant(data, facts[0][1])
    for number, (id, text) in enumerate(facts):
        if number < BY_COMMAND:
            told = command(data, sources, "forget", id if number % 2 else text, "--apply")
            assert told["is_gone"], told["proof"]
        else:
            with suppress(
                UnknownMemoryError
            ):  # it is gone with an earlier one that has the same words
                done = agent.forget(text, apply=True)
                assert done.is_gone, done.warnings
    assert found_in(data, phrases) == []
    assert found_in_git(data, phrases) != []

    run("data rebuild", data, sources)
    if TEST_ALL:
        run("data backfill", data, sources)
    capture_again(data, sources)
    assert found_in(data, phrases) == []
    assert agent.store.tables.read("memories").height >= known - COUNT > 0
    shutil.rmtree(
        data / "spool" / "aside"
    )  # what was planted in the spool is no event, and was read
    assert run("doctor", data, sources)["is_well"]

    assert command(data, sources, "forget", facts[0][1], "--apply", "--history")["is_gone"]
    assert found_in_git(data, phrases) == []
    assert found_in(data, phrases) == []


def facts_of(agent: MemoryAgent) -> list[tuple[str, str]]:
    """Facts that are recalled, proposed or written, twenty at the most, each of some words, the promoted ones first."""
    written = (
        agent.store.tables.read("decisions").filter(pl.col("state") == "promoted")["text"].to_list()
    )
    memories = agent.store.tables.read("memories").filter(
        (pl.col("state") == "active") & (pl.col("kind") == "fact")
    )
    rows = [
        (id, text)
        for id, text in memories.select("id", "text").iter_rows()
        if len(normal(text).split()) >= 5
    ]
    rows.sort(key=lambda row: (row[1] not in written, row))
    assert rows[0][1] in written and len(rows) > COUNT
    return rows[:20]


def plant(data: Path, text: str) -> None:
    """Leaves the words where killed processes, editors and logs leave them."""
    left = {
        "spool/events.jsonl": json.dumps({"text": text}).encode() + b"\n",
        "workspace/MEMORY.md~": text.encode(),
        "resources/.catalog.jsonl.x.tmp": text.encode(),
        "tables/.writing/1-2.tmp": text.encode(),
        "tables/memories/all/part-0000.parquet": text.encode(),
        "index/keywords/000001/texts.db": text.encode(),
        "index/quarantine/texts-000000-0/rows.bin": text.encode(),
        "dagster/storage/a/compute_logs/b.err": f"Traceback: {text}\n".encode("utf-16"),
        "dagster/storage/a/compute_logs/c.gz": gzip.compress(text.encode()),
        "dagster/storage/a/compute_logs/d.out": base64.b64encode(f"It said: {text}".encode()),
    }
    for name, content in left.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(content)
    with closing(sqlite3.connect(data / "dagster" / "planted.db")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE events (body TEXT, packed BLOB)")
        database.execute("INSERT INTO events VALUES (?, ?)", (text, zlib.compress(text.encode())))
        database.commit()
        database.execute("INSERT INTO events VALUES (?, NULL)", (f"gone {text}",))
        database.commit()
        database.execute("DELETE FROM events WHERE body LIKE 'gone%'")
        database.commit()


def command(data: Path, sources: Path, *words: str) -> dict:
    """Runs `memory WORDS --json` and returns its data."""
    call = [sys.executable, "-m", "memory_assets.interfaces.entry", *words, "--json"]
    done = subprocess.run(
        call,
        env=environment(data, sources),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-2000:]
    return json.loads(done.stdout)["data"]


def capture_again(data: Path, sources: Path) -> None:
    """Takes the unchanged transcripts in once more, copies of them under other names, and one that grew."""
    (data / "resources" / "seen.json").unlink()
    for path in sorted(sources.rglob("*.jsonl"))[::3]:
        shutil.copy(path, path.with_name(path.name.replace(".jsonl", "-copy.jsonl")))
    grown = min(sources.rglob("*.jsonl"))
    grown.write_bytes(grown.read_bytes() + grown.read_bytes().splitlines(keepends=True)[-1])
    run("ingest", data, sources)


def found_in(data: Path, phrases: list[str]) -> list[str]:
    """The files of the store, git's objects apart, that hold one of the phrases when they are decoded."""
    paths = (
        path for path in sorted(data.rglob("*")) if path.is_file() and "objects" not in path.parts
    )
    return [
        f"{path.relative_to(data)}: {phrase}"
        for path in paths
        for phrase in phrases_in((text for raw in opened(path) for text in readings(raw)), phrases)
    ]


def found_in_git(data: Path, phrases: list[str]) -> list[str]:
    """The phrases that any object of the workspace's git holds."""
    batch = [
        "git",
        "-C",
        str(data / "workspace"),
        "cat-file",
        "--batch",
        "--batch-all-objects",
        "--buffer",
    ]
    return phrases_in(
        readings(subprocess.run(batch, capture_output=True, check=True).stdout), phrases
    )


def phrases_in(texts: Iterable[str], phrases: list[str]) -> list[str]:
    held = [normal(text) for text in texts]
    return [phrase for phrase in phrases if any(phrase in text for text in held)]


def opened(path: Path) -> Iterator[bytes]:
    """What the file holds, and its bytes as they are."""
    raw = path.read_bytes()
    yield raw
    if raw.startswith(b"PAR1") and raw.endswith(b"PAR1"):
        words = (pl.col(pl.String), pl.col(pl.List(pl.String)).list.join("\n"))
        yield pl.read_parquet(path).select(*words).write_ndjson().encode()
    if raw.startswith(b"SQLite format 3"):
        with closing(sqlite3.connect(path)) as database:
            yield "\n".join(database.iterdump()).encode()
    if raw.startswith(b"\x28\xb5\x2f\xfd"):
        yield zstandard.ZstdDecompressor().decompress(raw)
    if raw.startswith(b"\x1f\x8b"):
        yield gzip.decompress(raw)


def readings(raw: bytes) -> Iterator[str]:
    """The bytes as text, in three encodings, with their escapes undone, and what base64 in them says."""
    for text in (
        raw.decode("utf-8", "ignore"),
        raw.decode("utf-16-le", "ignore"),
        raw.decode("utf-16-be", "ignore"),
    ):
        yield text
        yield ESCAPES.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)
    for letters in BASE64.findall(raw):
        yield base64.b64decode(letters[: len(letters) // 4 * 4]).decode("utf-8", "ignore")


def normal(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()
