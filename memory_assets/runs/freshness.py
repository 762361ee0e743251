"""Deadlines: how long input has been waiting for each table, file, index, log and job, and whether
that is too long.

A deadline counts from input that waits to be processed, not from the last run: without new sessions
nothing waits, and nothing is late. What waits is decided by the same functions as what is due
(`runs.due`, `runs.staleness`). Since when is the time of the input itself: of a transcript's last
change, of an event in the spool, or of the change of the table that it is made from. Where the
input has no time (a setting, a date), it waits since it was first seen waiting
(`built/waiting.json`).
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from memory_assets.errors import StoreError
from memory_assets.runs import due
from memory_assets.runs.due import due_runs
from memory_assets.runs.record import changed_since, lagging_sources
from memory_assets.runs.staleness import is_judged, stale_partitions
from memory_assets.schema.tables import JOBS, TABLES, Job, Table, deadline_of, tables_in
from memory_assets.services.sources.transcripts import find_sources
from memory_assets.stages.capture.intake import changed_files
from memory_assets.stages.deliver import spool
from memory_assets.stages.maintain.checks import Check
from memory_assets.stages.reflect.subjects import SPANS
from memory_assets.store.feeds import Feed
from memory_assets.store.ready import WAITING
from memory_assets.store.store import Store
from memory_assets.text.files import text_of, write_where_changed

REMEDY = (
    "Run `memory ingest`; if it stops there again, its error says why. Keep `memory up` "
    "running, so that nothing waits."
)
REMEDIES = {
    "feed_items": "Run `memory library feeds poll`. Keep `memory up` running, which polls "
    "every hour, or remove the feeds."
}
"""What to do about tables that no ingest builds."""
FEED = {
    "events": "sent events wait",
    "resources": "transcripts wait",
    "feed_items": "feeds wait to be polled",
}
"""What comes from outside, by the table that takes it in."""
POLLED_EVERY = timedelta(hours=1)
"""How long a feed is fresh after a poll: its schedule runs every hour."""


@dataclass(frozen=True)
class Waiting:
    """Something that input waits for."""

    name: str
    """A table or file, or `job NAME`."""
    since: datetime
    deadline: timedelta
    source: str
    """What waits."""

    @property
    def late_at(self) -> datetime:
        """When it is too late."""
        return self.since + self.deadline

    def is_late(self, now: datetime) -> bool:
        """Returns whether the input has waited for longer than the deadline."""
        return now > self.late_at


def find_waiting(store: Store) -> list[Waiting]:
    """Returns everything that input waits for, in build order, then jobs; nothing is written."""
    now, seen = store.settings.clock(), first_seen(store)
    return [
        Waiting(name, min(filter(None, [now, seen.get(name), since])), deadline, source)
        for name, since, deadline, source in _find(store)
    ]


def keep_waiting(store: Store) -> list[Waiting]:
    """Returns the same, and keeps since when each has been waiting: for later calls, and for the
    line in the briefing.
    """
    found = find_waiting(store)
    rows = {one.name: [one.since.timestamp(), one.late_at.timestamp()] for one in found}
    write_where_changed(store.root / WAITING, json.dumps(rows) if rows else "")
    return found


def first_seen(store: Store) -> dict[str, datetime]:
    """Returns since when each name waits, as far as it was kept."""
    text = text_of(store.root / WAITING)
    rows: dict[str, list[float]] = json.loads(text) if text else {}
    return {name: datetime.fromtimestamp(since, UTC) for name, (since, _) in rows.items()}


def check_deadlines(store: Store) -> list[Check]:
    """Returns a failed check for each name that is late, or one that passed."""
    now, waiting = store.settings.clock(), find_waiting(store)
    promise = "no input has waited for longer than its deadline"
    late = [item for item in waiting if item.is_late(now)]
    summary = f"{len(TABLES)} tables and files, {len(JOBS)} jobs; {len(waiting)} wait"
    return [_check(item) for item in late] or [Check("deadlines", promise, True, summary)]


def _check(waiting: Waiting) -> Check:
    hours = waiting.deadline.total_seconds() / 3600
    promise = f"{waiting.name}: input is processed within {hours:.0f} hours"
    return Check(
        waiting.name,
        promise,
        False,
        f"{waiting.source}, since {waiting.since:%Y-%m-%d %H:%M} UTC",
        REMEDIES.get(waiting.name, REMEDY),
    )


Found = tuple[str, datetime | None, timedelta, str]
"""Name, since when (None: unknown), deadline, what waits."""


def _find(store: Store) -> Iterator[Found]:
    outside, due_jobs = _outside(store), {job.name for job in JOBS.values() if _is_due(store, job)}
    waiting: dict[str, datetime | None] = {}
    for table in TABLES.values():
        if table.name in FEED:
            if table.name in outside:
                waiting[table.name] = outside[table.name]
        elif is_judged(table):
            if parts := stale_partitions(store, table):
                waiting[table.name] = _ready(
                    store, table, parts, changed_since(store, table, table.made_from)
                )
        elif (own := JOBS[table.jobs[0]]).every_days:
            if own.name in due_jobs and (since := changed_since(store, table, table.made_from)):
                waiting[table.name] = max(since, due.time_of(store, own.name) or since)
        elif (lagging := lagging_sources(store, table)) or (
            table.jobs[0] in due_jobs and not table.follows
        ):
            waiting[table.name] = changed_since(store, table, lagging) or changed_since(
                store, table, table.made_from
            )
    for table in TABLES.values():
        if table.follows and (
            since := [waiting[one.name] for one in _leads(table) if one.name in waiting]
        ):
            waiting[table.name] = min(filter(None, since), default=None)
    for name in (name for name in TABLES if name in waiting):
        yield name, waiting[name], deadline_of(TABLES[name]), FEED.get(name, "changed input waits")
    for job in (job for job in JOBS.values() if job.name in due_jobs):
        own = (waiting[table.name] for table in tables_in(job.name) if table.name in waiting)
        yield (
            f"job {job.name}",
            min(filter(None, own), default=None),
            timedelta(hours=job.deadline_hours),
            "input waits",
        )


def _is_due(store: Store, job: Job) -> bool:
    """Returns whether the store requires a run of the job; nobody is asked about tasks
    elsewhere.
    """
    return due.review_is_stale(store) if job.name == "triage" else bool(due_runs(store, job.name))


def _outside(store: Store) -> dict[str, datetime]:
    """Returns since when transcripts, feeds and events wait."""
    now = store.settings.clock()
    files = changed_files(find_sources(store.settings), store.archive, now)
    unpolled = (
        since
        for one in _feeds(store)
        if (since := datetime.fromisoformat(one.polled_at) + POLLED_EVERY) < now
    )
    found = {
        "resources": min(
            (datetime.fromtimestamp(file.mtime_ns / 1e9, UTC) for file in files), default=None
        ),
        "feed_items": min(unpolled, default=None),
    }
    if sent := spool.waiting_since(str(store.root)):
        found["events"] = datetime.fromtimestamp(sent, UTC)
    return {name: since for name, since in found.items() if since is not None}


def _feeds(store: Store) -> Iterator[Feed]:
    """Yields the feeds; one with a damaged file is named by its poll."""
    for id in store.feeds.ids():
        with suppress(StoreError):
            if feed := store.feeds.find(id):
                yield feed


def _ready(
    store: Store, table: Table, parts: Sequence[str], since: datetime | None
) -> datetime | None:
    """Returns since when the partitions wait: a week or month not before it is over."""
    span = next((one for one in SPANS if one.name == table.grain != "day"), None)
    if span is None or since is None:
        return since
    ends = (span.last_day(date.fromisoformat(part)) + timedelta(days=1) for part in parts)
    return max(since, datetime.combine(min(ends), time(), store.settings.zone).astimezone(UTC))


def _leads(table: Table) -> list[Table]:
    """Returns the tables that decide when the table is built: those of its build function, else
    those made from it.
    """
    same = [one for one in TABLES.values() if one.build == table.build and is_judged(one)]
    judged = [one for one in TABLES.values() if is_judged(one) and set(one.jobs) & set(table.jobs)]
    return same or [one for one in judged if table.name in one.made_from]
