"""A session start asks for the run that nobody started, does not wait for it, and asks once an hour."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_assets.stages.deliver import silence
from memory_assets.stages.deliver.hook import run
from memory_assets.store.ready import WAITING

NOW = 1_700_000_000.0


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, Any]]]:
    """The processes that were started, which do not run."""
    found: list[tuple[list[str], dict[str, Any]]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **how: found.append((command, how)))
    return found


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A store in which input of a job waits since an hour before its deadline."""
    store = tmp_path / "store"
    (store / "built").mkdir(parents=True)
    (store / "VERSION").write_text("2\n")
    (store / WAITING).write_text(
        json.dumps({"windows": [NOW - 60, NOW], "job capture": [NOW - 60, NOW]})
    )
    return str(store)


def test_before_the_deadline_nothing_is_said_or_started(root: str, started: list):
    assert silence.alarm(root, NOW - 1) is None
    assert (silence.ask_for_run(root, NOW - 1), started) == (False, [])


def test_a_silent_memory_is_asked_for_once_an_hour_and_the_caller_does_not_wait(
    root: str, started: list
):
    asked = [silence.ask_for_run(root, NOW + seconds) for seconds in (1, 2, 3_500, 3_602, 3_700)]
    assert asked == [True, False, False, True, False]
    command, how = started[0]
    assert command[-3:] == ["-m", "memory_assets.interfaces.entry", "ingest"]
    assert how["start_new_session"]
    assert {how[name] for name in ("stdin", "stdout", "stderr")} == {subprocess.DEVNULL}
    assert how["env"]["MEMORY_DATA"] == root


def test_a_session_start_asks_and_other_hooks_do_not(
    root: str, started: list, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "stdin", None)
    for event in ("SessionEnd", "SessionStart"):
        assert run(["claude_code", event, "--store", root], lambda *_: "# Briefing") == 0
    assert len(started) == 1
    assert "# Briefing" in capfd.readouterr().out
