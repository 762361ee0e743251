"""Maps verbs to the views of their answers, and renders a view as plain text."""

import io
from collections.abc import Callable, Mapping
from typing import Any

from memory_assets.interfaces.views import health, memories, origin
from memory_assets.interfaces.views.lines import Parts, render_fields
from memory_assets.interfaces.views.terminal import plain_console, show
from memory_assets.schema.extras import extras

VIEWS: Mapping[str, Callable[[Any], Parts]] = {
    "recall": memories.render_recalled,
    "open": origin.render_opened,
    "answer": memories.render_cited,
    "explain": origin.render_explained,
    "triggers": origin.render_triggers,
    "brief": lambda briefing: iter([briefing.text.rstrip("\n")]),
    "remember": memories.render_noted,
    "forget": memories.render_forgetting,
    "feedback": memories.render_rating,
    "restore": memories.render_restored,
    "distill": memories.render_distilled,
    "review": memories.render_pending,
    "decide": memories.render_decided,
    "status": health.render_state,
}


def view_of(verb: str) -> Callable[[Any], Parts]:
    """Returns the view of the verb's answer, by default its fields."""
    for extra in extras():
        if verb in extra.views:
            return extra.load(extra.views[verb])
    return VIEWS.get(verb, render_fields)


def render_text(verb: str, data: Any) -> str:
    """Returns the answer of a verb as plain text, as the command line prints it into a pipe."""
    stream = io.StringIO()
    show(view_of(verb)(data), plain_console(stream, no_color=True, color_system=None))
    return stream.getvalue().rstrip("\n")
