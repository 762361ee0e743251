"""Renders memories that contradict a decision record for REVIEW.md, each with what settles it.

    ## Contradictions of decision records
    - ADR-0002 of harbour: “We use Postgres for the ledger.”
      Memory: “We use SQLite for the ledger.” Settle it: `memory remember "…" --instead-of
      mem_0f3a5c1e0000` corrects the memory; a newer record supersedes `/…/0002.md`

Nothing of this is decided in the file: the lines are written again until the memory or the record
changes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_assets.schema.protocols import Row
from memory_assets.text.short_ids import short_id
from memory_assets.text.visible import visible
from memory_assets.text.words import shortened, squeezed

HEADING = "Contradictions of decision records"
LINE = re.compile(
    r"^(?:- ADR-\d{4,} of .*: “|  (?:Memory: “|Settle it: `memory remember |and \d+ more: "
    r"`memory review list`))"
)
MOST_SHOWN = 5
MOST_CHARS = 300


@dataclass(frozen=True)
class AdrContradiction:
    """A memory that contradicts a decision record in force."""

    number: int
    path: str
    project: str
    statement: str
    """The sentence of the record."""
    memory_id: str
    text: str
    """The memory."""
    reason: str


def render_contradictions(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the lines of the section for rows of `adr_conflicts`; none without rows."""
    for row in rows[:MOST_SHOWN]:
        record = f"ADR-{row['number']:04d} of {_quoted(row['project'])}"
        yield f"- {record}: “{_quoted(row['statement'])}”"
        yield f"  Memory: “{_quoted(row['text'])}”"
        correct = f'`memory remember "…" --instead-of {short_id(row["memory_id"])}`'
        newer = f"a newer record supersedes `{_quoted(row['path'])}`"
        yield f"  Settle it: {correct} corrects the memory; {newer}"
    more = len(rows) - MOST_SHOWN
    if more > 0:
        yield f"  and {more} more: `memory review list`"


def _quoted(text: str) -> str:
    return shortened(squeezed(visible(text)), MOST_CHARS)
