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
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from memory_assets.runs import due
from memory_assets.runs.due import due_runs
from memory_assets.runs.record import changed_since, lagging_sources
from memory_assets.runs.staleness import stale_partitions
from memory_assets.schema.extras import extras
from memory_assets.schema.tables import JOBS, TABLES, Job, Table, deadline_of, tables_in
from memory_assets.services.sources.transcripts import find_sources
from memory_assets.stages.capture.intake import changed_files
from memory_assets.stages.deliver import spool
from memory_assets.stages.maintain.checks import Check
from memory_assets.stages.reflect.subjects import SPANS
from memory_assets.store.ready import WAITING
from memory_assets.store.store import Store
from memory_assets.text.files import text_of, write_where_changed

REMEDY = (
    "Run `memory ingest`; if it stops there again, its error says why. Keep `memory up` "
    "running, so that nothing waits."
)
INFLOWS = {table: (extra, inflow) for extra in extras() for table, inflow in extra.inflows.items()}
"""What optional capabilities take in from outside, by table."""
OUTSIDE = {
    "events": "sent events wait",
    "resources": "transcripts wait",
    **{table: inflow.source for table, (_, inflow) in INFLOWS.items()},
}
"""What comes from outside, by the table that takes it in."""


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
    now = store.settings.clock()
    seen = first_seen(store)
    due_jobs = [job for job in JOBS.values() if _is_due(store, job)]
    since = _since_of_tables(store, {job.name for job in due_jobs})
    waiting = [
        Waiting(name, since[name], deadline_of(table), OUTSIDE.get(name, "changed input waits"))
        for name, table in TABLES.items()
        if name in since
    ]
    for job in due_jobs:
        moments = [since[table.name] for table in tables_in(job.name) if table.name in since]
        deadline = timedelta(hours=job.deadline_hours)
        waiting.append(
            Waiting(f"job {job.name}", min(moments, default=now), deadline, "input waits")
        )
    return [replace(item, since=min(now, item.since, seen.get(item.name, now))) for item in waiting]


def keep_waiting(store: Store) -> list[Waiting]:
    """Returns the same, and keeps since when each has been waiting: for later calls, and for the
    line in the briefing.
    """
    waiting = find_waiting(store)
    rows = {item.name: [item.since.timestamp(), item.late_at.timestamp()] for item in waiting}
    write_where_changed(store.root / WAITING, json.dumps(rows) if rows else "")
    return waiting


def first_seen(store: Store) -> dict[str, datetime]:
    """Returns since when each name waits, as far as it was kept."""
    text = text_of(store.root / WAITING)
    rows: dict[str, list[float]] = json.loads(text) if text else {}
    return {name: datetime.fromtimestamp(since, UTC) for name, (since, _) in rows.items()}


def check_deadlines(store: Store) -> list[Check]:
    """Returns a failed check for each name that is late, or one that passed; and Chroma's age."""
    now = store.settings.clock()
    waiting = find_waiting(store)
    promise = "no input has waited for longer than its deadline"
    late = [item for item in waiting if item.is_late(now)]
    summary = f"{len(TABLES)} tables and files, {len(JOBS)} jobs; {len(waiting)} wait"
    deadlines = [_check(item) for item in late] or [Check("deadlines", promise, True, summary)]
    return [*deadlines, _check_chroma(store)]


def _check_chroma(store: Store) -> Check:
    """Says whether Chroma's copy is older than what it is made from: no fault before the next
    nightly run, which is late itself if it does not come.
    """
    table = TABLES["chroma"]
    since = changed_since(store, table, table.made_from)
    age = f"older than the embeddings of {since:%Y-%m-%d %H:%M} UTC" if since else "up to date"
    return Check(
        "chroma", "the nightly run brings Chroma's copy of the vectors up to date", True, age
    )


def _check(waiting: Waiting) -> Check:
    hours = waiting.deadline.total_seconds() / 3600
    promise = f"{waiting.name}: input is processed within {hours:.0f} hours"
    return Check(
        waiting.name,
        promise,
        False,
        f"{waiting.source}, since {waiting.since:%Y-%m-%d %H:%M} UTC",
        INFLOWS[waiting.name][1].remedy if waiting.name in INFLOWS else REMEDY,
    )


def _since_of_tables(store: Store, due_jobs: Set[str]) -> dict[str, datetime]:
    """Returns since when input waits, by table; now where the input has no time."""
    since = _since_of_outside(store)
    for name, table in TABLES.items():
        moment = None if name in OUTSIDE else _since_of_table(store, table, due_jobs)
        if moment is not None:
            since[name] = moment
    for name, table in TABLES.items():
        leads = [since[lead] for lead in _leads(table) if lead in since]
        if leads:
            since[name] = min(leads)
    return since


def _since_of_table(store: Store, table: Table, due_jobs: Set[str]) -> datetime | None:
    """Returns since when changed input waits for the table; None where none does."""
    if table.is_judged:
        parts = stale_partitions(store, table)
        return _ready(store, table, parts) if parts else None
    job = JOBS[table.jobs[0]]
    if job.every_days:
        changed = changed_since(store, table, table.made_from) if job.name in due_jobs else None
        return max(changed, due.time_of(store, job.name) or changed) if changed else None
    lagging = lagging_sources(store, table)
    if not lagging and (not table.every_run or job.name not in due_jobs):
        return None
    return changed_since(store, table, lagging) or _changed(store, table)


def _changed(store: Store, table: Table) -> datetime:
    """Returns when what the table is made from changed first; now where that is unknown."""
    return changed_since(store, table, table.made_from) or store.settings.clock()


def _is_due(store: Store, job: Job) -> bool:
    """Returns whether the store requires a run of the job; nobody is asked about tasks
    elsewhere.
    """
    return due.review_is_stale(store) if job.name == "triage" else bool(due_runs(store, job.name))


def _since_of_outside(store: Store) -> dict[str, datetime]:
    """Returns since when transcripts, events and others wait, by the table that takes them in."""
    now = store.settings.clock()
    files = changed_files(find_sources(store.settings), store.archive, now)
    sent_at = spool.waiting_since(str(store.root))
    moments = {
        "resources": [datetime.fromtimestamp(file.mtime_ns / 1e9, UTC) for file in files],
        "events": [datetime.fromtimestamp(sent_at, UTC)] if sent_at else [],
    }
    for name, (extra, inflow) in INFLOWS.items():
        moments[name] = list(extra.load(inflow.waiting)(store))
    return {name: min(times) for name, times in moments.items() if times}


def _ready(store: Store, table: Table, parts: Sequence[str]) -> datetime:
    """Returns since when the partitions wait: a week or month not before it is over."""
    changed = _changed(store, table)
    spans = [span for span in SPANS if span.name == table.grain != "day"]
    ends = [span.last_day(date.fromisoformat(part)) for span in spans for part in parts]
    if not ends:
        return changed
    over = datetime.combine(min(ends) + timedelta(days=1), time(), store.settings.zone)
    return max(changed, over.astimezone(UTC))


def _leads(table: Table) -> list[str]:
    """Returns the tables that decide when a table is built that is built along with others: the one
    that it is built with, else those made from it.
    """
    if table.built_with:
        return [table.built_with]
    if not table.follows:
        return []
    return [
        other.name
        for other in TABLES.values()
        if other.is_judged and table.name in other.made_from and {*other.jobs} & {*table.jobs}
    ]
