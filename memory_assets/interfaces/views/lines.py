"""Building blocks of views: lines, tables, and pairs of name and value.

A view is a function that takes an answer of the facade and yields its parts: plain texts, or
objects that rich renders. `terminal` prints them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

Part = str | Text | Table | Tree
Parts = Iterator[Part]
SHOWN_ITEMS = 8
"""Items of a list that are shown."""

line = Text.assemble
"""Returns a line of texts and (text, style) pairs."""


def bold(text: str, rest: str = "", rest_style: str = "") -> Text:
    """Returns a line that starts in bold."""
    return line((text, "bold"), (rest, rest_style))


def dim(text: str) -> Text:
    """Returns a dimmed line."""
    return Text(text, style="dim")


def warning(text: str) -> Text:
    """Returns a line in yellow."""
    return Text(text, style="yellow")


def table(
    *columns: str, rows: Iterable[Sequence[str | Text]], numbers: Sequence[str] = ()
) -> Table:
    """Returns a table with these columns and rows; `numbers` are aligned to the right."""
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        justify = "right" if column in numbers else "left"
        grid.add_column(column, justify=justify, overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def cell(value: Any) -> str:
    """Returns the value as text: of a list the first items, for None an empty text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        more = f" … {len(value):,} in total" if len(value) > SHOWN_ITEMS else ""
        return ", ".join(map(str, value[:SHOWN_ITEMS])) + more
    return "" if value is None else str(value)


def ranges(lines: Sequence[int]) -> str:
    """Returns record numbers as ranges: 3-5, 9."""
    spans: list[list[int]] = []
    for number in sorted(set(lines)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def render_fields(result: Any) -> Parts:
    """Renders the fields of a result, one name and value per line."""
    grid = Table(box=None, show_header=False, pad_edge=False)
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    values = result if isinstance(result, Mapping) else vars(result)
    for name, value in values.items():
        if not name.startswith("_"):
            grid.add_row(name, cell(value))
    yield grid
