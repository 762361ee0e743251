"""The record of real runs: when each table and file was last built, and when its rows last changed.

One small file per table, below `built/runs/`, written when a build has succeeded, whoever started
it: a sensor, a schedule, the command line or the UI. A run that failed or was killed leaves no
trace there. Notes of the store hold the last time at which a schedule had nothing to do, and the
first day of a nightly run until it ends.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import filelock

from memory_assets.runs.inputs import fingerprint
from memory_assets.schema.frames import hash_of
from memory_assets.schema.tables import TABLES, Table, tables_in
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, text_of, write_atomically

FOLDER = "runs"
NIGHT = "nightly_begun"
"""Note of the first day of a nightly run that has not ended."""
NEVER = "-"
"""Hash of the rows of a table that was never written."""


@dataclass(frozen=True)
class BuildRecord:
    """The last successful build of a table or file."""

    at: datetime
    changed_at: datetime
    """When its rows last changed; of a file, when it was last built."""
    rows: str
    """Hash of its rows."""
    number: int
    """How many builds there were, with this one."""
    sources: Mapping[str, str]
    """State of each table that it was built from and that every run builds before it: the number of
    its build, and the hash of its rows; none if it is judged by its own input version."""


def note_builds(store: Store, tables: Sequence[Table]) -> None:
    """Notes that the tables were built now."""
    folder = make_folder(store.root / "built" / FOLDER)
    locks = make_folder(store.root / "built" / "locks")
    for table in tables:
        with filelock.FileLock(locks / f"{table.name}.lock", mode=0o600):
            noted = json.dumps(_noted(store, table)).encode()
            write_atomically(folder / f"{table.name}.json", noted)


def _noted(store: Store, table: Table) -> dict[str, Any]:
    now = store.settings.clock()
    previous = last_build(store, table.name)
    rows = _hash_of_rows(store, table)
    is_same = previous is not None and rows == previous.rows and rows != NEVER
    changed_at = previous.changed_at if previous and is_same else now
    sources = [] if table.is_judged else _sources_before(table)
    return {
        "at": now.isoformat(),
        "changed_at": changed_at.isoformat(),
        "rows": rows,
        "number": previous.number + 1 if previous else 1,
        "sources": {name: _state_of(store, name) for name in sources},
    }


def last_build(store: Store, table: str) -> BuildRecord | None:
    """Returns the last successful build of the table; None where none is known."""
    text = text_of(store.root / "built" / FOLDER / f"{table}.json")
    if not text:
        return None
    noted = json.loads(text)
    at = datetime.fromisoformat(noted["at"])
    changed_at = datetime.fromisoformat(noted["changed_at"])
    return BuildRecord(
        at, changed_at, noted["rows"], noted.get("number", 1), noted.get("sources", {})
    )


def lagging_sources(store: Store, table: Table) -> list[str]:
    """Returns the sources of the table that were built since it was, although each run that builds
    them builds it, too.

    For tables that are built whenever their job runs. Compares rows, because a run that is killed
    may leave no record of what it built; numbers of builds, because a killed run may have read
    other sources anew that only other jobs build; and no times, because clocks are set back.
    """
    built = last_build(store, table.name)
    sources = _sources_before(table)
    states = built.sources if built else dict.fromkeys(sources, NEVER)
    return [name for name in sources if _state_of(store, name) != states.get(name)]


def changed_since(store: Store, table: Table, sources: Iterable[str]) -> datetime | None:
    """Returns when the first of these sources changed after the table was built; None if none
    did.
    """
    built = last_build(store, table.name)
    builds = [last_build(store, name) for name in sources]
    moments = [build.changed_at for build in builds if build]
    return min((at for at in moments if built is None or at > built.at), default=None)


def has_failed(store: Store, job: str) -> bool:
    """Returns whether the last run of the job stopped before all its tables were built from the
    changed ones.
    """
    return any(
        lagging_sources(store, table)
        for table in tables_in(job)
        if table.every_run and table.jobs[0] == job
    )


def last_run(store: Store, job: str) -> datetime | None:
    """Returns when every table of the job had been built since; None where one of them never
    was.
    """
    builds = [last_build(store, table.name) for table in tables_in(job)]
    moments = [build.at for build in builds if build]
    return min(moments) if moments and len(moments) == len(builds) else None


def begin_night(store: Store, first: date) -> None:
    """Notes that a nightly run begins with this day; until one ends, the next one begins no
    later.
    """
    store.note(NIGHT, first.isoformat())


def end_night(store: Store) -> None:
    """Notes that the nightly run has counted its days."""
    store.note(NIGHT, "")


def begun_night(store: Store) -> date | None:
    """Returns the first day of the nightly run that began and did not end; None where there is
    none.
    """
    first = store.note_of(NIGHT)
    return date.fromisoformat(first) if first else None


def note_slot(store: Store, schedule: str, slot: datetime) -> None:
    """Notes that the schedule was evaluated for this time, and nothing was due then."""
    store.note(f"slot-{schedule}", slot.isoformat())


def is_missed(store: Store, schedule: str, job: str, slot: datetime) -> bool:
    """Returns whether this time of the schedule passed, and neither a run of its job nor an
    evaluation followed.

    If the job never ran, only times after the first capture count: a new store has missed nothing.
    """
    evaluated = store.note_of(f"slot-{schedule}")
    ran = last_run(store, job) or last_run(store, "capture")
    return (
        ran is not None
        and ran < slot
        and (not evaluated or datetime.fromisoformat(evaluated) < slot)
    )


def _sources_before(table: Table) -> list[str]:
    """Returns the tables that it is built from and that are built in no run without it."""
    return [
        name
        for name in table.made_from
        if TABLES[name].record and set(TABLES[name].jobs) <= set(table.jobs)
    ]


def _state_of(store: Store, table: str) -> str:
    built = last_build(store, table)
    rows = _hash_of_rows(store, TABLES[table])
    return f"{built.number} {rows}" if built else rows


def _hash_of_rows(store: Store, table: Table) -> str:
    parts = store.tables.parts(table.name) if table.record else {}
    return hash_of(*(f"{part}={fingerprint(parts, part)}" for part in parts)) if parts else NEVER
