"""What views are made of: lines, tables, pairs of name and value, and rows of a table.

A view takes a result of the facade and yields its parts, plain text or renderables of rich; `terminal` prints them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

if TYPE_CHECKING:
    from memory_assets.services.table_rows import Rows

Part = str | Text | Table | Tree
Parts = Iterator[Part]
SHOWN_ITEMS = 8

line = Text.assemble
"""Makes a line of texts and of (text, style)."""


def bold(text: str, rest: str = "", rest_style: str = "") -> Text:
    """Returns a line that begins with bold text."""
    return line((text, "bold"), (rest, rest_style))


def dim(text: str) -> Text:
    """Returns a line of less weight."""
    return Text(text, style="dim")


def warning(text: str) -> Text:
    """Returns a line that should be noticed."""
    return Text(text, style="yellow")


def table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    """Returns an empty table with these columns; those that hold numbers are aligned to the right."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    return made


def pairs(values: Mapping[str, object]) -> Table:
    """Returns names and values, one pair a line."""
    made = Table(box=None, show_header=False, pad_edge=False)
    made.add_column(style="bold")
    made.add_column(overflow="fold")
    for name, value in values.items():
        made.add_row(name, cell(value))
    return made


def cell(value: Any) -> str:
    """Returns the value as text: the first items of a list, nothing for what is missing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        more = f" … {len(value):,} in total" if len(value) > SHOWN_ITEMS else ""
        return ", ".join(map(str, value[:SHOWN_ITEMS])) + more
    return "" if value is None else str(value)


def ranges(lines: Sequence[int]) -> str:
    """Returns record numbers with neighbours joined: 3-5, 9."""
    found: list[list[int]] = []
    for number in sorted(set(lines)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def counted(count: int, what: str) -> str:
    """Returns the count with its noun: 1 file, 2 files."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def render_rows(rows: "Rows") -> Parts:
    """Renders rows as records: one line for each column, so that long texts stay readable."""
    for row in rows.rows:
        yield pairs({name: row[name] for name in rows.columns})
        yield ""
    yield dim(f"{len(rows.rows):,} of {rows.total:,} rows of {rows.table}")


def render_fields(result: Any) -> Parts:
    """Renders a result that has no view of its own: its fields."""
    values = result if isinstance(result, Mapping) else vars(result)
    yield pairs({name: value for name, value in values.items() if not name.startswith("_")})
