"""Which drawing shows the answer to which verb, and the drawing as plain text for readers without a terminal."""

import io
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console

from memory_assets.interfaces.views import common as drawing
from memory_assets.interfaces.views.answer import draw_reflected
from memory_assets.interfaces.views.graph import draw_neighbourhood
from memory_assets.interfaces.views.notes import draw_forgetting, draw_noted, draw_why_not
from memory_assets.interfaces.views.recall import draw_answer
from memory_assets.interfaces.views.terminal import PIPE_WIDTH
from memory_assets.interfaces.views.triggers import draw_triggers

DRAWINGS: Mapping[str, Callable[[Any], drawing.Draw]] = {
    "recall": draw_answer,
    "reflect": draw_reflected,
    "explain": drawing.draw_explanation,
    "why-not": draw_why_not,
    "graph": draw_neighbourhood,
    "triggers": lambda data: draw_triggers(data["triggers"]),
    "brief": lambda briefing: drawing.draw_text(briefing.text.rstrip("\n")),
    "remember": draw_noted,
    "correct": draw_noted,
    "forget": draw_forgetting,
    "feedback": draw_noted,
    "review": lambda data: drawing.draw_pending(data["pending"]),
    "decide": lambda data: drawing.draw_reviewed(data["decided"]),
    "status": drawing.draw_status,
}


def text_of(verb: str, data: Any) -> str:
    """Returns what the command line would print into a pipe."""
    into = io.StringIO()
    console = Console(
        file=into,
        width=PIPE_WIDTH,
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=True,
        no_color=True,
        color_system=None,
    )
    DRAWINGS[verb](data)(console)
    return into.getvalue().rstrip("\n")
