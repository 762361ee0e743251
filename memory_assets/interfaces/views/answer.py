"""Draws an answer over all tiers: what it says, what it rests on, and what was dropped."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from memory_assets.interfaces.views.common import Draw, ranges

if TYPE_CHECKING:
    from memory_assets.stages.recall.reflect import Citation, Reflected


def draw_reflected(said: "Reflected") -> Draw:
    """Draws the sentences with their ids, then where each id leads."""

    def draw(console: Console) -> None:
        if said.is_known and said.is_extractive:
            console.print(Text("Extractive: sentences as they were said, put together by nobody.", style="dim"))
        console.print(Text(said.text, style="" if said.is_known else "yellow"))
        if said.citations:
            console.print()
        for one in said.citations:
            console.print(Text(f"{one.id}  ", style="bold") + Text(_origin(one), style="dim"))
        for dropped in said.dropped:
            console.print(Text(f"dropped: {dropped.text} ({dropped.reason})", style="yellow"))
        if said.cost.model_calls:
            console.print(Text(f"{said.cost.model_tokens:,} tokens, ${said.cost.usd:.4f}", style="dim"))

    return draw


def _origin(one: "Citation") -> str:
    """Returns what kind of source it is, when it was said, and where."""
    if not one.session:
        return f"line {ranges(one.lines)} of {one.path}"
    on = f" of {one.event_at:%Y-%m-%d}" if one.event_at else ""
    return f"{one.kind}{on}; session {one.session}" + (f", records {ranges(one.lines)}" if one.lines else "")
