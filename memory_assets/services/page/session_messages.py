"""Reads the messages of a session around a record of its transcript."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from memory_assets.errors import UnknownIdError
from memory_assets.schema.protocols import Row
from memory_assets.services.search.session_list import read_sessions
from memory_assets.store.store import Store

SHOWN = 60
"""Messages on one page."""

BEFORE = 20
"""Messages before the record, of those on the page."""

COLUMNS = "message_id line author kind tool_name is_error event_at text image_count".split()


@dataclass(frozen=True)
class SessionMessage:
    """A message of a session, calls and results of tools included."""

    message_id: str
    line: int
    """Its record in the transcript."""
    author: str
    kind: str
    tool_name: str | None
    is_error: bool
    event_at: datetime
    text: str
    image_count: int


@dataclass(frozen=True)
class SessionPart:
    """Messages of a session that follow each other."""

    session_id: str
    title: str
    project: str
    harness: str
    person: str
    path: str
    started_at: datetime
    messages: Sequence[SessionMessage]
    previous_line: int | None
    """A record of the messages before these; None at the beginning."""
    next_line: int | None
    message_count: int


def session_part(store: Store, session_id: str, line: int) -> SessionPart:
    """Returns the messages of the session around the record; raises `UnknownIdError` for an unknown
    session.
    """
    sessions = read_sessions(store.tables).filter(id=session_id).sort("started_at")
    days = [day.isoformat() for day in sessions["day"]]
    closed = store.tables.scan("messages", days).select(*COLUMNS, "session_id")
    still_open = store.tables.scan("messages_open").select(*COLUMNS, "session_id")
    messages = pl.concat([closed, still_open]).filter(session_id=session_id)
    messages = messages.unique("message_id").sort("line", "message_id").collect()
    if sessions.is_empty() or messages.is_empty():
        raise UnknownIdError(f"There is no session {session_id[:80]}, or none of it was read yet.")
    earlier_count = messages.filter(pl.col("line") < line).height
    start = max(min(earlier_count - BEFORE, messages.height - SHOWN), 0)
    end = start + SHOWN
    lines = messages["line"]
    previous_line = lines[max(start - SHOWN + BEFORE, 0)] if start else None
    next_line = lines[min(end + BEFORE, messages.height - 1)] if end < messages.height else None
    session = sessions.row(0, named=True)
    return SessionPart(
        session_id=session_id,
        title=session["name"] or "",
        project=session["project"],
        harness=session["harness"],
        person=session["person"],
        path=session["path"],
        started_at=session["started_at"],
        messages=[SessionMessage(**row) for row in _values(messages.slice(start, SHOWN))],
        previous_line=previous_line,
        next_line=next_line,
        message_count=messages.height,
    )


def _values(messages: pl.DataFrame) -> Iterator[Row]:
    return messages.select(COLUMNS).iter_rows(named=True)
