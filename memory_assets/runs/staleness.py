"""Finds stale partitions: those whose input version is not the one that they were built from.

The input version of a partition is a hash of the rules' version, the declared settings and the
fingerprints of the tables that it is made from; tables that need more name a function for it
(`Table.inputs`). Computed from the store alone, without Dagster or another heavy import, in a few
milliseconds. Correct after any crash, backfill or deletion.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from importlib import import_module
from typing import Any

from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import PartInfo
from memory_assets.schema.tables import JOBS, TABLES, WHOLE, Table, tables_in
from memory_assets.store.damage import missing_parts
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store


def input_versions(store: Store, table: Table) -> dict[str, str]:
    """Returns the input version of each partition that the table should have.

    The part after a space (a model, a prompt) never makes a partition stale, because building with
    another one costs money.
    """
    if table.inputs:
        return resolve(table.inputs)(store, table)
    upstream = {name: store.tables.parts(name) for name in table.made_from if TABLES[name].record}
    if table.grain != "whole":
        same = [parts for name, parts in upstream.items() if TABLES[name].grain == table.grain]
        return {
            part: hash_of(*rules_of(store, table), *(fingerprint(one, part) for one in same))
            for part in same[0]
        }
    if not any(upstream.values()):
        return {}
    parts = (
        f"{name}/{part}={info.fingerprint}"
        for name, found in upstream.items()
        for part, info in found.items()
    )
    return {WHOLE: hash_of(*rules_of(store, table), *parts)}


def rules_of(store: Store, table: Table) -> list[object]:
    """Returns the version of the table's rules and the values of its settings."""
    return [table.version, *settings_of(store.settings, table)]


def settings_of(settings: Settings, table: Table) -> list[str]:
    """Returns the values of the settings that the table declares, as text."""
    return [_plain(getattr(settings, name)) for name in table.settings]


def fingerprint(parts: Mapping[str, PartInfo], part: str) -> str:
    """Returns the hash of the partition's rows, or `-` where it was never written."""
    return parts[part].fingerprint if part in parts else "-"


def stale_partitions(
    store: Store, table: Table, wanted: Mapping[str, str] | None = None
) -> list[str]:
    """Returns the partitions that should be built, sorted; none for tables that are built whenever
    their job runs.
    """
    if not is_judged(table):
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
    """Returns the input version that each partition was built from; of a file, those of the
    partitions that it should have.
    """
    if table.record:
        return {part: info.inputs for part, info in store.tables.parts(table.name).items()}
    wanted = input_versions(store, table) if wanted is None else wanted
    is_whole = resolve(table.is_whole) if table.is_whole else lambda *_: True
    notes = {
        part: store.note_of(note_name(table, part)) for part in wanted if is_whole(store, part)
    }
    return {part: note for part, note in notes.items() if note is not None}


def note_name(table: Table, part: str) -> str:
    """Returns the name under which the store notes the input version of a partition of a file."""
    return table.name if part == WHOLE else f"{table.name}-{part.replace('/', '-')}"


def unpaid(version: str) -> str:
    """Returns the input version without the model and prompt that follow a space in it."""
    return version.split(" ")[0]


def stale_days(store: Store, job: str) -> dict[date, str]:
    """Returns the partitions of the job that should be built, with a hash of what asks for it."""
    found: dict[str, list[str]] = {}
    missing = missing_parts(store)
    for table in tables_in(job):
        for part in (
            missing.get(table.name, ())
            if table.is_partitioned and table.grain == JOBS[job].grain
            else ()
        ):
            found.setdefault(part, []).append(f"{table.name} was damaged")
        wanted = input_versions(store, table) if is_judged(table) and table.is_partitioned else {}
        for part in stale_partitions(store, table, wanted):
            found.setdefault(part, []).append(f"{table.name}={wanted[part]}")
    return {date.fromisoformat(part): hash_of(*reasons) for part, reasons in sorted(found.items())}


def is_stale(store: Store, names: Iterable[str]) -> bool:
    """Returns whether any of the tables has a partition that should be built."""
    return any(stale_partitions(store, TABLES[name]) for name in names)


def resolve(dotted: str) -> Callable[..., Any]:
    """Returns the function of a dotted name such as `runs.inputs:windows`, which lies below the
    package.
    """
    module, _, name = dotted.partition(":")
    return getattr(import_module(f"memory_assets.{module}"), name)


def is_judged(table: Table) -> bool:
    """Returns whether the table's own input version decides when it is built, not the run of its
    job.
    """
    return table.inputs is not None and not table.follows


def _plain(value: object) -> str:
    return repr(sorted(value.items())) if isinstance(value, dict) else str(value)
