"""Draws what-ifs for people: what differs, MEMORY.md side by side, and what it cost, on the console that it is given."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from memory_assets.interfaces.views.terminal import table

if TYPE_CHECKING:
    from memory_assets.runs.compare import Change
    from memory_assets.runs.what_if import Adopted, Cost, Dropped, Estimate, Listed, Setting, Side, WhatIf

Draw = Callable[[Console], None]

MARKS = {"added": ("+", "green"), "lost": ("-", "red"), "changed": ("~", "yellow")}
AROUND = 1
"""Lines around those that differ that are shown with them."""


def draw_what_if(found: "WhatIf", most: int) -> Draw:
    """Draws a branch beside what it began from, with so many of the memories that differ."""

    def draw(console: Console) -> None:
        _draw_head(console, found.name, found.days, found.settings)
        made = table("", "before", "after", "added", "lost", "changed", numbers=("before", "after", "added", "lost", "changed"))
        for name, one in (("observations of these days", found.observations), ("memories", found.memories)):
            counts = (one.before, one.after, one.count("added"), one.count("lost"), one.count("changed"))
            made.add_row(name, *(f"{count:,}" for count in counts))
        console.print(made)
        _draw_changes(console, found.memories.changes, most)
        for side in found.files:
            _draw_side(console, side)
        console.print(Text(f"Made in {found.seconds:.0f} s; {_price(found.cost)}.", style="dim"))
        if found.other_days:
            told = f"Adopting makes {found.other_days} other day(s) anew, too: these settings hold for all."
            console.print(Text(told, style="yellow"))
        console.print(Text(f"Next: `memory what-if adopt {found.name}`, or `memory what-if drop {found.name}`."))

    return draw


def draw_estimate(found: "Estimate") -> Draw:
    """Draws what a what-if would take."""

    def draw(console: Console) -> None:
        _draw_head(console, found.name, found.days, found.settings)
        if not found.cost.calls and not found.answered:
            console.print(Text("No model is asked: it costs nothing."))
            return
        batches = "" if found.usd_in_batches is None else f" (${found.usd_in_batches:.2f} in batches)"
        console.print(Text(f"Windows: {found.answered:,} calls are answered already; {_price(found.cost)}{batches}."))
        console.print(Text("What their days say together is asked after that: a call for each project of a day.", style="dim"))

    return draw


def draw_branches(listed: "Sequence[Listed]") -> Draw:
    """Draws the branches of the store."""

    def draw(console: Console) -> None:
        if not listed:
            console.print(Text("There is no branch. `memory what-if --set NAME=VALUE` makes one."))
            return
        made = table("name", "from", "to", "settings", "state")
        for one in listed:
            settings = ", ".join(f"{name}={value}" for name, value in one.settings.items())
            made.add_row(one.name, str(one.first), str(one.last), settings, one.state)
        console.print(made)

    return draw


def draw_adopted(adopted: "Adopted") -> Draw:
    """Draws what adopting did."""

    def draw(console: Console) -> None:
        for one in adopted.settings:
            console.print(Text(f"{one.name} = {one.after}, in {adopted.path}", style="green"))
        console.print(Text(f"Adopted in {adopted.seconds:.0f} s; {_price(adopted.cost)}. The branch is gone."))

    return draw


def draw_dropped(dropped: "Dropped") -> Draw:
    """Draws that a branch is gone."""
    return lambda console: console.print(Text(f"The branch {dropped.name} is gone; today's tables are as they were."))


def _draw_head(console: Console, name: str, days: Sequence[object], settings: "Sequence[Setting]") -> None:
    told = ", ".join(f"{one.name} {one.before} → {one.after}" for one in settings)
    console.print(Text(f"{name}: {told}", style="bold"))
    console.print(Text(f"{len(days)} days with transcripts, {days[0]} to {days[-1]}", style="dim"))


def _draw_changes(console: Console, changes: "Sequence[Change]", most: int) -> None:
    for change in changes[:most]:
        mark, style = MARKS[change.kind]
        console.print(Text(f"{mark} {change.text}", style=style) + Text(f"  ({change.day}, {change.category}; {change.why})"))
        if change.was_text and change.was_text != change.text:
            console.print(Text(f"  was: {change.was_text}", style="dim"))
    if len(changes) > most:
        console.print(Text(f"… and {len(changes) - most:,} more; --limit shows them, --json all.", style="dim"))


def _draw_side(console: Console, side: "Side") -> None:
    if side.before == side.after:
        console.print(Text(f"{side.path} stays as it is."))
        return
    made = table(f"{side.path} before", "after")
    for before, after in _beside(side.before.splitlines(), side.after.splitlines()):
        made.add_row(
            Text(before, style="red" if before != after else ""), Text(after, style="green" if before != after else "")
        )
    console.print(made)


def _beside(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields the lines that differ beside each other, with those around them."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(AROUND)):
        if number:
            yield "…", "…"
        for _, a, b, c, d in group:
            old, new = before[a:b], after[c:d]
            rows = max(len(old), len(new))
            yield from zip([*old, *[""] * (rows - len(old))], [*new, *[""] * (rows - len(new))], strict=True)


def _price(cost: "Cost") -> str:
    if not cost.calls:
        return "no model was asked, it cost nothing"
    usd = "of unknown price" if cost.usd is None else f"${cost.usd:.2f}"
    return f"{cost.calls:,} calls, {cost.input_tokens:,} tokens in, {cost.output_tokens:,} out, {usd}"
