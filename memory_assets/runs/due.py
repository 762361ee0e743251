"""Which runs the state of a store requires, in one order for the command line and the sensors.

Each function compares the present state with the state that the tables were built from. It needs no
record of earlier checks, so that a missed check, a failed run or a killed process loses nothing.
Reads file sizes, manifests and the ledger, never transcripts.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path

import polars as pl

from memory_assets.runs import inputs
from memory_assets.runs.days import LONGEST_STRETCH, Stretch, stretches
from memory_assets.runs.inputs import input_versions
from memory_assets.runs.record import begun_night, changed_since, has_failed, last_run
from memory_assets.runs.staleness import is_stale, stale_days, stale_partitions
from memory_assets.schema.extras import further_sources, gather
from memory_assets.schema.frames import hash_of
from memory_assets.schema.tables import DYNAMIC, JOBS, TABLES, WHOLE, tables_in
from memory_assets.services.review.open_triage import (
    proposals_to_review,
    read_task_snapshot,
    shows_more_than_proposals,
    task_decisions_hash,
)
from memory_assets.services.search.corpus import open_texts, open_vectors
from memory_assets.services.sources.transcripts import find_sources
from memory_assets.stages.capture.discover import TranscriptFile
from memory_assets.stages.capture.intake import changed_files
from memory_assets.stages.capture.tombstones import unfinished
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.events import ACCUMULATED, REFLECTED
from memory_assets.stages.triage.projects import memory_files
from memory_assets.store.damage import missing_parts
from memory_assets.store.ledger import WORDS_ERASED, WORDS_FORGOTTEN
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store
from memory_assets.text.files import bytes_of

FRICTION_REQUESTED = "friction.requested"
DAY_ACCUMULATED = ACCUMULATED.removeprefix("memory/")
DAY_REFLECTED = REFLECTED.removeprefix("memory/")
"""Kinds of events in the ledger."""

ACCUMULATED_TOKENS = 40_000
"""A day with so many tokens of observations is reflected on at once and not in the next morning."""


@dataclass(frozen=True)
class DueRun:
    """One run that the state of the store requires."""

    job: str
    stretch: Stretch | None
    state: str
    """Hash of the state that requires it: the same state requires the same run."""


def due_runs(store: Store, job: str) -> list[DueRun]:
    """Returns the runs of the job that are due now; none where its tables are up to date."""
    if JOBS[job].also:
        return _late_runs(store, job) if is_overdue(store, job) else []
    if JOBS[job].is_partitioned:
        days = stale_days(store, job)
        if not days and has_failed(store, job):
            days = _last_day(store, job)
        return runs_of_days(job, days)
    is_due, state = DUE.get(job, (partial(_has_stale, job), partial(_job_state, job)))
    if not is_due(store) and not _lacks_tables(store, job):
        return []
    return [DueRun(job, None, state(store))]


def is_overdue(store: Store, job: str) -> bool:
    """Returns whether a scheduled job should have run by now, with changed input for its tables."""
    run_at = next_time_of(store, job)
    if run_at is None or store.settings.clock() < run_at:
        return False
    tables = [table for table in tables_in(job) if table.jobs[0] == job]
    return any(changed_since(store, table, table.made_from) for table in tables)


def next_time_of(store: Store, job: str) -> datetime | None:
    """Returns when a scheduled job should run next; None before the first capture.

    That is `Job.every_days` after its last run, or after the first capture if it never ran.
    """
    since = last_run(store, job)
    if since is None:
        since = store.tables.read("resources", columns=["created_at"])["created_at"].min()
    if not isinstance(since, datetime):
        return None
    return since + timedelta(days=JOBS[job].every_days)


def _late_runs(store: Store, job: str) -> list[DueRun]:
    """Returns the runs of a scheduled job that is overdue."""
    today = store.settings.today()
    if JOBS[job].is_partitioned:
        return night_runs(store, today - timedelta(days=1))
    return [DueRun(job, None, str(today))]


def _lacks_tables(store: Store, job: str) -> bool:
    """Returns whether a damaged table of the job was put aside and is not rebuilt yet."""
    missing = missing_parts(store)
    return any(table.name in missing for table in tables_in(job))


def _last_day(store: Store, job: str) -> dict[date, str]:
    """Returns the last partition that the job has built, with a hash of the state of all of them.

    Another run for it builds the tables that a failed run did not reach.
    """
    tables = [table.name for table in tables_in(job) if table.is_partitioned and table.record]
    parts = [part for name in tables for part in store.tables.parts(name)]
    if not parts:
        return {}
    return {date.fromisoformat(max(parts)): hash_of("again", *sorted(parts))}


def runs_of_days(job: str, days: Mapping[date, str]) -> list[DueRun]:
    """Returns runs of the job for the days, each with a hash of its state.

    All weeks or all months are one run, which includes the ones between them.
    """
    is_one_run = days and JOBS[job].grain != "day"
    job_stretches = [Stretch(min(days), max(days))] if is_one_run else stretches(days, job)
    runs = []
    for stretch in job_stretches:
        states = (days.get(day, "") for day in stretch.days())
        runs.append(DueRun(job, stretch, hash_of(*states)))
    return runs


def next_runs(store: Store) -> list[DueRun]:
    """Returns the due runs of the first job that has any.

    Jobs that have a schedule, and the triage, are left out (`Job.is_at_once`).
    """
    due = (due_runs(store, job.name) for job in JOBS.values() if job.is_at_once)
    return next(filter(None, due), [])


def capture_is_due(store: Store) -> bool:
    """Returns whether a capture has something to read, to close, to erase or to finish."""
    return (
        events_wait(store)
        or bool(_changed_transcripts(store))
        or is_stale(store, _tables_of_other_files())
        or pushes_wait(store)
        or windows_due(store)
        or forget_is_unfinished(store)
        or has_failed(store, "capture")
    )


def _tables_of_other_files() -> list[str]:
    """Returns the tables that a capture builds from other files than transcripts."""
    return [*_tables_added_to("capture"), "harness_memories"]


def _tables_added_to(job: str) -> list[str]:
    """Returns the tables of the job that optional capabilities declare."""
    return [table.name for table in tables_in(job) if table.is_added]


def events_wait(store: Store) -> bool:
    """Returns whether the spool has events that were not read yet."""
    return bool(spool.unread(str(store.root)))


def _changed_transcripts(store: Store) -> list[TranscriptFile]:
    """Returns the transcripts whose size or time of change is not the captured one."""
    now = store.settings.clock()
    return changed_files(find_sources(store.settings), store.archive, now)


def pushes_wait(store: Store) -> bool:
    """Returns whether another machine has sent transcripts to read, or words to erase here."""
    written = store.tables.parts("resources").get(WHOLE)
    count = written.rows if written else 0
    return store.archive.range_count() != count or bool(gather("incoming", store))


def forget_is_unfinished(store: Store) -> bool:
    """Returns whether forgotten words were not erased everywhere yet: a process was killed, or a
    file was locked.
    """
    return bool(unfinished(store.ledger.events([WORDS_FORGOTTEN, WORDS_ERASED])))


def windows_due(store: Store) -> bool:
    """Returns whether captured records wait to be cut into windows, or an open window is to close.

    An open window closes when it has been idle for long enough, or at a flush.
    """
    tables = store.tables
    if WHOLE not in tables.parts("windows"):
        return bool(tables.parts("records")) or not store.archive.resources().is_empty()
    if stale_partitions(store, TABLES["windows"]):
        return True
    idle = timedelta(minutes=store.settings.idle_minutes)
    close_before = max([store.settings.clock() - idle, *inputs.flushes(store)])
    windows = tables.read("windows", columns=["status", "ended_at"])
    growing = windows.filter(status="open")
    return any(ended_at <= close_before for ended_at in growing["ended_at"])


def capture_state(store: Store) -> str:
    """Returns the hash of what a capture reads: the spool, changed files, the inputs of windows."""
    tables = (TABLES[name] for name in _tables_of_other_files())
    versions = (input_versions(store, table).values() for table in tables)
    return hash_of(
        *spool.unread(str(store.root)).items(),
        *(f"{file.path}:{file.size}:{file.mtime_ns}" for file in _changed_transcripts(store)),
        *inputs.windows(store, TABLES["windows"]).values(),
        inputs.fingerprint(store.tables.parts("windows"), WHOLE),
        *chain.from_iterable(versions),
        store.archive.range_count(),
        *gather("incoming", store),
        forget_is_unfinished(store),
    )


def memories_are_stale(store: Store) -> bool:
    """Returns whether memories, a table or an index made from them has to be built again."""
    if WHOLE not in store.tables.parts("memories"):
        return is_stale(store, ["memories"])
    return (
        WHOLE not in store.tables.parts("recalls")
        or _lacks_index(store)
        or inputs.summaries_are_stale(store)
        or has_failed(store, "rebuild_memories")
        or _has_stale("rebuild_memories", store)
    )


def _lacks_index(store: Store) -> bool:
    """Returns whether an index is missing or damaged."""
    indexes = (open_vectors(store), open_texts(store))
    return any(index.generation() is None or index.faults() for index in indexes)


def night_runs(store: Store, day: date) -> list[DueRun]:
    """Returns the nightly run for the day that has ended, after runs for older unread days.

    The nightly run begins with the earliest day, at most a month back, that is stale, has
    transcripts to capture, was not counted by a nightly run, or began one that did not end.
    """
    stale = {other for other in stale_days(store, "process_days") if other < day}
    open_days = stale | _days_of_changed_files(store, day)
    open_days |= _uncounted_days(store, day) | _days_of_begun_night(store, day)
    recent = [other for other in open_days if (day - other).days < LONGEST_STRETCH]
    first = min(recent, default=day)
    older = dict.fromkeys((other for other in stale if other < first), str(day))
    nightly = DueRun("nightly", Stretch(first, day), str(day))
    return [*runs_of_days("process_days", older), nightly]


def _uncounted_days(store: Store, until: date) -> set[date]:
    """Returns the days after the last of `nightly_stats`, up to `until`; none if it is empty."""
    counted = map(date.fromisoformat, store.tables.parts("nightly_stats"))
    last = max(counted, default=until)
    return {until - timedelta(days=back) for back in range((until - last).days)}


def _days_of_begun_night(store: Store, until: date) -> set[date]:
    """Returns the first day of a nightly run that was killed, if it is not after `until`.

    Its transcripts may be captured already, but its facts are not boosted yet.
    """
    begun = begun_night(store)
    return {begun} if begun and begun <= until else set()


def _days_of_changed_files(store: Store, until: date) -> set[date]:
    """Returns the local days, up to `until`, on which transcripts that wait for capture changed."""
    zone = store.settings.zone
    times = (file.mtime_ns / 1e9 for file in _changed_transcripts(store))
    days = {datetime.fromtimestamp(time, zone).date() for time in times}
    return {day for day in days if day <= until}


def triage_is_due(store: Store) -> bool:
    """Returns whether the store or a task that a person changed requires a triage."""
    if review_is_stale(store):
        return True
    return bool(task_decisions_hash(store, read_task_snapshot(store)))


def review_is_stale(store: Store) -> bool:
    """Returns whether a triage would change something, apart from tasks in a task list.

    It would after a new proposal, a decision, an edit by hand, a changed setting, or the day on
    which a proposal expires; also if a table is stale that an optional capability adds.
    """
    parts = store.tables.parts
    if not (parts("proposals") or parts("friction") or shows_more_than_proposals(store)):
        return False
    if WHOLE not in parts("decisions") or store.note_of("review_md") != triage_state(store):
        return True
    if has_failed(store, "triage") or is_stale(store, _tables_added_to("triage")):
        return True
    decisions = store.tables.read("decisions", columns=["state", "expires_at"])
    is_expired = pl.col("expires_at") <= store.settings.clock()
    return not decisions.filter(is_expired, state="pending").is_empty()


def triage_state(store: Store) -> str:
    """Returns the hash of what a triage reads: tables, the ledger's decisions, files, settings."""
    kinds = ("proposal.", DAY_REFLECTED)
    ids = [event.id for event in store.ledger.events() if event.kind.startswith(kinds)]
    paths = [store.workspace / name for name in ("REVIEW.md", *memory_files(store.workspace))]
    paths += gather("edited_files", store)
    tables = ("proposals", "friction", "memories", *further_sources("review_md"))
    parts = inputs.part_versions(store, tables)
    files = map(_hash_of_file, paths)
    names = input_versions(store, TABLES["verifications"]).values()
    # Events are only appended, so that their number and the last id stand for all of them.
    return inputs.version_from(
        store, TABLES["decisions"], *parts, len(ids), *ids[-1:], *files, *names
    )


def _hash_of_file(path: Path) -> str:
    content = bytes_of(path)
    return "-" if content is None else hashlib.sha256(content).hexdigest()[:16]


def _job_state(job: str, store: Store) -> str:
    """Returns the hash of the input versions of the job's tables."""
    return hash_of(
        *(
            f"{table.name}/{part}={version}"
            for table in tables_in(job)
            if not table.every_run and table.grain in ("whole", *DYNAMIC)
            for part, version in input_versions(store, table).items()
        )
    )


def review_is_due(store: Store) -> bool:
    """Returns whether the configured model may be asked about a proposal for the first time."""
    if store.settings.model_of("reflector") == RULES:
        return False
    return bool(proposals_to_review(store, store.tables.read("model_reviews")))


def _has_stale(job: str, store: Store) -> bool:
    return is_stale(store, [table.name for table in tables_in(job)])


DUE: dict[str, tuple[Callable[[Store], bool], Callable[[Store], str]]] = {
    "capture": (capture_is_due, capture_state),
    "rebuild_memories": (memories_are_stale, partial(_job_state, "rebuild_memories")),
    "triage": (triage_is_due, triage_state),
    "review": (review_is_due, triage_state),
}
"""By job without partitions: the functions that return whether it is due, and the state that
requires it. Jobs that are not listed are due when one of their tables is stale.
"""


def days_asked_for(store: Store) -> dict[date, str]:
    """Returns the days to reflect on for which an event asks for it, each with the event's id."""
    events = store.ledger.events([DAY_ACCUMULATED])
    event_ids = {date.fromisoformat(event.target): event.id for event in events}
    if not event_ids:
        return {}
    return {day: event_ids[day] for day in stale_days(store, "reflect") if day in event_ids}


def friction_asked_for(store: Store) -> dict[date, str]:
    """Returns the days with stale frictions, with the id of the latest event that requests them.

    Returns none without such an event.
    """
    requests = store.ledger.events([FRICTION_REQUESTED])
    if not requests:
        return {}
    return dict.fromkeys(stale_days(store, "find_friction"), requests[-1].id)


def days_accumulated(store: Store) -> list[date]:
    """Returns the days to reflect on that have at least `ACCUMULATED_TOKENS` of observations."""
    due = [day.isoformat() for day in stale_days(store, "reflect")]
    rows = store.tables.read("observations", due, columns=["day", "tokens"])
    days = rows.group_by("day").agg(pl.col("tokens").sum())
    return sorted(days.filter(pl.col("tokens") >= ACCUMULATED_TOKENS)["day"])
