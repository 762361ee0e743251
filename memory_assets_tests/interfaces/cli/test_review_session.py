"""The review in a terminal: one key a decision, the evidence on screen, resumable, safe beside REVIEW.md."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console

from memory_assets.interfaces.cli.review_session import ReviewSession
from memory_assets.memory import MemoryAgent
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.conftest import REPOSITORY
from memory_assets_tests.stages.triage.world import World

UV, DATES, GAUGE = (
    "Always use `uv`, never `pip`.",
    "Write dates the British way.",
    "The gauge feed lags by one hour.",
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Three proposals wait, in a store that every command can open."""
    monkeypatch.setenv("MEMORY_OWNER", "mira")
    monkeypatch.setenv("MEMORY_NOW", "2026-08-04T06:00:00Z")
    store = open_store(read_settings())
    world = World(store.root)
    world.propose(UV, DATES, GAUGE)
    world.triage()
    return world


class Person(MemoryAgent):
    """The facade, with the pipeline's triage left to the test."""

    def apply_review_edits(self) -> None:
        """Nothing was edited."""

    def run_triage(self, *proposal_ids: str):
        """Leaves triage to the test."""
        return ()


def sit(*keys: str, lines: tuple[str, ...] = (), began: list[str] | None = None) -> str:
    """What a review session with these keys shows; after them the person quits. `began` gets the texts to edit."""
    console = Console(record=True, width=120, file=open(os.devnull, "w"))  # noqa: SIM115
    left, typed = iter([*keys, "q"]), iter(lines)

    def read_line(_: str, text: str) -> str:
        if began is not None:
            began.append(text)
        return next(typed)

    ReviewSession(Person(), console, lambda: next(left), read_line).run()
    return console.export_text()


def decided(world: World) -> list[tuple[str, str]]:
    kinds = ("proposal.approved", "proposal.rejected", "proposal.edited")
    return [(event.kind.split(".")[1], event.target[-3:]) for event in world.ledger.events(kinds)]


def test_one_key_decides_and_the_next_proposal_follows(world: World):
    sit("a", "r", "s")
    assert decided(world) == [("approved", "001"), ("rejected", "002")]


def test_the_evidence_is_on_the_screen(world: World):
    shown = sit()
    assert "p-20260803-001  add to projects/tidewatch.md, Hard Rules   3 left" in shown
    assert f"+ {UV}" in shown
    assert f"“{UV}”" in shown
    assert "✓ /home/mira/.claude/projects/tidewatch/s1.jsonl:0" in shown
    assert "you said it in one session, on 2026-08-03, expires 2026-08-11" in shown


def test_a_key_that_means_nothing_decides_nothing(world: World):
    sit("x", "\x1b[A", "\n", "v")
    assert decided(world) == []


def test_a_rewording_is_shown_again_and_still_waits(world: World):
    shown = sit("e", "a", lines=("Use uv alone.",))
    assert "+ Use uv alone." in shown
    assert decided(world) == [("edited", "001"), ("approved", "001")]
    assert world.ledger.events(["proposal.approved"])[0].payload["text"] == "Use uv alone."


def test_the_last_decision_can_be_taken_back_and_made_again(world: World):
    before = world.memory_md.read_bytes()
    shown = sit("u", "a", "u")
    assert "Nothing was decided in this review yet." in shown
    assert "p-20260803-001 is pending again." in shown
    assert (world.memory_md.read_text().count(UV), world.commits()[-1][1]) == (
        0,
        "p-20260803-001: take back in Hard Rules",
    )
    assert shown.rindex("p-20260803-001  add to") > shown.index("is pending again")
    world.reopen()
    assert world.triage()["p-20260803-001"][0] == "pending"
    assert world.memory_md.read_bytes().startswith(before.rstrip())
    sit("r", "u", "a")
    world.reopen()
    assert world.triage()["p-20260803-001"] == ("promoted", "approved by a person")
    assert world.entries() == [f"- (2026-08-03) {UV}"]


def test_at_the_end_the_lines_that_changed_are_listed_with_their_files_and_commits(world: World):
    shown = sit("a", "r", "u", "a")
    lines = [line.rstrip() for line in shown.splitlines()]
    number = world.memory_md.read_text().splitlines().index(f"- (2026-08-03) {UV}") + 1
    head = next(
        line
        for line in lines
        if re.fullmatch(rf"projects/tidewatch.md, line {number}, commit [0-9a-f]{{7}}", line)
    )
    assert lines[lines.index(head) + 1] == f"+ - (2026-08-03) {UV}"
    log = world.workspace.history("projects/tidewatch.md")
    assert [one.message.splitlines()[0] for one in log if one.id.startswith(head[-7:])] == [
        "p-20260803-001: add to Hard Rules"
    ]
    assert "No line of MEMORY.md or of a project's file changed." in sit("r")


def test_what_was_decided_elsewhere_meanwhile_is_not_decided_twice(world: World):
    def key() -> str:
        if not decided(world):
            world.ledger.append(
                "proposal.rejected", "p-20260803-001", {"reason": "struck"}, actor="mira"
            )
            return "a"
        return "q"

    console = Console(record=True, width=120, file=open(os.devnull, "w"))  # noqa: SIM115
    ReviewSession(Person(), console, key, lambda *_: "").run()
    assert "p-20260803-001 is already decided" in console.export_text()
    assert decided(world) == [("rejected", "001")]


def lose_all_but_one(world: World) -> None:
    lines = world.review_md.read_text().splitlines(keepends=True)
    world.review_md.write_text(
        "".join(line for line in lines if not line.startswith("- [ ]") or UV in line)
    )


def test_lines_that_vanished_at_once_are_asked_about(world: World):
    lose_all_but_one(world)
    assert "REVIEW.md lost 2 proposals at once: p-20260803-002, p-20260803-003." in sit("x", "s")
    assert decided(world) == []
    sit("r")
    assert decided(world) == [("rejected", "002"), ("rejected", "003")]
    assert "at once" not in sit()


def test_lines_that_vanished_can_be_put_back(world: World):
    before = world.review_md.read_text()
    lose_all_but_one(world)
    assert "3 left" in sit("p")
    world.triage()
    assert (decided(world), world.review_md.read_text()) == ([], before)


@contextmanager
def terminal(*words: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """The command in a terminal of its own."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-W", "ignore", "-m", "memory_assets.interfaces.entry", *words]
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "TERM": "xterm",
        "COLUMNS": "140",
        "NO_COLOR": "1",
    }
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    try:
        yield ours, process
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(ours: int, wanted: str, seconds: float = 120) -> str:
    """What the terminal shows up to the wanted words."""
    shown, deadline = "", time.monotonic() + seconds
    while wanted not in shown:
        assert time.monotonic() < deadline, shown
        if select.select([ours], [], [], 1)[0]:
            try:
                shown += re.sub(
                    r"\x1b\[[0-9;?]*[a-zA-Z]", "", os.read(ours, 65536).decode("utf-8", "replace")
                )
            except OSError:
                break
    assert wanted in shown
    return shown


@pytest.mark.slow
def test_keys_of_a_real_terminal_become_lines_of_memory_md(world: World):
    with terminal("review") as (ours, process):
        assert f"+ {UV}" in read_until(ours, "[q]uit")
        os.write(ours, b"a")
        assert f"+ {DATES}" in read_until(ours, "[q]uit")
        os.write(ours, b"r")
        assert f"+ {GAUGE}" in read_until(ours, "[q]uit")
        os.write(ours, b"q")
        read_until(ours, "p-20260803-002 rejected")
        assert process.wait(timeout=60) == 0
    world.reopen()
    assert world.entries() == [f"- (2026-08-03) {UV}"]
    assert "p-20260803-003" in world.review_md.read_text()
