"""Finds stale partitions: their input version (`runs.inputs`) is not the one they were built from.

Reads only the store, in a few milliseconds and without importing Dagster. So it is correct after
any crash, backfill or deletion.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date

from memory_assets.runs.inputs import input_versions, unpaid
from memory_assets.runs.scopes import briefing_is_whole
from memory_assets.schema.frames import hash_of
from memory_assets.schema.tables import JOBS, TABLES, WHOLE, Table, tables_in
from memory_assets.store.damage import missing_parts
from memory_assets.store.store import Store


def stale_partitions(
    store: Store, table: Table, wanted: Mapping[str, str] | None = None
) -> list[str]:
    """Returns the partitions that should be built, sorted.

    Returns none for tables that are built whenever their job runs. `wanted` are the table's input
    versions, if the caller has them.
    """
    if not table.is_judged:
        return []
    wanted = input_versions(store, table) if wanted is None else wanted
    written = written_versions(store, table, wanted)
    return sorted(
        part
        for part, version in wanted.items()
        if part not in written or unpaid(written[part]) != unpaid(version)
    )


def written_versions(
    store: Store, table: Table, wanted: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Returns the input version that each partition was built from.

    Of a file or an index, returns only partitions that it should have (`wanted`).
    """
    if table.record:
        return {part: info.inputs for part, info in store.tables.parts(table.name).items()}
    wanted = input_versions(store, table) if wanted is None else wanted
    is_whole = briefing_is_whole if table.name == "briefing" else lambda *_: True
    whole_parts = [part for part in wanted if is_whole(store, part)]
    notes = {part: store.note_of(note_name(table, part)) for part in whole_parts}
    return {part: note for part, note in notes.items() if note is not None}


def note_name(table: Table, part: str) -> str:
    """Returns the name under which the store notes the input version of a partition of a file."""
    return table.name if part == WHOLE else f"{table.name}-{part.replace('/', '-')}"


def stale_days(store: Store, job: str) -> dict[date, str]:
    """Returns the partitions of the job that should be built, each with a hash of the reasons."""
    reasons = defaultdict[str, list[str]](list)
    missing = missing_parts(store)
    for table in tables_in(job):
        if not table.is_partitioned:
            continue
        if table.grain == JOBS[job].grain:
            for part in missing.get(table.name, ()):
                reasons[part].append(f"{table.name} was damaged")
        wanted = input_versions(store, table) if table.is_judged else {}
        for part in stale_partitions(store, table, wanted):
            reasons[part].append(f"{table.name}={wanted[part]}")
    return {date.fromisoformat(part): hash_of(*reasons[part]) for part in sorted(reasons)}


def is_stale(store: Store, names: Iterable[str]) -> bool:
    """Returns whether any of the tables has a partition that should be built."""
    return any(stale_partitions(store, TABLES[name]) for name in names)
