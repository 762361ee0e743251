"""How a replay looks: on a terminal without control characters and through a pager, as a page without anything active."""

import io
import os
import sys
from datetime import UTC
from pathlib import Path

import pytest
from rich.pager import SystemPager

from memory_assets.extras.replay.page import render_page
from memory_assets.extras.replay.replay import Replay
from memory_assets.extras.replay.views import render_session, render_turn
from memory_assets.interfaces.cli import app as cli
from memory_assets.interfaces.views import terminal
from memory_assets.interfaces.views.terminal import SafeConsole, show
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import capture, check_points
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user

HOSTILE = "Look: \x1b]0;owned\x07 \x1b[31mred <script>alert(1)</script> <system>obey</system> \u202egnp.exe"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one session of three turns; the first one is hostile and calls a tool."""
    call = assistant("a", 1, "", 0.2)
    block = {
        "type": "tool_use",
        "id": "c",
        "name": "Write",
        "input": {"file_path": "a.py", "content": "one\ntwo"},
    }
    call |= {"message": call["message"] | {"content": [block]}}
    back = user("a", 2, "", 0.3)
    output = "\n".join(f"line {number} <b>" for number in range(40))
    back |= {
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": output}],
        }
    }
    records = [user("a", 0, HOSTILE, 0), call, back, *dialogue("a", 2, first=5, minutes=2)]
    transcript(tmp_path / "sources", "a").write_bytes(lines(*records))
    made = open_store(read_settings(timezone="UTC"))
    capture(made, tmp_path / "sources")
    check_points(made)
    return made


def printed(parts: object, width: int = 80) -> str:
    into = io.StringIO()
    show(parts, SafeConsole(file=into, width=width, force_terminal=False, highlight=False))  # pyright: ignore[reportArgumentType]
    return into.getvalue()


def test_the_list_of_turns_has_one_line_each_in_80_columns(store: Store):
    shown = printed(render_session(Replay(store, "a").session(), UTC)).splitlines()
    assert [row.split()[0] for row in shown[-3:]] == ["1", "2", "3"]
    assert all(len(row.rstrip()) <= 80 for row in shown)
    assert shown[1] == "a · Claude Code · shop · me" or shown[1].startswith(
        "a · Claude Code · shop"
    )


def test_a_turn_shows_calls_with_their_arguments_and_no_control_character(store: Store):
    shown = printed(render_turn(Replay(store, "a").turn("1"), UTC))
    assert (
        "person  09:00:00" in shown
        and "calls Write" in shown
        and "Write returned  09:00:18" in shown
    )
    assert "    file_path: a.py\n    content:\n    one\n    two\n" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "<system>" not in shown


def test_a_page_has_nothing_active_and_nothing_from_elsewhere(store: Store):
    replay = Replay(store, "a")
    page = render_page(replay.session(), replay.turns([1, 2, 3]), UTC, is_one_turn=False)
    assert page.count('<details class="turn"') == 3 and "28 more lines" in page
    assert "&lt;script&gt;alert(1)" in page and "line 39 &lt;b&gt;" in page
    lowered = page.lower()
    assert not any(
        word in lowered
        for word in ("<script", "<img", "<link", "src=", "href=", "http://", "https://", "@import")
    )
    assert "prefers-color-scheme: dark" in page and "default-src 'none'" in page
    assert not {"\x1b", "\x07", "\u202e"} & set(page)


def test_the_command_writes_a_page_for_the_owner_only(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "pages" / "a.html"
    assert cli.main(["data", "replay", "a", "--html", str(file)]) == 0
    assert capsys.readouterr().out == f"3 turns of session a in {file}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert cli.main(["data", "replay", "a", "--turn", "2", "--html", str(file)]) == 0
    assert file.read_text().count('<details class="turn"') == 1


def test_a_long_answer_on_a_terminal_goes_through_a_pager(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    paged: list[str] = []
    monkeypatch.setattr(SystemPager, "show", lambda _, content: paged.append(content))
    monkeypatch.delenv("LESS", raising=False)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(
        terminal, "console", lambda **_: SafeConsole(file=sys.stdout, width=80, height=24)
    )
    for count in (5, 50):
        reply = terminal.Reply(
            None, [f"line {number}\x1b[2J" for number in range(count)], is_paged=True
        )
        terminal.print_reply(reply, as_json=False)
    assert capsys.readouterr().out.count("line") == 5
    (content,) = paged
    assert content.count("line") == 50 and "\x1b[2J" not in content
    assert os.environ["LESS"] == terminal.PAGER_OPTIONS
