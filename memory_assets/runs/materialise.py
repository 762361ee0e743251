"""Builds tables and files: calls the function that a declaration names, and writes what it returns.

A build function takes the store and a `Run`. It returns either a function from a partition to its
rows, which are then written one partition at a time under the store's lock, or a `Report` where it
wrote by itself (files, indexes, tables by source). Several tables may name one build function; it
then returns a mapping from table to rows.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial, wraps
from time import perf_counter
from typing import Any

import polars as pl

from memory_assets.errors import DamagedError
from memory_assets.runs.days import BY_DAY
from memory_assets.runs.record import note_builds
from memory_assets.runs.staleness import input_versions, note_name, resolve
from memory_assets.schema import frames as schemas
from memory_assets.schema.frames import hash_of
from memory_assets.schema.progress import building, track
from memory_assets.schema.tables import JOBS, Table
from memory_assets.store.damage import is_damage, put_damaged_aside
from memory_assets.store.store import PART_WAIT_SECONDS, Store
from memory_assets.store.telemetry import StepEvent, log_step
from memory_assets.text.masking.redact import mask_frame, mask_text, secret_rows, secret_rules

SHOWN_ROWS = 5
"""Rows that are named in warnings."""


class Markdown(str):
    """Text for the UI that holds counts and ids, never words of messages or observations."""


@dataclass(frozen=True)
class Run:
    """What a build function has to build."""

    table: Table
    partitions: Sequence[str]
    due: Sequence[str]
    """The partitions that are not up to date; the others are left as they are."""
    ask_again: bool = True
    """Whether a model is also asked about what another prompt or model has answered already."""


@dataclass(frozen=True)
class Rows:
    """Rows of one partition, by table if there are several, with figures about them."""

    frame: pl.DataFrame | Mapping[str, pl.DataFrame]
    figures: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None
    """Input version to note, where it is not that of the declaration."""
    warnings: Sequence[str] = ()
    log: Sequence[str] = ()
    """Lines for the log of the run; no words of messages or observations."""


@dataclass
class Report:
    """What a build wrote, in figures for the UI."""

    figures: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    checks: dict[str, str] = field(default_factory=dict)
    """By declared check, the problem; empty where there is none."""
    by_partition: dict[str, dict[str, Any]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    """What the log of steps counts."""


COUNTED: Mapping[str, tuple[str, Mapping[str, str | None]]] = {
    "verdicts": (
        "verdict",
        {"extracted": None, "allowed": "allow", "held": "hold", "discarded": "discard"},
    ),
    "merges": ("relation", {"deduplicated": "same"}),
}
"""By table, what the log of steps counts beside rows: the value of a column for each count, None
for all rows.
"""

Built = pl.DataFrame | Iterable[pl.DataFrame] | Rows | Mapping[str, pl.DataFrame]
Builder = Callable[[str], Built]


def per_partition(build: Callable[[Store, str], Built]) -> Callable[[Store, Run], Builder]:
    """Makes a build function of one that takes the store and a partition, and needs nothing to be
    prepared once a run.
    """
    return wraps(build)(lambda store, _: partial(build, store))


def materialise(
    store: Store, tables: Sequence[Table], partitions: Sequence[str], *, ask_again: bool = True
) -> Report:
    """Builds the tables, which share one build function, for the partitions, writes them, and logs
    the step, also a failed one.

    A partition of a day, week or month table whose input version did not change is left as it is.
    The last of the tables is written last: its input version says that the others are written. If a
    file that it reads is damaged, puts it aside, so that the next run rebuilds it first, and raises
    `DamagedError`.
    """
    began, report, problem = perf_counter(), Report(), ""
    try:
        report = _materialise(store, tables, partitions, ask_again=ask_again)
        # Other processes may be in the middle of long days.
        store.sync(wait_seconds=PART_WAIT_SECONDS)
        return report
    except BaseException as error:
        problem = type(error).__name__
        if is_damage(error) and (found := put_damaged_aside(store)):
            raise DamagedError(found[0].message) from error
        raise
    finally:
        spent, lead = 1_000 * (perf_counter() - began), tables[-1]
        event = StepEvent(
            store.settings.clock(),
            lead.stage,
            lead.name,
            not problem,
            spent,
            problem,
            dict(report.counts),
        )
        log_step(store.root, event)


def _materialise(
    store: Store, tables: Sequence[Table], partitions: Sequence[str], *, ask_again: bool
) -> Report:
    lead = tables[-1]
    building(lead.name, JOBS[lead.jobs[0]].title)
    wanted = input_versions(store, lead) if lead.inputs is not None else {}
    # Of a partition that nothing in the store requires.
    default = "-" if lead.is_partitioned else lead.version
    versions = {part: wanted.get(part, default) for part in partitions}
    is_kept = lead.is_partitioned and lead.record
    due = [
        part
        for part, version in versions.items()
        if not (is_kept and _is_written(store, tables, part, version))
    ]
    made = resolve(lead.build)(store, Run(lead, partitions, due, ask_again))
    if isinstance(made, Report):
        for part in () if lead.record else wanted.keys() & partitions:
            store.note(note_name(lead, part), wanted[part])
        note_builds(store, tables)
        return made
    report = Report(
        figures={"written": len(due), "unchanged": len(partitions) - len(due)}
        if lead.is_partitioned
        else {}
    )
    title = f"{JOBS[lead.jobs[0]].title} ({lead.name})"
    for part in track(sorted(due, reverse=True) if lead.is_newest_first else due, title):
        with _lock(store, lead):
            _write(store, tables, part, made(part), versions[part], report)
    note_builds(store, tables)
    return report


def _lock(store: Store, lead: Table) -> AbstractContextManager[None]:
    """Returns the lock under which a partition is built and written: shared where other processes
    may build other days.
    """
    return store.lock_day() if lead.jobs[0] in BY_DAY else store.lock()


def _is_written(store: Store, tables: Sequence[Table], part: str, version: str) -> bool:
    written = [store.tables.parts(table.name, [part]).get(part) for table in tables]
    return all(one is not None and one.inputs == version for one in written)


def _write(
    store: Store, tables: Sequence[Table], part: str, built: Built, version: str, report: Report
) -> None:
    if isinstance(built, Rows):
        report.figures |= built.figures
        report.warnings += built.warnings
        report.log += built.log
        built, version = built.frame, built.version or version
    frames = built if isinstance(built, Mapping) else {tables[-1].name: built}
    report.counts["partitions"] += 1
    for table in tables:
        kept = partial(_without_secrets, table, report)
        frame = frames[table.name]  # pyright: ignore[reportArgumentType]
        masked = kept(frame) if isinstance(frame, pl.DataFrame) else map(kept, frame)
        report.counts["rows"] += store.tables.write(table.name, part, masked, inputs=version).rows
        if isinstance(masked, pl.DataFrame) and table.name in COUNTED:
            report.counts.update(_counted(table.name, masked))


def _counted(table: str, rows: pl.DataFrame) -> dict[str, int]:
    column, names = COUNTED[table]
    counts = counts_of(rows, column)
    return {
        name: rows.height if value is None else counts.get(value, 0)
        for name, value in names.items()
    }


def _without_secrets(table: Table, report: Report, built: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows with secrets masked that appear only in a text of the table, which joins or
    shortens what was captured.

    A row in which a secret can still be found is not written; a warning names the row and the rule,
    and the run goes on. The same applies to a row that has the key of another one after masking.
    """
    masked, key = mask_frame(built), schemas.key_of(table.name)
    if masked.equals(built):
        return built
    aside = secret_rows(masked)
    for row in aside[:SHOWN_ROWS]:
        named = ", ".join(f"{name} {mask_text(str(masked[name][row]))[0]}" for name in key)
        rules = ", ".join(secret_rules(masked, row))
        report.warnings.append(
            f"{table.name}: a row that holds a secret was put aside: {named} ({rules})."
        )
    return masked.filter(~pl.int_range(pl.len()).is_in(aside)).unique(
        key, keep="first", maintain_order=True
    )


def data_version(store: Store, table: Table, partitions: Sequence[str]) -> str | None:
    """Returns the hash of the rows of the partitions; None for what holds no rows."""
    if not table.record:
        return None
    parts = store.tables.parts(table.name, partitions if table.is_partitioned else None)
    return hash_of(*(f"{part}={info.fingerprint}" for part, info in parts.items()))


def counts_of(rows: pl.DataFrame, column: str) -> dict[str, int]:
    """Returns how often each value of the column occurs, by name; `none` counts the rows without
    one.
    """
    counted = rows.group_by(column).len().sort(column).iter_rows()
    return {"none" if value is None else str(value): count for value, count in counted}
