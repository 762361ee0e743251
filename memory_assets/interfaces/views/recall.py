"""Draws what was recalled: each result with its id, how sure it is, its age and where it comes from."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from memory_assets.interfaces.views.common import Draw, ranges

if TYPE_CHECKING:
    from memory_assets.stages.recall.search import Answer, Recalled

NOTHING = "Nothing that is remembered answers this."


def draw_answer(answer: "Answer") -> Draw:
    """Draws the results, best first; says so where nothing is known or something could not be asked."""

    def draw(console: Console) -> None:
        if not answer.results:
            console.print(Text(NOTHING))
        elif not answer.is_known:
            console.print(Text("This is not in memory; the nearest that is:", style="yellow"))
        for number, found in enumerate(answer.results, start=1):
            console.print(Text(f"{number}. ", style="bold") + Text(found.text))
            console.print(Text(f"   {_facts(found)}", style="dim"))
        if answer.results and answer.tier == 1:
            console.print(Text("answered from category summaries; --deep searches everything", style="dim"))
        if answer.degraded:
            console.print(Text(f"degraded: {answer.degraded}", style="yellow"))

    return draw


def draw_block(answer: "Answer") -> Draw:
    """Draws the block that is put in front of a prompt, and nothing where there is nothing to put."""

    def draw(console: Console) -> None:
        if block := answer.render():
            console.print(Text(block))

    return draw


def _facts(found: "Recalled") -> str:
    """Returns what speaks for a result, and where it can be looked up."""
    age = "today" if found.age_days < 1 else f"{found.age_days:.0f} days old"
    tags = f", {', '.join(found.tags)}" if found.tags else ""
    origin = f"session {found.session}" + (f", records {ranges(found.lines)}" if found.lines else "")
    return f"{found.confidence:.2f} sure, {age}, {found.category}{tags}; {shown_id(found)}; {origin}"


def shown_id(found: "Recalled") -> str:
    """Returns the id as people write it: `mem_` and twelve characters for a memory, the whole of any other."""
    is_memory = found.kind in ("fact", "narrative")
    return f"mem_{found.memory_id.replace('-', '')[:12]}" if is_memory else found.memory_id
