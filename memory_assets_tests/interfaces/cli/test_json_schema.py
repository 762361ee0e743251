"""What commands print with `--json` is what their JSON Schema says."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
import typer

from memory_assets.interfaces.cli import app
from memory_assets.interfaces.json_schema import schema_for as find_schema
from memory_assets.memory import MemoryAgent
from memory_assets.runs.build import Built
from memory_assets.services.health.status import status_of
from memory_assets.services.review.proposals import Reviewed
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store
from memory_assets_tests.of_extras import TRIGGERS, commands_there
from memory_assets_tests.small_store import DAY, FACT, MEMORY, PROPOSAL, index, small_store

Run = Callable[..., tuple[int, str, str]]


SOURCES = app.answer_sources()


def schema_for(words: Sequence[str]) -> dict[str, Any]:
    return find_schema(words, SOURCES)


def every_command(command: Any, path: str = "") -> Iterator[str]:
    children = getattr(command, "commands", {})
    if path and (not children or command.invoke_without_command):
        yield path
    for name, child in children.items():
        yield from every_command(child, f"{path} {name}".strip())


def test_each_command_has_a_schema_that_is_one():
    commands = set(every_command(typer.main.get_command(app.make_app())))
    assert {path for source in SOURCES for path in source()} == commands
    for command in commands:
        jsonschema.Draft202012Validator.check_schema(schema_for(command.split()))


def validate(run: Run, *words: str) -> dict[str, object]:
    reply = json.loads(run(*words, "--json")[1])
    jsonschema.Draft202012Validator(
        schema_for(words), format_checker=jsonschema.FormatChecker()
    ).validate(reply)
    return reply


@pytest.mark.parametrize(
    "words",
    commands_there(
        [
            ("recall", "how do we install packages"),
            ("recall", "how do we install packages", "--deep", "--probe"),
            ("recall", "how do we install packages", "--answer"),
            ("recall", "sourdough hydration of rye"),
            ("remember", "Herons nest beside the reactor."),
            ("review",),
            ("review", "list"),
            ("explain", MEMORY),
            ("explain", "herons nest beside the reactor"),
            ("explain", FACT, "--question", "how do herons nest"),
            ("forget", FACT),
            ("forget", MEMORY, "--apply"),
            ("status",),
            ("brief",),
            ("doctor",),
            ("hooks", "status"),
            ("hooks", "install", "--dry-run"),
            ("model",),
            ("model", "list"),
            ("model", "use", "rules"),
            ("config",),
            ("config", "ttl_days"),
            ("config", "set", "port", "4000"),
            ("data", "show", "observations"),
            ("data", "show", "embeddings"),
            ("data", "sample"),
            ("data", "export", "observations"),
            ("data", "feedback", MEMORY, "--used"),
            ("lab", "what-if", "list"),
            TRIGGERS,
            ("lab", "calibration"),
            ("uninstall", "--dry-run"),
            ("service", "uninstall", "--dry-run"),
        ]
    ),
    ids=" ".join,
)
def test_what_a_command_prints_is_valid(words: tuple[str, ...], run: Run):
    index(small_store())
    (Path.home() / ".codex").mkdir()
    reply = validate(run, *words)
    assert reply["ok"]


def test_builds_and_reviews_are_valid(run: Run, monkeypatch: pytest.MonkeyPatch):
    store = small_store()

    def built(**_: object) -> Built:
        return Built(
            Store(read_settings(), store.root),
            "Transcripts",
            ("daily",),
            0.1,
            {"memories": 2},
            status_of(store),
        )

    monkeypatch.setattr("memory_assets.runs.build.build", built)
    assert validate(run, "ingest")["data"]
    for words in (
        ("review", "edit", PROPOSAL, "Use uv."),
        ("review", "reject", PROPOSAL, "--reason", "once"),
    ):
        monkeypatch.setattr(
            MemoryAgent,
            "run_triage",
            lambda *_: (Reviewed(PROPOSAL, "pending", "Rules", "Use uv.", "said"),),
        )
        assert validate(run, *words)["ok"]


def test_branches_are_valid(run: Run):
    branches = pytest.importorskip("memory_assets.extras.lab.branches")
    store = small_store()
    place = branches.BranchFolder(store, "mine")
    changes = {"least_useful": "0.8"}
    branches.begin(place, branches.Branch("mine", DAY, DAY, changes, 0.0, "-", state="made"))
    observed = store.tables.read("observations").with_columns(
        gate=pl.lit("hold"), gate_reason=pl.lit("usefulness below 0.8")
    )
    place.open(store.settings).tables.write("observations", DAY.isoformat(), observed)
    for words in (("list",), ("show", "mine"), ("drop", "mine")):
        assert validate(run, "lab", "what-if", *words)["ok"]


def test_the_option_prints_the_schema_and_needs_a_command(run: Run, tmp_path: Path):
    code, out, _ = run("data", "show", "observations", "--json-schema")
    assert (code, json.loads(out)) == (0, schema_for(["data", "show"]))
    assert json.loads(out)["properties"]["data"]["anyOf"][0] == {"$ref": "#/$defs/ShownRows"}
    code, out, err = run("--json-schema")
    assert (code, out, "--json-schema needs a command" in err) == (2, "", True)
    assert not (tmp_path / "store").exists()
