"""The terminal: JSON of any result, text for people, the next step for whoever looks."""

import io
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from rich.console import Console

from memory_assets.interfaces.views import terminal
from memory_assets.interfaces.views.terminal import Reply, print_reply


@dataclass(frozen=True)
class Result:
    """A result such as the facade returns."""

    path: Path
    at: datetime
    on: date
    lines: tuple[int, ...]
    names: frozenset[str] = frozenset({"b", "a"})


def test_any_result_has_a_json_form(capsys: pytest.CaptureFixture[str]):
    result = Result(
        Path("/store"), datetime(2026, 8, 3, 9, 0, tzinfo=UTC), date(2026, 8, 3), (1, 2)
    )
    print_reply(Reply(result), as_json=True)
    assert json.loads(capsys.readouterr().out)["data"] == {
        "path": "/store", "at": "2026-08-03T09:00:00+00:00", "on": "2026-08-03", "lines": [1, 2], "names": ["a", "b"],
    }  # fmt: skip


def test_warnings_stay_out_of_what_was_asked_for(capsys: pytest.CaptureFixture[str]):
    print_reply(Reply(None, ["answer"], warnings=["no vectors"]), as_json=False)
    assert capsys.readouterr() == ("answer\n", "! no vectors\n")


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [
        ("1. one two three four", 13, ["1. one two", "   three four"]),
        ("   one two three four", 13, ["   one two", "   three four"]),
        ("p-20260803-001 → one two", 80, ["p-20260803-001 → one two"]),
        (
            "msg_3073d6cd4083  message of today, said by me",
            38,
            ["msg_3073d6cd4083  message of today,", f"{'':18}said by me"],
        ),
        ("one two three four", 13, ["one two three", "four"]),
    ],
)
def test_on_a_terminal_a_long_line_continues_below_its_first_word(
    text: str, width: int, wanted: list[str]
):
    shown = io.StringIO()
    terminal.show([text], Console(file=shown, width=width))
    assert [line.rstrip() for line in shown.getvalue().splitlines()] == wanted


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("out", "as_json", "is_told"),
    [(Screen(), False, True), (Screen(), True, False), (io.StringIO(), False, False)],
)
def test_the_next_step_is_told_at_a_terminal(
    out: io.StringIO, as_json: bool, is_told: bool, monkeypatch: pytest.MonkeyPatch
):
    errors = Screen()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", errors)
    print_reply(Reply({"a": 1}, ["answer"], next_step="`memory up` does it."), as_json=as_json)
    assert ("Next: `memory up` does it." in errors.getvalue(), "Next" in out.getvalue()) == (
        is_told,
        False,
    )
