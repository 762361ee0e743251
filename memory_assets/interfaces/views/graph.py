"""Draws the neighbourhood of a name as a tree, on the console that it is given."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from memory_assets.interfaces.views.common import Draw

if TYPE_CHECKING:
    from memory_assets.stages.recall.neighbourhood import Known, Neighbourhood, Related

SAYS = {"uses": "uses", "part_of": "is part of", "replaced_by": "was replaced by", "mentioned_together": "together with"}
SAYS_IN_REVERSE = {"uses": "is used by", "part_of": "holds", "replaced_by": "replaced"}


def draw_neighbourhood(found: "Neighbourhood") -> Draw:
    """Draws each entity with what it stands together with, and the newest memories that name it."""

    def draw(console: Console) -> None:
        if not found.entities:
            console.print(Text(f"No memory names '{found.asked}'."))
            if found.similar:
                console.print(Text(f"Names that hold it: {', '.join(found.similar)}."))
        for known in found.entities:
            console.print(_tree(known))

    return draw


def _tree(known: "Known") -> Tree:
    also = f", also {', '.join(known.aliases)}" if known.aliases else ""
    where = f" · {', '.join(known.projects)}" if known.projects else ""
    count = f"{known.memory_count} memor{'y' if known.memory_count == 1 else 'ies'}"
    when = f"{known.first_event_at:%Y-%m-%d} to {known.event_at:%Y-%m-%d}"
    tree = Tree(Text(known.name, style="bold") + Text(f" ({known.kind}{also}) · {count}, {when}{where}", style="not bold dim"))
    for related in known.related:
        tree.add(_line(related))
    if known.memories:
        said = tree.add(Text("said lately", style="dim"))
        for memory in known.memories:
            said.add(Text(f"{memory.event_at:%Y-%m-%d} ", style="dim") + Text(memory.text, style="not dim"))
    return tree


def _line(related: "Related") -> Text:
    verb = (SAYS_IN_REVERSE if related.is_reverse else SAYS)[related.relation]
    return Text(f"{verb} ", style="dim") + Text(related.name, style="cyan") + Text(f" ({related.kind}) ×{related.memory_count}")
