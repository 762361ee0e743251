"""Maps verbs to the views of their answers, and renders a view as plain text."""

import io
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console

from memory_assets.interfaces.views.health import render_state
from memory_assets.interfaces.views.lines import Parts, render_fields
from memory_assets.interfaces.views.memories import render_decided, render_forgetting, render_noted, render_pending
from memory_assets.interfaces.views.origin import render_explained, render_related, render_triggers
from memory_assets.interfaces.views.recall import render_cited, render_recalled
from memory_assets.interfaces.views.terminal import PIPE_WIDTH, show

VIEWS: Mapping[str, Callable[[Any], Parts]] = {
    "recall": render_recalled,
    "answer": render_cited,
    "explain": render_explained,
    "graph": render_related,
    "triggers": render_triggers,
    "brief": lambda briefing: iter([briefing.text.rstrip("\n")]),
    "remember": render_noted,
    "forget": render_forgetting,
    "feedback": render_noted,
    "review": render_pending,
    "decide": render_decided,
    "status": render_state,
}


def view_of(verb: str) -> Callable[[Any], Parts]:
    """Returns the view of the verb's answer, by default its fields."""
    return VIEWS.get(verb, render_fields)


def render_text(verb: str, data: Any) -> str:
    """Returns what the command line prints into a pipe."""
    into = io.StringIO()
    plain = {"highlight": False, "emoji": False, "markup": False, "soft_wrap": True, "no_color": True, "color_system": None}
    show(view_of(verb)(data), Console(file=into, width=PIPE_WIDTH, **plain))
    return into.getvalue().rstrip("\n")
