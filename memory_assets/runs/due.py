"""Which runs the state of a store asks for, in one order for the command line and the sensors.

Level-triggered: each question compares what is there with what the next step was built from, so a lost tick, a failed run or a
killed process loses nothing. Reads file sizes, manifests and the ledger, never transcripts.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import polars as pl

from memory_assets.runs import inputs
from memory_assets.runs.days import Stretch, stretches
from memory_assets.runs.staleness import input_versions, is_stale, rules_of, stale_days, stale_partitions
from memory_assets.schema.frames import hash_of
from memory_assets.schema.tables import JOBS, TABLES, WHOLE, tables_in
from memory_assets.services.review import look_at_tasks, tasks_say
from memory_assets.services.sources import find_sources
from memory_assets.stages.capture.intake import changed_files, has_changes
from memory_assets.stages.capture.tombstones import unfinished
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.events import ACCUMULATED, REFLECTED
from memory_assets.stages.triage.projects import memory_files
from memory_assets.stages.triage.run import waits_for_review
from memory_assets.store.ledger import WORDS_ERASED, WORDS_FORGOTTEN
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store

FRICTION_REQUESTED = "friction.requested"
DAY_ACCUMULATED, DAY_REFLECTED = (name.removeprefix("memory/") for name in (ACCUMULATED, REFLECTED))
ACCUMULATED_TOKENS = 40_000
"""Tokens of observations of one day that are reflected on at once, without waiting for the morning (A21)."""


@dataclass(frozen=True)
class DueRun:
    """One run that the store asks for."""

    job: str
    stretch: Stretch | None
    state: str
    """Hash of the state that asks for it: the same state asks for the same run."""


def due_runs(store: Store, job: str) -> list[DueRun]:
    """Returns the runs of the job that the store asks for now; none where it is up to date."""
    if JOBS[job].is_partitioned:
        days = stale_days(store, job)
        return [DueRun(job, one, hash_of(*(days.get(day, "") for day in one.days()))) for one in _stretches(job, days)]
    is_due, state = DUE[job]
    return [DueRun(job, None, state(store))] if is_due(store) else []


def next_runs(store: Store) -> list[DueRun]:
    """Returns the due runs of the first job that has any, leaving out jobs that wait for their schedule or for a review."""
    return next((runs for job in JOBS.values() if job.is_at_once and (runs := due_runs(store, job.name))), [])


def _stretches(job: str, days: dict[date, str]) -> list[Stretch]:
    """Returns the partitions as runs: a finished week or month is one key, and a gap between them costs nothing."""
    if not days:
        return []
    return stretches(days) if JOBS[job].grain == "day" else [Stretch(min(days), max(days))]


def capture_is_due(store: Store) -> bool:
    """Returns whether there is something to take in, a window to close, or a forget to finish."""
    events, changed = events_wait(store), transcripts_changed(store)
    return events or changed or is_stale(store, ["harness_memories"]) or windows_due(store) or forget_is_unfinished(store)


def events_wait(store: Store) -> bool:
    """Returns whether something was sent that was not taken in."""
    return bool(spool.unread(str(store.root)))


def transcripts_changed(store: Store) -> bool:
    """Returns whether a transcript grew, appeared or was rewritten since it was captured, from sizes and times alone."""
    return has_changes(find_sources(store.settings), store.archive, store.settings.clock())


def forget_is_unfinished(store: Store) -> bool:
    """Returns whether words are forgotten that were not erased everywhere yet: a process was killed, or found a file busy."""
    return bool(unfinished(store.ledger.events([WORDS_FORGOTTEN, WORDS_ERASED])))


def windows_due(store: Store) -> bool:
    """Returns whether captured ranges are not yet cut into windows, or an open window has been idle for long enough."""
    tables = store.tables
    written = tables.parts("windows").get(WHOLE)
    if written is None:
        return bool(tables.parts("records")) or not store.archive.resources().is_empty()
    if stale_partitions(store, TABLES["windows"]):
        return True
    idle = timedelta(minutes=store.settings.idle_minutes)
    now, moments = store.settings.clock(), inputs.flushes(store)
    growing = tables.read("windows", columns=["status", "ended_at"]).filter(pl.col("status") == "open")
    return any(ended + idle <= now or any(ended <= moment for moment in moments) for ended in growing["ended_at"])


def capture_state(store: Store) -> str:
    """Returns the hash of what a capture would look at: the spool, the files that changed, and what windows are cut from."""
    changed = changed_files(find_sources(store.settings), store.archive, store.settings.clock())
    looks = [f"{file.path}:{file.size}:{file.mtime_ns}" for file in changed]
    written = store.tables.parts("windows").get(WHOLE)
    cut = (*inputs.windows(store, TABLES["windows"]).values(), written.fingerprint if written else "-")
    kept = inputs.harness_memories(store, TABLES["harness_memories"]).values()
    return hash_of(*spool.unread(str(store.root)).items(), *looks, *cut, *kept, forget_is_unfinished(store))


def memories_are_stale(store: Store) -> bool:
    """Returns whether memories or what follows from them is stale, or an index was deleted or moved aside as unreadable."""
    if WHOLE not in store.tables.parts("memories"):
        return is_stale(store, ["memories"])
    pointers = (store.root / "index" / name / "current" for name in ("vectors", "texts"))
    is_whole = WHOLE in store.tables.parts("recalls") and all(pointer.is_file() for pointer in pointers)
    return not is_whole or is_stale(store, [table.name for table in tables_in("rebuild_memories")])


def triage_is_due(store: Store) -> bool:
    """Returns whether anything asks for a triage: what is in the store, or what a person did to a task."""
    return review_is_stale(store) or bool(tasks_say(store, look_at_tasks(store)))


def review_is_stale(store: Store) -> bool:
    """Returns whether a proposal, a decision, an edit by hand, a setting or the calendar asks for a triage."""
    if not store.tables.parts("proposals") and not store.tables.parts("friction"):
        return False
    if WHOLE not in store.tables.parts("decisions") or store.note_of("review_md") != triage_state(store):
        return True
    waiting = store.tables.read("decisions", columns=["state", "expires_at"]).filter(pl.col("state") == "pending")
    return waiting.filter(pl.col("expires_at") <= store.settings.clock()).height > 0


def triage_state(store: Store) -> str:
    """Returns the hash of what a triage reads: proposals, memories, the ledger's decisions, REVIEW.md, MEMORY.md, settings."""
    names = ("proposals", "friction", "memories")
    parts = (f"{name}/{part}={info.fingerprint}" for name in names for part, info in store.tables.parts(name).items())
    told = [event.id for event in store.ledger.events() if event.kind.startswith("proposal.") or event.kind == DAY_REFLECTED]
    files = (hash_file(store.workspace / name) for name in ("REVIEW.md", *memory_files(store.workspace)))
    return hash_of(*rules_of(store, TABLES["decisions"]), *parts, len(told), *told[-1:], *files)


def review_is_due(store: Store) -> bool:
    """Returns whether a model is configured and has not reviewed all that waits."""
    if store.settings.model == RULES:
        return False
    return bool(waits_for_review(store.tables, store.tables.read("model_reviews")))


def hash_file(path: Path) -> str:
    """Returns a short hash of the file, or `-` where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else "-"


def _state_of_tables(job: str) -> Callable[[Store], str]:
    def state(store: Store) -> str:
        return hash_of(*_asking(store, job))

    return state


def _asking(store: Store, job: str) -> Iterator[str]:
    """Yields what the stale tables of the job should be built from."""
    for table in tables_in(job):
        if table.inputs is not None and table.grain in ("whole", "scope"):
            yield from (f"{table.name}/{part}={version}" for part, version in input_versions(store, table).items())


DUE: dict[str, tuple[Callable[[Store], bool], Callable[[Store], str]]] = {
    "capture": (capture_is_due, capture_state),
    "rebuild_memories": (memories_are_stale, _state_of_tables("rebuild_memories")),
    "triage": (triage_is_due, triage_state),
    "review": (review_is_due, triage_state),
    "brief": (lambda store: is_stale(store, ["lessons_md", "briefing"]), _state_of_tables("brief")),
    "evaluate": (lambda store: is_stale(store, ["evaluation"]), _state_of_tables("evaluate")),
}
"""By job without partitions: whether it is due, and the state that asks for it."""


def days_asked_for(store: Store) -> dict[date, str]:
    """Returns the days that an event asks to reflect on (`observations.accumulated`) and nobody reflected on, with its id."""
    asked = {date.fromisoformat(event.target): event.id for event in store.ledger.events([DAY_ACCUMULATED])}
    return {day: asked[day] for day in stale_days(store, "reflect") if day in asked} if asked else {}


def friction_asked_for(store: Store) -> dict[date, str]:
    """Returns the days in which frictions are to be found at once, with the latest event that asks for it."""
    asked = store.ledger.events([FRICTION_REQUESTED])
    return dict.fromkeys(stale_days(store, "find_friction"), asked[-1].id) if asked else {}


def days_accumulated(store: Store) -> list[date]:
    """Returns the days nobody reflected on since they passed so many tokens of observations that they should not wait."""
    due = [day.isoformat() for day in stale_days(store, "reflect")]
    read = store.tables.read("observations", due, columns=["day", "tokens"])
    found = read.group_by("day").agg(pl.col("tokens").sum()).filter(pl.col("tokens") >= ACCUMULATED_TOKENS)
    return sorted(found["day"])
