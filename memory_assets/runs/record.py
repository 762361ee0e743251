"""The record of runs: when each table and file was last built, and when its rows last changed.

Each table has one small file below `built/runs/`, which is written after every successful build,
whoever started it. A run that failed or was killed leaves no trace there.

Two further facts are notes of the store: the last time at which a schedule had nothing to do, and
the first day of a nightly run until it ends.
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
    """By source that every run builds before this table: the number of the source's build and the
    hash of its rows. Empty if an input version decides when the table is built.
    """


def note_builds(store: Store, tables: Sequence[Table]) -> None:
    """Notes that the tables were built now."""
    folder = make_folder(store.root / "built" / FOLDER)
    locks = make_folder(store.root / "built" / "locks")
    for table in tables:
        with filelock.FileLock(locks / f"{table.name}.lock", mode=0o600):
            content = json.dumps(_fields_of(store, table)).encode()
            write_atomically(folder / f"{table.name}.json", content)


def _fields_of(store: Store, table: Table) -> dict[str, Any]:
    """Returns the fields of a `BuildRecord` for a build that succeeded just now."""
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
    fields = json.loads(text)
    at = datetime.fromisoformat(fields["at"])
    changed_at = datetime.fromisoformat(fields["changed_at"])
    number = fields.get("number", 1)
    return BuildRecord(at, changed_at, fields["rows"], number, fields.get("sources", {}))


def lagging_sources(store: Store, table: Table) -> list[str]:
    """Returns the sources that were built after the table, although the same run builds both.

    Use it for tables that are built whenever their job runs. A killed run may leave no record of a
    source that it built, so the rows are compared. It may also have built a source with equal rows
    from others that changed, so the numbers of builds are compared. Times are not compared, because
    clocks are set back.
    """
    built = last_build(store, table.name)
    sources = _sources_before(table)
    states = built.sources if built else dict.fromkeys(sources, NEVER)
    return [name for name in sources if _state_of(store, name) != states.get(name)]


def changed_since(store: Store, table: Table, sources: Iterable[str]) -> datetime | None:
    """Returns when the first of the sources changed after the table was built, or None."""
    built = last_build(store, table.name)
    builds = [last_build(store, name) for name in sources]
    moments = [build.changed_at for build in builds if build]
    return min((at for at in moments if built is None or at > built.at), default=None)


def has_failed(store: Store, job: str) -> bool:
    """Returns whether the last run of the job stopped before it had built all its tables."""
    return any(
        lagging_sources(store, table)
        for table in tables_in(job)
        if table.every_run and table.jobs[0] == job
    )


def last_run(store: Store, job: str) -> datetime | None:
    """Returns the earliest last build of the job's tables; None if one of them was never built."""
    builds = [last_build(store, table.name) for table in tables_in(job)]
    moments = [build.at for build in builds if build]
    return min(moments) if moments and len(moments) == len(builds) else None


def begin_night(store: Store, first: date) -> None:
    """Notes the first day of a nightly run. Until one ends, the next begins with it or earlier."""
    store.note(NIGHT, first.isoformat())


def end_night(store: Store) -> None:
    """Notes that the nightly run has counted its days."""
    store.note(NIGHT, "")


def begun_night(store: Store) -> date | None:
    """Returns the first day of a nightly run that began and did not end, or None."""
    first = store.note_of(NIGHT)
    return date.fromisoformat(first) if first else None


def note_slot(store: Store, schedule: str, slot: datetime) -> None:
    """Notes that the schedule was evaluated for this time, and nothing was due then."""
    store.note(f"slot-{schedule}", slot.isoformat())


def is_missed(store: Store, schedule: str, job: str, slot: datetime) -> bool:
    """Returns whether no run of the job and no evaluation followed this time of the schedule.

    If the job never ran, the last capture counts as its run: a new store has missed nothing.
    """
    evaluated_at = store.note_of(f"slot-{schedule}")
    if evaluated_at and datetime.fromisoformat(evaluated_at) >= slot:
        return False
    ran_at = last_run(store, job) or last_run(store, "capture")
    return ran_at is not None and ran_at < slot


def _sources_before(table: Table) -> list[str]:
    """Returns the source tables that are built only in runs that also build the table."""
    return [
        name
        for name in table.made_from
        if TABLES[name].record and set(TABLES[name].jobs) <= set(table.jobs)
    ]


def _state_of(store: Store, table: str) -> str:
    """Returns the number of the table's last build, if any, and the hash of its rows."""
    built = last_build(store, table)
    rows = _hash_of_rows(store, TABLES[table])
    return f"{built.number} {rows}" if built else rows


def _hash_of_rows(store: Store, table: Table) -> str:
    parts = store.tables.parts(table.name) if table.record else {}
    return hash_of(*(f"{part}={fingerprint(parts, part)}" for part in parts)) if parts else NEVER
