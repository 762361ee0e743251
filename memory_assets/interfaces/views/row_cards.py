"""Renders rows of tables: as cards, or with every field.

A card has a title, the few fields that matter, and the ids of the row.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory_assets.interfaces.views.lines import Parts, bold, cell, dim, render_fields
from memory_assets.schema.vocabulary import MARKS

if TYPE_CHECKING:
    from memory_assets.memory.tables import ShownRows

TITLES = (
    "text", "title", "content", "narrative", "quote", "name", "query", "action", "measure",
    "section", "path", "answer", "said", "file", "record_type", "relation", "kind", "category",
    "model",
)  # fmt: skip
"""Columns that name a row, the best first."""

MOMENTS = (
    "event_at", "trigger_on", "started_at", "decided_at", "sent_at", "said_at", "seen_at", "at",
    "on", "day",
)  # fmt: skip
"""Columns with the time of a row; the first that is set is shown."""

FIELDS = (
    "state", "status", "verdict", "gate", "project", "category", "priority", "kind", "reason",
    "gate_reason", "harness", "author", "role", "person", "chapter", "page", "tool_name", "trigger",
    "problem", "relation", "similarity", "value", "count", "measure", "outcome", "profile",
    "result_count", "section", "component", "success", "duration_ms", "confidence",
    "confirmed_count", "recall_count", "message_count", "user_turn_count", "fact_count",
    "memory_count", "rows", "model", "dimension", "attempts", "weight", "version", "bytes", "chars",
    "text_chars", "tokens",
)  # fmt: skip
"""Columns that matter, the most useful first."""

MOST_FIELDS = 6
MOST_CHARS = 300
"""Most characters of a title, and of a field."""


def render_cards(rows: "ShownRows") -> Parts:
    """Renders each row as its title, the fields that matter, and its ids."""
    for number, row in enumerate(rows.rows, start=1):
        title = next((name for name in TITLES if row.get(name)), rows.key[0])
        yield bold(f"{number}. ", _short(row[title]))
        moment = [name for name in MOMENTS if row.get(name)][:1]
        names = [name for name in (*moment, *FIELDS) if name != title and _is_set(row.get(name))]
        fields = [f"{name} {_short(row[name])}" for name in names[:MOST_FIELDS]]
        if fields:
            yield f"   {', '.join(fields)}"
        ids = list(_ids(rows.key, row, title))
        if ids:
            yield dim(f"   {', '.join(ids)}")
    count = f"{len(rows.rows):,} of {rows.total:,} rows of {rows.table}"
    yield dim(f"{count}; --all shows every field, --json is for programs")


def render_rows(rows: "ShownRows") -> Parts:
    """Renders every field of each row, one line per column, so that long texts stay readable."""
    for row in rows.rows:
        yield from render_fields({name: row[name] for name in rows.columns})
        yield ""
    yield dim(f"{len(rows.rows):,} of {rows.total:,} rows of {rows.table}")


def _ids(key: tuple[str, ...], row: Mapping[str, Any], title: str) -> Iterator[str]:
    """Yields what identifies the row, and its session."""
    for name in dict.fromkeys((*key, "session_id")):
        if name not in (title, *FIELDS, *MOMENTS) and row.get(name) not in (None, ""):
            yield f"{name} {row[name]}"


def _is_set(value: Any) -> bool:
    return value is not None and value not in ("", [])


def _short(value: Any) -> str:
    text = cell(value)
    if isinstance(value, datetime):
        text = f"{value:%Y-%m-%d %H:%M}"
    elif isinstance(value, float):
        text = f"{value:g}"
    text = " ".join(text.split())
    return text if len(text) <= MOST_CHARS else f"{text[: MOST_CHARS - 1]}…"


def render_facts(sample: "ShownRows") -> Parts:
    """Renders facts, each with its id, category and source."""
    for number, row in enumerate(sample.rows, start=1):
        yield bold(f"{number}. ", row["text"])
        yield dim(f"   {row['id']}  {MARKS[row['priority']]} {row['priority']}, {row['category']}")
        yield dim(f"   said by the {row['author']} on {row['day']}, in {row['project']}")
    yield dim(f"{len(sample.rows):,} of {sample.total:,} allowed facts")
