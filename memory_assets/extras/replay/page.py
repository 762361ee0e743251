"""Renders the turns of a session as one page of HTML (`text/html_page.py`)."""

from collections.abc import Iterable
from datetime import tzinfo
from pathlib import Path

from memory_assets.extras.replay import views
from memory_assets.extras.replay.results import SessionReplay, TurnReplay
from memory_assets.text.html_page import render


def render_page(
    session: SessionReplay, turns: Iterable[TurnReplay], zone: tzinfo, *, is_one_turn: bool
) -> str:
    """Returns the page of a session with these turns; with several, each turn is folded."""
    values = {"session": session, "turns": turns, "zone": zone, "is_one_turn": is_one_turn}
    return render("page.html", Path(__file__).parent, views=views, **values)
