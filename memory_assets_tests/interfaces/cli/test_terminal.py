"""Whole commands on a terminal: what follows an answer, and what fits at any width."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memory_assets.interfaces.views.next_steps import (
    after_branches,
    after_evaluation,
    after_service,
)
from memory_assets.services.login_service import ServiceState
from memory_assets_tests.small_store import FACT, MEMORY, PROPOSAL, index, small_store

Run = Callable[..., tuple[int, str, str]]
ID = "mem_0f3a5c1e0000"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("recall", "how do we install packages"), f"`memory explain {ID}`"),
        (
            ("recall", "zebra crossings of Ulaanbaatar", "--category", "people-relationships"),
            "`memory explain 'zebra crossings",
        ),
        (("recall", "how do we install packages", "--answer"), f"`memory explain {ID}`"),
        (("explain", MEMORY), f"--instead-of {ID}` corrects it"),
        (
            ("explain", "herons nest beside the reactor"),
            "`memory remember 'herons nest beside the reactor'`",
        ),
        (("data", "feedback", MEMORY, "--used"), "`memory ingest`"),
        (("config", "port"), "`memory config set port VALUE`"),
        (("data", "sample"), f"`memory explain {MEMORY}`"),
        (("doctor",), "`memory doctor --deep`"),
        (("forget", MEMORY), f"`memory forget {MEMORY} --apply` erases it."),
        (("forget", MEMORY, "--apply"), "`memory ingest` rebuilds"),
    ],
)
def test_an_answer_ends_with_the_next_thing_to_do(
    words: tuple[str, ...], wanted: str, on_screen: Run, run: Run
):
    index(small_store())
    code, out, err = on_screen(*words)
    assert (code, "Next: " in out) == (0, False)
    assert "Next: " in err
    assert wanted in " ".join(err.split())
    assert "Next: " not in "".join(map(str, run(*words)[1:]))


def test_an_exported_table_ends_with_where_its_columns_are_explained(
    on_screen: Run, tmp_path: Path
):
    index(small_store())
    code, out, err = on_screen("data", "export", "memories", "-o", str(tmp_path / "memories.jsonl"))
    assert (code, "1 rows in" in out) == (0, True)
    assert "`memory data export --all FOLDER` writes every table." in " ".join(err.split())


def test_a_service_that_is_not_installed_or_does_not_run_says_what_to_do(tmp_path: Path):
    state = ServiceState("not installed", tmp_path / "memory.service", tmp_path / "service.log")
    assert "`memory service install --dry-run`" in after_service(state)
    assert str(state.log) in after_service(replace(state, text="[Service]"))
    assert after_service(replace(state, text="[Service]", is_running=True)) == ""


def test_without_a_harness_hooks_wait_for_one(on_screen: Run):
    for words in (("hooks", "install", "--dry-run"), ("hooks", "status")):
        code, _, err = on_screen(*words)
        assert (
            code,
            "Next: `memory hooks install`, once Claude Code" in " ".join(err.split()),
        ) == (0, True)


def test_a_fact_that_was_saved_can_be_removed_by_the_command_that_is_shown(
    on_screen: Run, run: Run
):
    small_store()
    _, _, err = on_screen("remember", "Herons nest beside the reactor.")
    command = err.partition("`memory ")[2].partition("`")[0]
    assert "Nothing holds it any more" in run(*command.split())[1]


def test_help_has_boxes_on_a_terminal_and_none_in_a_pipe(on_screen: Run, run: Run):
    code, out, _ = run("recall", "--help")
    assert (code, "Example: " in out, "╭" in out) == (0, True, False)
    assert "╭" in on_screen("recall", "--help")[1]


def test_help_names_values_for_people_and_cuts_no_sentence(on_screen: Run, run: Run):
    for words in (
        ("--help",),
        ("recall", "--help"),
        ("data", "--help"),
        ("config", "set", "--help"),
        ("model", "--help"),
    ):
        for out in (run(*words)[1], on_screen(*words)[1]):
            assert not re.search(r"--[\w-]+ .*<(bool|str|int|list)", out), out
            assert "..." not in out.replace("[ARGS]...", "")


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize(
    "words",
    [("--help",), ("config",), ("status",), ("doctor",), ("review", "list"), ("explain", MEMORY), ("model",), ("data", "--help"),
     ("data", "show", "observations"), ("data", "show", "observations", "--all"), ("recall", "packages"), ("lab", "--help")],
    ids=" ".join,
)  # fmt: skip
def test_no_line_is_longer_than_the_terminal(words: tuple[str, ...], width: int, on_screen: Run):
    store = small_store()
    index(store)
    code, out, err = on_screen(*words, width=width)
    whole = {FACT, str(store.root), PROPOSAL}
    long = [
        line
        for line in (out + err).splitlines()
        if len(line.rstrip()) > width and not any(one in line for one in whole)
    ]
    assert (code, long) == (0, [])


def test_branches_and_an_evaluation_end_with_the_command_that_shows_more():
    branches: list[Any] = [SimpleNamespace(name="first"), SimpleNamespace(name="last")]
    assert after_branches(branches).startswith("`memory lab what-if show last` ")
    assert after_branches([]) == ""
    scored: list[Any] = [SimpleNamespace(shown=()), SimpleNamespace(shown=("a miss",))]
    assert [after_evaluation(one) for one in scored] == [
        "`memory lab eval --show misses` lists the labels that no fact covers.",
        "",
    ]
