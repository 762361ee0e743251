"""Renders what-if branches: what differs, MEMORY.md side by side, and the cost."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.text import Text

from memory_assets.interfaces.views.lines import Parts, bold, dim, line, table, warning

if TYPE_CHECKING:
    from memory_assets.runs.compare import Change, Kind
    from memory_assets.runs.what_if import Adopted, Cost, Dropped, Estimate, Listed, Setting, Side, WhatIf

MARKS: "dict[Kind, tuple[str, str]]" = {"added": ("+", "green"), "lost": ("-", "red"), "changed": ("~", "yellow")}
AROUND = 1
"""Lines of context around a difference."""


def render_what_if(found: "WhatIf", most: int) -> Parts:
    """Renders a branch compared with the tables it started from, with at most so many changed memories."""
    yield from _head(found.name, found.days, found.settings)
    numbers = ("before", "after", *MARKS)
    compared = {"observations of these days": found.observations, "memories": found.memories}
    counts = {name: (one.before, one.after, *(one.count(kind) for kind in MARKS)) for name, one in compared.items()}
    yield table("", *numbers, rows=([name, *(f"{n:,}" for n in row)] for name, row in counts.items()), numbers=numbers)
    yield from _changes(found.memories.changes, most)
    for side in found.files:
        yield from _side(side)
    yield dim(f"Built in {found.seconds:.0f} s; {_price(found.cost)}.")
    if found.other_days:
        yield warning(f"Adopting also rebuilds {found.other_days} other day(s): these settings hold for all.")
    yield f"Next: `memory lab what-if adopt {found.name}`, or `memory lab what-if drop {found.name}`."


def render_estimate(found: "Estimate") -> Parts:
    """Renders what a what-if would cost."""
    yield from _head(found.name, found.days, found.settings)
    if not found.cost.calls and not found.answered:
        yield "No model is used: it costs nothing."
        return
    batches = "" if found.usd_in_batches is None else f" (${found.usd_in_batches:.2f} in batches)"
    yield f"Windows: {found.answered:,} calls have stored answers; {_price(found.cost)}{batches}."
    yield dim("Reflection adds one call for each project of a day.")


def render_branches(listed: "Sequence[Listed]") -> Parts:
    """Renders the branches of the store."""
    if not listed:
        yield "There is no branch. `memory lab what-if --set NAME=VALUE` makes one."
        return
    rows = []
    for one in listed:
        settings = ", ".join(f"{name}={value}" for name, value in one.settings.items())
        rows.append((one.name, str(one.first), str(one.last), settings, one.state))
    yield table("name", "from", "to", "settings", "state", rows=rows)


def render_adopted(adopted: "Adopted") -> Parts:
    """Renders the settings that were written."""
    for one in adopted.settings:
        yield Text(f"{one.name} = {one.after}, in {adopted.path}", style="green")
    yield f"Adopted in {adopted.seconds:.0f} s; {_price(adopted.cost)}. The branch was deleted."


def render_dropped(dropped: "Dropped") -> Parts:
    """Renders that a branch was deleted."""
    yield f"The branch {dropped.name} was deleted; the tables were not changed."


def _head(name: str, days: Sequence[object], settings: "Sequence[Setting]") -> Parts:
    yield bold(f"{name}: {', '.join(f'{one.name} {one.before} → {one.after}' for one in settings)}")
    yield dim(f"{len(days)} days with transcripts, {days[0]} to {days[-1]}")


def _changes(changes: "Sequence[Change]", most: int) -> Parts:
    for change in changes[:most]:
        mark, style = MARKS[change.kind]
        yield line((f"{mark} {change.text}", style), f"  ({change.day}, {change.category}; {change.why})")
        if change.was_text and change.was_text != change.text:
            yield dim(f"  was: {change.was_text}")
    if len(changes) > most:
        yield dim(f"… and {len(changes) - most:,} more; --limit shows them, --json all.")


def _side(side: "Side") -> Parts:
    if side.before == side.after:
        yield f"{side.path} does not change."
        return
    styles = ("red", "green")
    rows = (
        [Text(one, style=style if before != after else "") for one, style in zip((before, after), styles, strict=True)]
        for before, after in _side_by_side(side.before.splitlines(), side.after.splitlines())
    )
    yield table(f"{side.path} before", "after", rows=rows)


def _side_by_side(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields pairs of lines that differ, with the lines around them."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(AROUND)):
        if number:
            yield "…", "…"
        for _, a, b, c, d in group:
            yield from zip_longest(before[a:b], after[c:d], fillvalue="")


def _price(cost: "Cost") -> str:
    if not cost.calls:
        return "no model was used, it cost nothing"
    usd = "of unknown price" if cost.usd is None else f"${cost.usd:.2f}"
    return f"{cost.calls:,} calls, {cost.input_tokens:,} tokens in, {cost.output_tokens:,} out, {usd}"
