"""Cuts sessions into windows: runs of messages that are observed together.

Three things close a window: a compaction; the end of the session, which is silence for longer than
the idle time; and its size, as soon as a new user turn begins. Messages that a compaction kept in
context belong to the next window. A compaction does not close a window without a user turn. A hook
may report that a session ended or that a compaction begins: this closes the window at that moment,
before the transcript shows it. Sub-agents end with their session.

A session is short while it has fewer than `short_turns` user turns and no window of it was closed
by a compaction or its size. When a short session ends, its window has the status `short`: it is
searchable, but only the owner's corrections and rules are read from it. If the session resumes, the
same messages become part of a longer window. Closed windows of files that did not change since the
moment of `--since` are `older`: only searchable. All others are `observed`. The turns that a fork
repeats count for its length. A session without a user turn, such as a sub-agent's or an
automated one, always counts as short.

The key of a window is a hash of its session, trigger and first message, so later messages never
change it. A window that was observed does not change when the session resumes. A window has the
folder, branch, title, project and person that were valid at its end, so that later lines of the
session change no earlier window. A sub-agent is in the project of the session that spawned it.
Everything here is a pure function of the records, the rules and `now`, so the order in which
records arrive does not matter.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.capture import ownership
from memory_assets.stages.capture.session_facts import (
    FOREVER,
    Place,
    SessionFacts,
    find_facts,
    person_of,
)
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.projects import project_of

TOOL_CHARS = 1_500
"""Most characters of a tool call or result that count for a window's size: the observer, too, reads
no more of it."""


@dataclass(frozen=True)
class HookSignals:
    """The moments at which hooks reported that a session ended or that a compaction began."""

    ended: tuple[datetime, ...] = ()
    compacting: tuple[datetime, ...] = ()


@dataclass(frozen=True)
class WindowRules:
    """What decides how sessions are cut: settings, the time, and reports of people and hooks."""

    now: datetime
    zone: ZoneInfo
    idle: timedelta
    """Silence after which a session has ended."""
    short_turns: int
    """Fewest user turns of a session that is not short."""
    tail_chars: int
    """Size from which on a new user turn closes a window."""
    people: Mapping[str, str]
    owner: str
    own_sources: frozenset[str] = frozenset()
    """Sources that were written on this machine."""
    pushers: Mapping[str, str] = field(default_factory=dict)
    """Sources that other machines pushed, each with the person who did and owns its sessions."""
    older_sources: frozenset[str] = frozenset()
    """Sources that changed too long ago to be distilled."""
    flushes: tuple[datetime, ...] = ()
    """Moments at which a person ended every open session (`memory data flush`)."""
    signals: Mapping[str, HookSignals] = field(default_factory=dict)
    """By session id."""
    compacting: tuple[datetime, ...] = ()
    """Of rules for one session: the moments at which a hook reported that a compaction begins."""

    def of(self, session_id: str, spawned_by: str | None = None) -> "WindowRules":
        """Returns the rules for one session, with its signals.

        A sub-agent also ends when the session `spawned_by` ends.
        """
        signals = self.signals.get(session_id, HookSignals())
        parent_signals = self.signals.get(spawned_by or "", HookSignals())
        flushes = (*self.flushes, *signals.ended, *parent_signals.ended)
        return replace(self, flushes=flushes, compacting=tuple(sorted(signals.compacting)))

    def ends(self, latest: datetime, at: datetime) -> bool:
        """Returns whether a session whose latest message is of `latest` has ended by `at`.

        It has ended if it was silent for the idle time, or flushed in between.
        """
        return at - latest > self.idle or any(latest <= moment <= at for moment in self.flushes)


class _Row(NamedTuple):
    """A message or a boundary of a session."""

    generation: int
    line: int
    message_id: str | None
    kind: str | None
    is_user_turn: bool
    at: datetime
    is_guessed: bool
    chars: int
    boundary: str | None
    kept_from_line: int | None
    turns: int
    """User turns of the file up to here."""

    @property
    def place(self) -> Place:
        return self.generation, self.line

    @property
    def tail_start(self) -> Place | None:
        """Where the messages begin that a compaction kept in context."""
        line = self.kept_from_line
        return None if line is None else (self.generation, line)

    @property
    def size(self) -> int:
        return self.chars if self.kind == "text" else min(self.chars, TOOL_CHARS)


@dataclass
class _OpenWindow:
    """A window that is still growing."""

    rows: list[_Row] = field(default_factory=list)
    latest: datetime = ownership.EARLIEST
    size: int = 0
    user_turns: int = 0
    session_turns: int = 0
    """User turns of the session so far."""
    is_continued: bool = False
    """Whether a compaction or its size closed an earlier window; then the session is not short."""
    compacted_at: datetime = ownership.EARLIEST
    """When the session was last compacted."""

    def add(self, row: _Row) -> None:
        self.rows.append(row)
        self.latest = max(self.latest, row.at)
        self.size += row.size
        self.user_turns += row.is_user_turn
        self.session_turns = row.turns

    def next(self) -> "_OpenWindow":
        """Returns the empty window after this one."""
        return replace(self, rows=[], latest=ownership.EARLIEST, size=0, user_turns=0)

    def is_over(self, rules: WindowRules, at: datetime) -> bool:
        """Returns whether it has messages and the session has ended after them by `at`."""
        return bool(self.rows) and rules.ends(self.latest, at)

    def is_full(self, rules: WindowRules) -> bool:
        """Returns whether its size closes it at the next user turn."""
        return self.size > rules.tail_chars and self.user_turns > 0

    def is_short(self, rules: WindowRules) -> bool:
        """Returns whether the session is short so far."""
        fewest_turns = 1 if self.is_continued else max(rules.short_turns, 1)
        return self.session_turns < fewest_turns


@dataclass(frozen=True)
class _CutWindow:
    """A window that something closed, or the open one at the end."""

    trigger: str
    status: str
    rows: list[_Row]


def plan_windows(
    records: pl.DataFrame | pl.LazyFrame, resources: pl.DataFrame, rules: WindowRules
) -> pl.DataFrame:
    """Returns the table `windows`: every message that a session owns is in exactly one window.

    Pass many `records` as a lazy frame, because half of their columns are never read.
    """
    records = records.lazy()
    rows = ownership.with_turns(ownership.conversation(records, resources, rules.now))
    shared = ownership.sources_of_shared(rows)
    beginnings = ownership.find_beginnings(records, shared, rules.now) if shared.height else None
    messages = ownership.own_messages(rows, beginnings)
    return _with_sharing(cut_sessions(messages, records, resources, rules), shared)


def _with_sharing(windows: pl.DataFrame, shared: pl.DataFrame) -> pl.DataFrame:
    """Returns the windows with `shared_with`: the other files that have messages of the window."""
    sharing_files = (
        windows.select("window_id", "source_id", message_id="message_ids")
        .explode("message_id")
        .join(shared, "message_id")
        .explode("sources")
        .filter(pl.col("sources") != pl.col("source_id"))
        .group_by("window_id")
        .agg(shared_with=pl.col("sources").unique().sort())
    )
    joined = windows.drop("shared_with").join(sharing_files, "window_id", "left")
    filled = joined.with_columns(pl.col("shared_with").fill_null([]))
    return filled.select(windows.columns).sort("window_id")


def cut_sessions(
    messages: pl.DataFrame, records: pl.LazyFrame, resources: pl.DataFrame, rules: WindowRules
) -> pl.DataFrame:
    """Returns the windows of the messages and boundaries that sessions own."""
    latest = resources.unique("source_id", keep="last", maintain_order=True)
    origins = {row["source_id"]: row for row in latest.to_dicts()}
    facts = find_facts(records)
    rows_by_source = dict(_rows_by_source(messages))
    spawners = {source: _spawner(rows, facts[source]) for source, rows in rows_by_source.items()}
    source_of = {row["conversation_id"]: source for source, row in origins.items()}
    windows = []
    for source, rows in rows_by_source.items():
        home = facts[_first_spawner(source, spawners, source_of)]
        session = origins[source]["conversation_id"]
        cut_windows = list(_cut(rows, rules.of(session, spawners[source])))
        ends = [*(window.rows[0].place for window in cut_windows[1:]), FOREVER]
        # A file without messages has no window, but one end.
        for window, until in zip(cut_windows, ends, strict=False):
            windows.append(_window(window, until, origins[source], facts[source], home, rules))
    return schemas.frame_of("windows", windows).sort("window_id")


def _spawner(rows: Sequence[_Row], facts: SessionFacts) -> str | None:
    """Returns the session that a sub-agent was spawned by.

    None if the rows have a user turn: then the session with a parent is a fork, not a sub-agent.
    """
    if any(row.is_user_turn for row in rows):
        return None
    return facts.first("parent_session_id")


def _first_spawner(
    source: str, spawners: Mapping[str, str | None], source_of: Mapping[str, str]
) -> str:
    """Returns the source of the session that spawned a sub-agent, directly or through others."""
    path = [source]
    while path[-1] not in path[:-1]:
        spawner = source_of.get(spawners.get(path[-1]) or "")
        if spawner is None:
            break
        path.append(spawner)
    return path[-1]


def window_key(session_id: str, trigger: str, first_message_id: str) -> str:
    """Returns the permanent key of a window."""
    return hashlib.sha256(f"{session_id}\x1f{trigger}\x1f{first_message_id}".encode()).hexdigest()


def _rows_by_source(messages: pl.DataFrame) -> Iterator[tuple[str, list[_Row]]]:
    rows = messages.select("source_id", *_Row._fields).iter_rows()
    for source, source_rows in groupby(rows, key=lambda row: row[0]):
        yield source, [_Row(*row[1:]) for row in source_rows]


def _cut(rows: Iterable[_Row], rules: WindowRules) -> Iterator[_CutWindow]:
    """Yields one session's windows in order."""
    current = _OpenWindow()
    for row in rows:
        if row.boundary is None and _is_compacting(current, row.at, rules):
            current = yield from _compact(current, row.at)
        # The end is checked before a compaction: an earlier run has closed the window by the end,
        # and the trigger is part of its key.
        if current.is_over(rules, row.at) and not current.is_short(rules):
            yield _CutWindow("ended", "observed", current.rows)
            current = current.next()
        if row.boundary == "compaction":
            current = yield from _compact(current, row.at, row.tail_start)
        if row.message_id is None:
            continue
        if row.is_user_turn and current.is_full(rules):
            yield _CutWindow("tail", "observed", current.rows)
            current = replace(current.next(), is_continued=True)
        current.add(row)
    if _is_compacting(current, rules.now, rules):
        current = yield from _compact(current, rules.now)
    if current.rows:
        yield _close_last(current, rules)


def _close_last(current: _OpenWindow, rules: WindowRules) -> _CutWindow:
    if not current.is_over(rules, rules.now):
        return _CutWindow("open", "open", current.rows)
    return _CutWindow("ended", "short" if current.is_short(rules) else "observed", current.rows)


def _is_compacting(current: _OpenWindow, until: datetime, rules: WindowRules) -> bool:
    """Returns whether a hook reported, between the messages so far and `until`, that a compaction
    begins.

    A report counts only if the session had not ended by then, and if it is later than the last
    compaction, which earlier reports announced.
    """
    since = max(current.latest, current.compacted_at + timedelta.resolution)
    moment = next((moment for moment in rules.compacting if since <= moment <= until), None)
    if moment is None or not current.rows:
        return False
    return current.is_short(rules) or not rules.ends(current.latest, moment)


def _compact(
    current: _OpenWindow, at: datetime, tail_start: Place | None = None
) -> Generator[_CutWindow, None, _OpenWindow]:
    """Closes the window at a compaction and returns the next open window.

    The rows from `tail_start` on, which the compaction kept in context, go to the next window.
    """
    current.compacted_at = at
    current.is_continued = True
    closing_rows = [row for row in current.rows if tail_start is None or row.place < tail_start]
    if not any(row.is_user_turn for row in closing_rows):
        return current
    yield _CutWindow("compaction", "observed", closing_rows)
    next_window = current.next()
    for row in current.rows[len(closing_rows) :]:
        next_window.add(row)
    return next_window


def _window(
    window: _CutWindow,
    until: Place,
    origin: Mapping[str, Any],
    facts: SessionFacts,
    home: SessionFacts,
    rules: WindowRules,
) -> dict[str, Any]:
    """Returns the row of a window in the table; `until` is where the next window begins.

    `home` are the facts of the session whose project it is in.
    """
    rows = window.rows
    session = origin["conversation_id"]
    last = rows[-1].place
    end = (until[0], until[1] - 1)
    ended_at = max(row.at for row in rows)
    ids = [row.message_id for row in rows]
    folder, repository = _place_of(facts, home, last)
    window_row = {
        **{name: origin[name] for name in ("source_id", "harness", "path")},
        **{name: facts.as_of(name, last) for name in ("branch", "version")},
        "window_id": window_key(session, window.trigger, str(ids[0])),
        "session_id": session,
        "day": None if window.status == "open" else ended_at.astimezone(rules.zone).date(),
        "trigger": window.trigger,
        "status": _status_of(window, origin["source_id"], rules),
        "first_message_id": ids[0],
        "last_message_id": ids[-1],
        "line_from": rows[0].line,
        "line_to": rows[-1].line,
        "started_at": min(row.at for row in rows),
        "ended_at": ended_at,
        "is_time_guessed": all(row.is_guessed for row in rows),
        "message_count": len(rows),
        "user_turn_count": sum(row.is_user_turn for row in rows),
        "chars": sum(row.chars for row in rows),
        "project": project_of(repository, folder),
        "folder": folder,
        "person": _person(origin["source_id"], folder, rules),
        # Harnesses write these after the last message, and again before the next one.
        "title": facts.as_of("title", end),
        "summary": facts.as_of("summary", end),
        "parent_session_id": facts.first("parent_session_id"),
        "message_ids": ids,
        "lines": [row.line for row in rows],
        "shared_with": [],
    }
    return {**window_row, "fingerprint": _fingerprint(window_row, rows)}


def _place_of(facts: SessionFacts, home: SessionFacts, last: Place) -> tuple[str, str | None]:
    """Returns the folder and repository of a window with that last place."""
    spawner_folder = None if home is facts else home.first("cwd")
    if spawner_folder is None:
        return facts.first("cwd") or "", facts.first("repository", last)
    # What the spawner states later must not change the windows of its sub-agents.
    return spawner_folder, home.first("repository", home.begins("cwd"))


def _status_of(window: _CutWindow, source: str, rules: WindowRules) -> str:
    is_older = window.status != "open" and source in rules.older_sources
    return "older" if is_older else window.status


def _person(source: str, folder: str, rules: WindowRules) -> str:
    is_own = source in rules.own_sources
    pusher = rules.pushers.get(source)
    return pusher or person_of(folder, rules.people, rules.owner, is_own=is_own)


_FINGERPRINTED = (
    "window_id", "status", "started_at", "ended_at", "project", "folder", "person", "branch",
    "title", "summary", "parent_session_id", "version", "is_time_guessed",
)  # fmt: skip
"""Columns that the messages, sessions and observations of a window repeat."""


def _fingerprint(window: Mapping[str, Any], rows: list[_Row]) -> str:
    places = (f"{row.message_id}@{row.generation}:{row.line}:{row.at.isoformat()}" for row in rows)
    parts = (*(str(window[name]) for name in _FINGERPRINTED), *places)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def plan_windows_incrementally(
    tables: ParquetTables,
    resources: pl.DataFrame,
    rules: WindowRules,
    *,
    earlier_windows: pl.DataFrame,
    changed: Collection[str],
) -> pl.DataFrame:
    """Returns the same table as `plan_windows`, but plans only the windows that may have changed.

    `changed` are the sources whose records changed since `earlier_windows` were planned. As long as
    records were only added, the windows that may differ are the open ones, and those of files that
    share messages with a changed file. If a source lost messages (it was read again and its ids
    differ), any source may own them now, and all windows are planned. After a change of the rules
    (zone, people, lengths, a flush), call `plan_windows`.
    """
    have_records = set(changed) <= set(tables.parts("records"))
    if not have_records or _lost_messages(tables, earlier_windows, changed):
        return plan_windows(tables.scan("records"), resources, rules)
    sources = sources_to_plan(tables, earlier_windows, changed)
    planned = _with_relatives(sources, tables, resources, earlier_windows)
    if not planned:
        return earlier_windows
    planned_resources = resources.filter(pl.col("source_id").is_in(planned))
    unchanged = earlier_windows.filter(~pl.col("source_id").is_in(planned))
    windows = plan_windows(tables.scan("records", planned), planned_resources, rules)
    return pl.concat([unchanged, windows]).sort("window_id")


def sources_to_plan(
    tables: ParquetTables, earlier_windows: pl.DataFrame, changed: Collection[str]
) -> list[str]:
    """Returns the sources whose windows may differ from the earlier windows, sorted."""
    ids = _message_ids(tables, changed).implode()
    messages = earlier_windows.select("source_id", "status", "message_ids").explode("message_ids")
    is_affected = (pl.col("status") == "open") | pl.col("message_ids").is_in(ids)
    sources = {*changed, *messages.filter(is_affected)["source_id"]}
    return sorted(_with_families(sources, earlier_windows))


def _with_families(sources: set[str], windows: pl.DataFrame) -> set[str]:
    """Returns the sources and all that share messages with them, directly or through others."""
    pairs = windows.select("source_id", "shared_with").explode("shared_with")
    neighbours: dict[str, set[str]] = defaultdict(set)
    for source, sharing_source in pairs.drop_nulls().unique().iter_rows():
        neighbours[source].add(sharing_source)
        neighbours[sharing_source].add(source)
    family = set(sources)
    queue = list(sources)
    while queue:
        new_sources = neighbours[queue.pop()] - family
        family |= new_sources
        queue += new_sources
    return family


def _with_relatives(
    sources: Sequence[str],
    tables: ParquetTables,
    resources: pl.DataFrame,
    windows: pl.DataFrame,
) -> list[str]:
    """Returns the sources with the sub-agents that their sessions spawned, and all spawners."""
    sessions = resources.select("source_id", "conversation_id").unique()
    planned_sessions = sessions.filter(pl.col("source_id").is_in(list(sources)))["conversation_id"]
    spawned = windows.filter(pl.col("parent_session_id").is_in(planned_sessions.implode()))
    relatives = {*sources, *spawned["source_id"]}
    new = relatives
    while new:
        records = tables.scan("records", new).select("parent_session_id").unique().collect()
        parent_ids = records["parent_session_id"].drop_nulls().implode()
        parents = sessions.filter(pl.col("conversation_id").is_in(parent_ids))["source_id"]
        new = set(parents) - relatives
        relatives |= new
    return sorted(relatives)


def _lost_messages(
    tables: ParquetTables, earlier_windows: pl.DataFrame, changed: Collection[str]
) -> bool:
    changed_windows = earlier_windows.filter(pl.col("source_id").is_in(list(changed)))
    earlier_ids = changed_windows["message_ids"].explode()
    return not earlier_ids.is_in(_message_ids(tables, changed).implode()).all()


def _message_ids(tables: ParquetTables, sources: Collection[str]) -> pl.Series:
    ids = tables.scan("records", sources).select("message_id")
    return ids.drop_nulls().unique().collect()["message_id"]
