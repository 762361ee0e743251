"""Which runs the state of a store requires, in one order for the command line and the sensors.

Level-triggered: each function compares the present state with the one that the next step was built
from, so a lost tick, a failed run or a killed process loses nothing. Reads file sizes, manifests
and the ledger, never transcripts.
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
DAY_ACCUMULATED, DAY_REFLECTED = (name.removeprefix("memory/") for name in (ACCUMULATED, REFLECTED))
ACCUMULATED_TOKENS = 40_000
"""Tokens of observations of one day that are reflected on at once, without waiting for the morning.
"""


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
        return runs_of_days(job, days or (_last_day(store, job) if has_failed(store, job) else {}))
    is_due, state = DUE.get(job, (partial(_is_stale_job, job), partial(_job_state, job)))
    return [DueRun(job, None, state(store))] if is_due(store) or _lacks_tables(job, store) else []


def is_overdue(store: Store, job: str) -> bool:
    """Returns whether the last run of a scheduled job is too long ago and the input of its tables
    changed since.
    """
    at = time_of(store, job)
    if at is None or store.settings.clock() < at:
        return False
    tables = [table for table in tables_in(job) if table.jobs[0] == job]
    return any(changed_since(store, table, table.made_from) for table in tables)


def time_of(store: Store, job: str) -> datetime | None:
    """Returns when a job that the clock starts should run next.

    The first time counts from the first capture, and is None before it.
    """
    ran = last_run(store, job)
    if ran is None:
        ran = store.tables.read("resources", columns=["created_at"])["created_at"].min()
    return ran + timedelta(days=JOBS[job].every_days) if isinstance(ran, datetime) else None


def _late_runs(store: Store, job: str) -> list[DueRun]:
    today = store.settings.today()
    if JOBS[job].is_partitioned:
        return night_runs(store, today - timedelta(days=1))
    return [DueRun(job, None, str(today))]


def _lacks_tables(job: str, store: Store) -> bool:
    """Returns whether a damaged table of the job was put aside and is not rebuilt yet."""
    missing = missing_parts(store)
    return any(table.name in missing for table in tables_in(job))


def _last_day(store: Store, job: str) -> dict[date, str]:
    """Returns the last partition of the job, with a hash: a run of it builds what the last run left
    out.
    """
    tables = [table.name for table in tables_in(job) if table.is_partitioned and table.record]
    parts = [part for name in tables for part in store.tables.parts(name)]
    return {date.fromisoformat(max(parts)): hash_of("again", *sorted(parts))} if parts else {}


def runs_of_days(job: str, days: Mapping[date, str]) -> list[DueRun]:
    """Returns runs of the job for the days, each with a hash of its state; all weeks or months are
    one run, gaps included.
    """
    is_one_run = days and JOBS[job].grain != "day"
    of_days = [Stretch(min(days), max(days))] if is_one_run else stretches(days)
    runs = []
    for stretch in of_days:
        states = (days.get(day, "") for day in stretch.days())
        runs.append(DueRun(job, stretch, hash_of(*states)))
    return runs


def next_runs(store: Store) -> list[DueRun]:
    """Returns the due runs of the first job that has any, leaving out jobs that wait for their
    schedule or for a review.
    """
    due = (due_runs(store, job.name) for job in JOBS.values() if job.is_at_once)
    return next(filter(None, due), [])


def capture_is_due(store: Store) -> bool:
    """Returns whether there is something to capture, a window to close, or an interrupted forget to
    finish.
    """
    return (
        events_wait(store)
        or bool(_changed_transcripts(store))
        or is_stale(store, _read_by_capture())
        or pushes_wait(store)
        or windows_due(store)
        or forget_is_unfinished(store)
        or has_failed(store, "capture")
    )


def _read_by_capture() -> list[str]:
    """Returns the tables that a capture builds from other files than transcripts."""
    return [*_tables_added_to("capture"), "harness_memories"]


def _tables_added_to(job: str) -> list[str]:
    """Returns the tables of the job that optional capabilities declare."""
    return [table.name for table in tables_in(job) if table.is_added]


def events_wait(store: Store) -> bool:
    """Returns whether the spool has events that were not read yet."""
    return bool(spool.unread(str(store.root)))


def _changed_transcripts(store: Store) -> list[TranscriptFile]:
    """Returns the transcripts that grew, appeared or were rewritten since they were captured, by
    sizes and times alone.
    """
    return changed_files(find_sources(store.settings), store.archive, store.settings.clock())


def pushes_wait(store: Store) -> bool:
    """Returns whether other machines pushed ranges that were not read yet, or words to erase."""
    written = store.tables.parts("resources").get(WHOLE)
    count = written.rows if written else 0
    return store.archive.range_count() != count or bool(gather("incoming", store))


def forget_is_unfinished(store: Store) -> bool:
    """Returns whether forgotten words were not erased everywhere yet: a process was killed, or a
    file was locked.
    """
    return bool(unfinished(store.ledger.events([WORDS_FORGOTTEN, WORDS_ERASED])))


def windows_due(store: Store) -> bool:
    """Returns whether captured ranges are not yet cut into windows, or an open window has been idle
    for long enough.
    """
    tables = store.tables
    if WHOLE not in tables.parts("windows"):
        return bool(tables.parts("records")) or not store.archive.resources().is_empty()
    if stale_partitions(store, TABLES["windows"]):
        return True
    idle = timedelta(minutes=store.settings.idle_minutes)
    close_before = max([store.settings.clock() - idle, *inputs.flushes(store)])
    growing = tables.read("windows", columns=["status", "ended_at"]).filter(status="open")
    return any(ended <= close_before for ended in growing["ended_at"])


def capture_state(store: Store) -> str:
    """Returns the hash of what a capture reads: the spool, the changed files, and the inputs of
    windows.
    """
    others = (input_versions(store, TABLES[name]).values() for name in _read_by_capture())
    return hash_of(
        *spool.unread(str(store.root)).items(),
        *(f"{file.path}:{file.size}:{file.mtime_ns}" for file in _changed_transcripts(store)),
        *inputs.windows(store, TABLES["windows"]).values(),
        inputs.fingerprint(store.tables.parts("windows"), WHOLE),
        *chain.from_iterable(others),
        store.archive.range_count(),
        *gather("incoming", store),
        forget_is_unfinished(store),
    )


def memories_are_stale(store: Store) -> bool:
    """Returns whether memories or a table built from them is stale, or an index was deleted or
    moved aside as unreadable.
    """
    if WHOLE not in store.tables.parts("memories"):
        return is_stale(store, ["memories"])
    return (
        WHOLE not in store.tables.parts("recalls")
        or _lacks_index(store)
        or inputs.summaries_are_stale(store)
        or has_failed(store, "rebuild_memories")
        or _is_stale_job("rebuild_memories", store)
    )


def _lacks_index(store: Store) -> bool:
    """Returns whether an index is missing or damaged."""
    indexes = (open_vectors(store), open_texts(store))
    return any(index.generation() is None or index.faults() for index in indexes)


def night_runs(store: Store, day: date) -> list[DueRun]:
    """Returns the nightly run for the day that has ended, and runs for older unread days.

    The nightly run begins with the earliest day that is unread, was not counted since the last
    night, or with which a night began that did not end; a month back at most.
    """
    stale = {unread for unread in stale_days(store, "process_days") if unread < day}
    unread = stale | _days_of_changed_files(store, day)
    unread |= _uncounted_days(store, day) | _days_of_begun_night(store, day)
    recent = [unread_day for unread_day in unread if (day - unread_day).days < LONGEST_STRETCH]
    first = min(recent, default=day)
    older = dict.fromkeys((stale_day for stale_day in stale if stale_day < first), str(day))
    nightly = DueRun("nightly", Stretch(first, day), str(day))
    return [*runs_of_days("process_days", older), nightly]


def _uncounted_days(store: Store, until: date) -> set[date]:
    """Returns the days after the last night that was counted, up to the given one; none before the
    first night.
    """
    last = max(map(date.fromisoformat, store.tables.parts("nightly_stats")), default=until)
    return {last + timedelta(days=back + 1) for back in range((until - last).days)}


def _days_of_begun_night(store: Store, until: date) -> set[date]:
    """Returns the first day of a night that was killed: its transcripts may be captured, and its
    facts not boosted yet.
    """
    begun = begun_night(store)
    return {begun} if begun and begun <= until else set()


def _days_of_changed_files(store: Store, until: date) -> set[date]:
    """Returns the local days up to the given one on which transcripts that wait for capture were
    last written.
    """
    zone = store.settings.zone
    times = (file.mtime_ns / 1e9 for file in _changed_transcripts(store))
    days = {datetime.fromtimestamp(time, zone).date() for time in times}
    return {day for day in days if day <= until}


def triage_is_due(store: Store) -> bool:
    """Returns whether the store or a task that a person changed requires a triage."""
    return review_is_stale(store) or bool(task_decisions_hash(store, read_task_snapshot(store)))


def review_is_stale(store: Store) -> bool:
    """Returns whether a proposal, a decision, an edit by hand, a setting or the calendar requires a
    triage, or what an optional capability adds to it.
    """
    parts = store.tables.parts
    if not (parts("proposals") or parts("friction") or shows_more_than_proposals(store)):
        return False
    if WHOLE not in parts("decisions") or store.note_of("review_md") != triage_state(store):
        return True
    if has_failed(store, "triage") or is_stale(store, _tables_added_to("triage")):
        return True
    decisions = store.tables.read("decisions", columns=["state", "expires_at"])
    is_over = pl.col("expires_at") <= store.settings.clock()
    return not decisions.filter(is_over, state="pending").is_empty()


def triage_state(store: Store) -> str:
    """Returns the hash of what a triage reads: proposals, memories, the ledger's decisions,
    REVIEW.md, MEMORY.md, settings.
    """
    kinds = ("proposal.", DAY_REFLECTED)
    ids = [event.id for event in store.ledger.events() if event.kind.startswith(kinds)]
    paths = [store.workspace / name for name in ("REVIEW.md", *memory_files(store.workspace))]
    tables = ("proposals", "friction", "memories", *further_sources("review_md"))
    parts = inputs.part_versions(store, tables)
    files = map(_hash_of_file, paths)
    return inputs.version_from(store, TABLES["decisions"], *parts, len(ids), *ids[-1:], *files)


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
    """Returns whether a model is configured and there are proposals that it has not reviewed and
    may be sent.
    """
    if store.settings.model_of("reflector") == RULES:
        return False
    return bool(proposals_to_review(store, store.tables.read("model_reviews")))


def _is_stale_job(job: str, store: Store) -> bool:
    return is_stale(store, [table.name for table in tables_in(job)])


DUE: dict[str, tuple[Callable[[Store], bool], Callable[[Store], str]]] = {
    "capture": (capture_is_due, capture_state),
    "rebuild_memories": (memories_are_stale, partial(_job_state, "rebuild_memories")),
    "triage": (triage_is_due, triage_state),
    "review": (review_is_due, triage_state),
}
"""By job without partitions: whether it is due, and the state that requires it; other jobs are due
when a table is stale.
"""


def days_asked_for(store: Store) -> dict[date, str]:
    """Returns the days without a reflection that an event asks for (`observations.accumulated`),
    with the event's id.
    """
    asked = {
        date.fromisoformat(event.target): event.id
        for event in store.ledger.events([DAY_ACCUMULATED])
    }
    if not asked:
        return {}
    return {day: asked[day] for day in stale_days(store, "reflect") if day in asked}


def friction_asked_for(store: Store) -> dict[date, str]:
    """Returns the days whose frictions are requested at once, with the latest event that requests
    them.
    """
    asked = store.ledger.events([FRICTION_REQUESTED])
    return dict.fromkeys(stale_days(store, "find_friction"), asked[-1].id) if asked else {}


def days_accumulated(store: Store) -> list[date]:
    """Returns the days without a reflection that have too many tokens of observations to wait."""
    due = [day.isoformat() for day in stale_days(store, "reflect")]
    rows = store.tables.read("observations", due, columns=["day", "tokens"])
    days = rows.group_by("day").agg(pl.col("tokens").sum())
    return sorted(days.filter(pl.col("tokens") >= ACCUMULATED_TOKENS)["day"])
