"""Draws triggers: what comes up and when, on the console that it is given."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from memory_assets.interfaces.views.common import Draw

if TYPE_CHECKING:
    from memory_assets.stages.brief.due import Trigger


def draw_triggers(triggers: Sequence["Trigger"]) -> Draw:
    """Draws each trigger with its sentence, where it was said and what to recall with it."""

    def draw(console: Console) -> None:
        if not triggers:
            console.print(Text("Nothing comes up."))
        for one in triggers:
            console.print(_tree(one))

    return draw


def _tree(one: "Trigger") -> Tree:
    where = f" [{one.project}] said {one.said_at:%Y-%m-%d} as '{one.expression}' · {one.path}:{one.line}"
    style = "bold yellow" if one.state == "due" else "bold"
    tree = Tree(
        Text(f"{one.trigger_on:%a %Y-%m-%d} ", style=style)
        + Text(one.text, style="not bold")
        + Text(where, style="not bold dim")
    )
    for text in one.memories:
        tree.add(Text(text, style="dim"))
    return tree
