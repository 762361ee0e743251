"""Deadlines: how long input has been waiting for each table, file and job, and if that is too long.

A deadline counts from input that waits to be processed, not from the last run. Without new sessions
nothing waits, and nothing is late. The functions that decide what is due also decide what waits
(`runs.due`, `runs.staleness`).

Input waits since a transcript changed, an event was sent to the spool, or a source table changed.
For input without a time (a setting, a date), `built/waiting.json` notes when it was first seen.
"""

import json
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from memory_assets.errors import TranscriptError
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
INCOMING = {
    "events": "sent events wait",
    "resources": "transcripts wait",
    **{table: inflow.source for table, (_, inflow) in INFLOWS.items()},
}
"""By table that takes in something from outside the store: what waits for it, for people."""


@dataclass(frozen=True)
class Waiting:
    """A table, file or job for which input waits."""

    name: str
    """Name of the table or file, or `job NAME`."""
    since: datetime
    deadline: timedelta
    source: str
    """What waits, for people."""

    @property
    def late_at(self) -> datetime:
        """The moment after which it is late."""
        return self.since + self.deadline

    def is_late(self, now: datetime) -> bool:
        """Returns whether the input has waited for longer than the deadline."""
        return now > self.late_at


def find_waiting(store: Store) -> list[Waiting]:
    """Returns everything for which input waits: tables in build order, then jobs."""
    now = store.settings.clock()
    noted_times = read_noted_times(store)
    due_jobs = [job for job in JOBS.values() if _is_due(store, job)]
    since = _since_of_tables(store, {job.name for job in due_jobs})
    waiting = [
        Waiting(name, since[name], deadline_of(table), INCOMING.get(name, "changed input waits"))
        for name, table in TABLES.items()
        if name in since
    ]
    for job in due_jobs:
        moments = [since[table.name] for table in tables_in(job.name) if table.name in since]
        deadline = timedelta(hours=job.deadline_hours)
        waiting.append(
            Waiting(f"job {job.name}", min(moments, default=now), deadline, "input waits")
        )
    return [
        replace(item, since=min(now, item.since, noted_times.get(item.name, now)))
        for item in waiting
    ]


def keep_waiting(store: Store) -> list[Waiting]:
    """Returns what `find_waiting` returns, and notes it in `built/waiting.json`.

    Later calls and the warning in the briefing read the note.
    """
    waiting = find_waiting(store)
    rows = {item.name: [item.since.timestamp(), item.late_at.timestamp()] for item in waiting}
    write_where_changed(store.root / WAITING, json.dumps(rows) if rows else "")
    return waiting


def read_noted_times(store: Store) -> dict[str, datetime]:
    """Returns since when input waits, by table, file or job that `keep_waiting` noted last."""
    text = text_of(store.root / WAITING)
    rows: dict[str, list[float]] = json.loads(text) if text else {}
    return {name: datetime.fromtimestamp(since, UTC) for name, (since, _) in rows.items()}


def waiting_times(store: Store) -> dict[str, datetime]:
    """Returns since when input waits: outside the store now, in it as the last update noted it.

    Cheaper than `find_waiting`, which compares every table with what it is made from. Where a
    folder of transcripts is missing, which `memory doctor` names, all is as the last update noted.
    """
    noted_times = read_noted_times(store)
    inside = {name: since for name, since in noted_times.items() if name not in INCOMING}
    try:
        incoming = _since_of_incoming(store)
    except TranscriptError:
        return noted_times
    return inside | {name: min(at, noted_times.get(name, at)) for name, at in incoming.items()}


def check_deadlines(store: Store) -> list[Check]:
    """Returns a failed check for everything that is late, else a passed one; then Chroma's age."""
    now = store.settings.clock()
    waiting = find_waiting(store)
    promise = "no input has waited for longer than its deadline"
    late = [item for item in waiting if item.is_late(now)]
    summary = f"{len(TABLES)} tables and files, {len(JOBS)} jobs; {len(waiting)} wait"
    deadlines = [_check(item) for item in late] or [Check("deadlines", promise, True, summary)]
    return [*deadlines, _check_chroma(store)]


def _check_chroma(store: Store) -> Check:
    """Returns a check that always passes and tells whether Chroma's copy of the vectors is old.

    The nightly run updates it. If that does not run, its own deadline fails.
    """
    table = TABLES["chroma"]
    since = changed_since(store, table, table.made_from)
    age = f"older than the embeddings of {since:%Y-%m-%d %H:%M} UTC" if since else "up to date"
    promise = "the nightly run brings Chroma's copy of the vectors up to date"
    return Check("chroma", promise, True, age)


def _check(item: Waiting) -> Check:
    """Returns a failed check for something late."""
    hours = item.deadline.total_seconds() / 3600
    promise = f"{item.name}: input is processed within {hours:.0f} hours"
    problem = f"{item.source}, since {item.since:%Y-%m-%d %H:%M} UTC"
    remedy = INFLOWS[item.name][1].remedy if item.name in INFLOWS else REMEDY
    return Check(item.name, promise, False, problem, remedy)


def _since_of_tables(store: Store, due_jobs: Set[str]) -> dict[str, datetime]:
    """Returns since when input waits, by table for which some waits."""
    since = _since_of_incoming(store)
    for name, table in TABLES.items():
        moment = None if name in INCOMING else _since_of_table(store, table, due_jobs)
        if moment is not None:
            since[name] = moment
    for name, table in TABLES.items():
        leads = [since[lead] for lead in _leads(table) if lead in since]
        if leads:
            since[name] = min(leads)
    return since


def _since_of_table(store: Store, table: Table, due_jobs: Set[str]) -> datetime | None:
    """Returns since when changed input waits for the table; None if none waits."""
    if table.is_judged:
        parts = stale_partitions(store, table)
        return _since_of_parts(store, table, parts) if parts else None
    job = JOBS[table.jobs[0]]
    if job.every_days:
        if job.name not in due_jobs:
            return None
        changed = changed_since(store, table, table.made_from)
        next_time = due.next_time_of(store, job.name)
        return max(changed, next_time or changed) if changed else None
    lagging = lagging_sources(store, table)
    if not lagging and (not table.every_run or job.name not in due_jobs):
        return None
    return changed_since(store, table, lagging) or _changed(store, table)


def _changed(store: Store, table: Table) -> datetime:
    """Returns when what the table is made from changed first; now where that is unknown."""
    return changed_since(store, table, table.made_from) or store.settings.clock()


def _is_due(store: Store, job: Job) -> bool:
    """Returns whether the store requires a run of the job; asks no server of a task list."""
    if job.name == "triage":
        return due.review_is_stale(store)
    return bool(due_runs(store, job.name))


def _since_of_incoming(store: Store) -> dict[str, datetime]:
    """Returns since when something waits outside the store, by the table that takes it in."""
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


def _since_of_parts(store: Store, table: Table, parts: Sequence[str]) -> datetime:
    """Returns since when the partitions can be built: a week or month not before it is over."""
    changed = _changed(store, table)
    spans = [span for span in SPANS if span.name == table.grain != "day"]
    ends = [span.last_day(date.fromisoformat(part)) for span in spans for part in parts]
    if not ends:
        return changed
    end = datetime.combine(min(ends) + timedelta(days=1), time(), store.settings.zone)
    return max(changed, end.astimezone(UTC))


def _leads(table: Table) -> list[str]:
    """Returns the other tables of its job that decide when this table is built.

    That is the table that it is built with (`built_with`), or those made from it (`follows`).
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
