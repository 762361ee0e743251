"""Cuts sessions into windows: which messages are observed together, and what closed them.

A window is closed by a compaction, by the end of the session (no message for longer than the idle time, in event time), or
by its size once a new user turn begins. A session that ends with fewer than `short_turns` user turns is `skipped_short`:
captured and searchable, not distilled; when it resumes, its messages are part of the next window. A window without any user
turn is never observed (sub-agents, automated sessions). The window's key is a hash of session, trigger and first message.

Forks, replays and rewritten files repeat messages: each belongs to the earliest session that holds it, by event time, then
by session, generation and line. Everything here is a pure function of the records and of `now`, so the order of arrival
does not matter.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets import tables as schemas

WINDOWS_VERSION = "windows/1"

EARLIEST = datetime(2024, 1, 1, tzinfo=UTC)
"""No harness wrote transcripts before; earlier times are wrong clocks."""

AHEAD = timedelta(days=1)
"""A time further ahead of now than this is a wrong clock."""

TOOL_CHARS = 1_500
"""Tool calls and results count towards a window's size as they are shown to an observer: cut to this."""

_HOME = re.compile(r"^(?:/Users/|/home/|[A-Za-z]:[\\/]Users[\\/])([^\\/]+)")
_NEEDED = [
    "source_id", "generation", "line", "byte_from", "byte_to", "resource_id", "session_id", "message_id", "author", "kind",
    "is_user_turn", "event_at", "chars", "boundary", "kept_from_line",
]  # fmt: skip
_FACTS = {"parent_session_id": "first", "cwd": "first", "branch": "last", "repository": "last", "title": "last",
          "version": "last"}  # fmt: skip


@dataclass(frozen=True)
class Cutting:
    """The rules of one cut: the moment, the zone, and what counts as idle, short and long."""

    now: datetime
    zone: ZoneInfo
    idle: timedelta
    short_turns: int
    tail_chars: int
    people: Mapping[str, str]
    owner: str


@dataclass
class _Row:
    generation: int
    line: int
    message_id: str
    is_user_turn: bool
    at: datetime
    is_guessed: bool
    chars: int


@dataclass
class _Open:
    """Messages of a window that is still growing."""

    rows: list[_Row] = field(default_factory=list)
    latest: datetime = EARLIEST
    size: int = 0

    def add(self, row: _Row, size: int) -> None:
        self.rows.append(row)
        self.latest = max(self.latest, row.at)
        self.size += size

    @property
    def user_turns(self) -> int:
        return sum(row.is_user_turn for row in self.rows)


def plan_windows(records: pl.DataFrame, resources: pl.DataFrame, rules: Cutting) -> pl.DataFrame:
    """Returns the table `windows`: every message that a session owns, in exactly one window, in order."""
    owned = own_messages(records)
    captured = dict(resources.select("id", "created_at").iter_rows())
    origins = {row["source_id"]: row for row in resources.unique("source_id", keep="last", maintain_order=True).to_dicts()}
    facts = {row["source_id"]: row for row in _facts_of(records).to_dicts()}
    rows = []
    for (source,), group in owned.group_by("source_id", maintain_order=True):
        for closed in _cut(group, captured, rules):
            rows.append(_window(closed, origins[source], facts[source], rules))  # noqa: PERF401
    return schemas.frame_of("windows", rows).sort("window_id")


def own_messages(records: pl.DataFrame) -> pl.DataFrame:
    """Returns message rows that belong to their session, and compaction boundaries, ordered by source, generation, line."""
    messages = records.filter(pl.col("message_id").is_not_null()).select(_NEEDED)
    order = ["event_at", "session_id", "generation", "line"]
    owned = messages.sort(order, nulls_last=True).unique("message_id", keep="first", maintain_order=True)
    boundaries = records.filter(pl.col("boundary").is_not_null() & pl.col("message_id").is_null()).select(_NEEDED)
    return pl.concat([owned, boundaries]).sort("source_id", "generation", "line")


def window_key(session_id: str, trigger: str, first_message_id: str) -> str:
    """Returns the permanent key of a window."""
    return hashlib.sha256(f"{session_id}\x1f{trigger}\x1f{first_message_id}".encode()).hexdigest()


def trusted_time(at: datetime | None, before: datetime | None, captured: datetime, now: datetime) -> tuple[datetime, bool]:
    """Returns the message's time and whether it is guessed from the message before it, or from the capture."""
    if at is not None and EARLIEST <= at <= now + AHEAD:
        return at, False
    return before or captured, True


def _facts_of(records: pl.DataFrame) -> pl.DataFrame:
    picked = [
        (pl.col(name).drop_nulls().first() if which == "first" else pl.col(name).drop_nulls().last())
        for name, which in _FACTS.items()
    ]
    return records.sort("source_id", "generation", "line").group_by("source_id", maintain_order=True).agg(picked)


def _cut(group: pl.DataFrame, captured: Mapping[str, datetime], rules: Cutting) -> Iterable[tuple[str, str, list[_Row]]]:
    """Yields (trigger, status, rows) of one session's windows in order."""
    current = _Open()
    before: datetime | None = None
    for record in group.iter_rows(named=True):
        if record["boundary"] == "compaction" and record["message_id"] is None:
            current = yield from _compact(current, record)
            continue
        at, is_guessed = trusted_time(record["event_at"], before, captured[record["resource_id"]], rules.now)
        before = at
        row = _Row(record["generation"], record["line"], record["message_id"], record["is_user_turn"], at, is_guessed,
                   record["chars"])  # fmt: skip
        if record["boundary"] == "compaction":
            current = yield from _compact(current, record)
        elif current.rows and at - current.latest > rules.idle and current.user_turns >= max(rules.short_turns, 1):
            yield "ended", "observed", current.rows
            current = _Open()
        elif current.size > rules.tail_chars and row.is_user_turn and current.user_turns:
            yield "tail", "observed", current.rows
            current = _Open()
        current.add(row, row.chars if record["kind"] == "text" else min(row.chars, TOOL_CHARS))
    if not current.rows:
        return
    if rules.now - current.latest <= rules.idle:
        yield "open", "open", current.rows
    else:
        is_long = current.user_turns >= max(rules.short_turns, 1)
        yield "ended", "observed" if is_long else "skipped_short", current.rows


def _compact(current: _Open, record: Mapping[str, Any]) -> Iterable[tuple[str, str, list[_Row]]]:
    """Closes the window at a compaction, but for the tail that the compaction kept; returns what goes on."""
    kept = record["kept_from_line"]
    closing = [r for r in current.rows if kept is None or (r.generation, r.line) < (record["generation"], kept)]
    if not any(row.is_user_turn for row in closing):
        return current
    yield "compaction", "observed", closing
    rest = _Open()
    for row in current.rows[len(closing) :]:
        rest.add(row, row.chars)
    return rest


def _window(
    closed: tuple[str, str, list[_Row]], origin: Mapping[str, Any], facts: Mapping[str, Any], rules: Cutting
) -> dict[str, Any]:
    trigger, status, rows = closed
    session = origin["conversation_id"]
    ended = max(row.at for row in rows)
    ids = [row.message_id for row in rows]
    folder = facts["cwd"] or ""
    return {
        "window_id": window_key(session, trigger, ids[0]),
        "session_id": session,
        "source_id": origin["source_id"],
        "harness": origin["harness"],
        "path": origin["path"],
        "day": None if status == "open" else ended.astimezone(rules.zone).date(),
        "trigger": trigger,
        "status": status,
        "first_message_id": ids[0],
        "last_message_id": ids[-1],
        "line_from": rows[0].line,
        "line_to": rows[-1].line,
        "started_at": min(row.at for row in rows),
        "ended_at": ended,
        "is_time_guessed": all(row.is_guessed for row in rows),
        "message_count": len(rows),
        "user_turn_count": sum(row.is_user_turn for row in rows),
        "chars": sum(row.chars for row in rows),
        "project": project_of(facts["repository"], folder),
        "folder": folder,
        "person": person_of(folder, rules.people, rules.owner),
        "branch": facts["branch"],
        "title": facts["title"],
        "parent_session_id": facts["parent_session_id"],
        "version": facts["version"],
        "message_ids": ids,
        "lines": [row.line for row in rows],
        "fingerprint": hashlib.sha256("\x1f".join(f"{r.message_id}@{r.generation}:{r.line}" for r in rows).encode()).hexdigest(),
    }


def project_of(repository: str | None, folder: str) -> str:
    """Returns the project's name: the repository's, else the folder's last part."""
    name = re.split(r"[\\/:]", (repository or folder).rstrip("\\/"))[-1].removesuffix(".git")
    return name or "unknown"


def person_of(folder: str, people: Mapping[str, str], owner: str) -> str:
    """Returns the human of a session: the home folder's name, as the people map calls it, else the owner."""
    found = _HOME.match(folder)
    return people.get(found[1], found[1]) if found else owner
