"""Builds tables and files: finds the function that a declaration names, and writes what it returns.

A build function takes a `Run`. It returns either a function from a partition to its rows, which are then written one partition
at a time under the store's lock, or a `Report` where it wrote by itself (files, indexes, tables by source). Several tables may
name one build function; it then returns a mapping from table to rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from memory_assets.runs.staleness import input_versions, note_name, resolve
from memory_assets.schema.frames import hash_of
from memory_assets.schema.progress import track
from memory_assets.schema.tables import JOBS, WHOLE, Table
from memory_assets.stages.capture.masking.redact import mask_frame
from memory_assets.store.store import Store


class Markdown(str):
    """Text for the UI that holds counts and ids, never words of messages or observations."""


@dataclass(frozen=True)
class Run:
    """What a build function is asked for."""

    store: Store
    table: Table
    partitions: Sequence[str]
    due: Sequence[str]
    """The partitions that are not what the store says now; the others are left as they are."""
    ask_again: bool = True
    """Whether a model is also asked about what another prompt or model has answered already."""


@dataclass(frozen=True)
class Rows:
    """Rows of one partition with figures about them, where there is more to say than their number."""

    frame: pl.DataFrame
    figures: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None
    """Input version to note, where it is not that of the declaration."""
    warnings: Sequence[str] = ()


@dataclass
class Report:
    """What became of a table or file in a run: figures for the UI, warnings, outcomes of checks."""

    figures: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    checks: dict[str, str] = field(default_factory=dict)
    """By check, what is wrong; empty where nothing is."""
    by_partition: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_complete: bool = True
    """Whether the file is what the store says now."""


Built = pl.DataFrame | Iterable[pl.DataFrame] | Rows | Mapping[str, pl.DataFrame]
Builder = Callable[[str], Built]


def materialise(store: Store, tables: Sequence[Table], partitions: Sequence[str], *, ask_again: bool = True) -> Report:
    """Builds the tables, which share one build function, for the partitions, and writes them.

    A partition of a day, week or month table whose input version did not change is left as it is. The last of the tables is
    written last: it tells whether the others are there.
    """
    lead = tables[-1]
    wanted = input_versions(store, lead) if lead.inputs is not None else {}
    due = [part for part in partitions if _is_due(store, tables, part, wanted)]
    made = resolve(lead.build)(Run(store, lead, partitions, due, ask_again))
    if isinstance(made, Report):
        if not lead.record and made.is_complete:
            for part in wanted.keys() & partitions:
                store.note(note_name(lead, part), wanted[part])
        return made
    report = Report(figures={"written": len(due), "unchanged": len(partitions) - len(due)} if lead.is_partitioned else {})
    for part in track(due, JOBS[lead.jobs[0]].title):
        with store.lock():
            _write(store, tables, part, made(part), wanted.get(part, table_default(lead)), report)
    return report


def table_default(table: Table) -> str:
    """Returns the input version of a partition that nothing in the store asks for."""
    return "-" if table.is_partitioned else table.version


def _is_due(store: Store, tables: Sequence[Table], part: str, wanted: Mapping[str, str]) -> bool:
    if not tables[-1].is_partitioned or not tables[-1].record:
        return True
    written = [store.tables.parts(table.name, [part]).get(part) for table in tables]
    return any(one is None or one.inputs != wanted.get(part, table_default(tables[-1])) for one in written)


def _write(store: Store, tables: Sequence[Table], part: str, built: Built, version: str, report: Report) -> None:
    if isinstance(built, Rows):
        report.figures |= built.figures
        report.warnings += built.warnings
        built, version = built.frame, built.version or version
    if isinstance(built, Mapping):
        for table in tables:
            store.tables.write(table.name, part, masked(built[table.name]), inputs=version)  # pyright: ignore[reportArgumentType]
    else:
        store.tables.write(tables[-1].name, part, masked(built), inputs=version)


def masked(built: pl.DataFrame | Iterable[pl.DataFrame]) -> pl.DataFrame | Iterable[pl.DataFrame]:
    """Returns the rows with secrets masked that only a text of the table shows, which joins or shortens what was captured.

    The check for secrets stops everything downstream, so nothing that it would find is ever written.
    """
    return mask_frame(built) if isinstance(built, pl.DataFrame) else map(mask_frame, built)


def data_version(store: Store, table: Table, partitions: Sequence[str]) -> str | None:
    """Returns the hash of the rows of the partitions; None for what holds no rows."""
    if not table.record:
        return None
    parts = store.tables.parts(table.name, partitions if table.is_partitioned else None)
    return hash_of(*(f"{part}={info.fingerprint}" for part, info in parts.items()))


def every_partition(table: Table, named: Sequence[str]) -> Sequence[str]:
    """Returns the partitions of a run: those that it names, or the only one."""
    return named if table.is_partitioned else [WHOLE]
