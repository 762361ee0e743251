"""Builds tables and files: calls their function (`runs.builders`) and writes what it returns."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from time import perf_counter

import polars as pl

from memory_assets.errors import DamagedError
from memory_assets.runs.builders import BUILDERS
from memory_assets.runs.days import BY_DAY
from memory_assets.runs.inputs import input_versions
from memory_assets.runs.record import note_builds
from memory_assets.runs.results import SHOWN_ROWS, Built, Report, Rows, Run, counts_of
from memory_assets.runs.staleness import note_name
from memory_assets.schema import frames as schemas
from memory_assets.schema.frames import hash_of
from memory_assets.schema.progress import building, track
from memory_assets.schema.tables import JOBS, Table
from memory_assets.store.damage import is_damage, put_damaged_aside
from memory_assets.store.store import PART_WAIT_SECONDS, Store
from memory_assets.store.telemetry import StepEvent, log_step
from memory_assets.text.masking.redact import mask_frame, mask_text, secret_rows, secret_rules

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
    began = perf_counter()
    report = Report()
    problem = ""
    try:
        report = _materialise(store, tables, partitions, ask_again=ask_again)
        note_builds(store, tables)
        # Other processes may be in the middle of long days.
        store.sync(wait_seconds=PART_WAIT_SECONDS)
        return report
    except BaseException as error:
        problem = type(error).__name__
        damages = put_damaged_aside(store) if is_damage(error) else []
        if damages:
            raise DamagedError(damages[0].message) from error
        raise
    finally:
        spent = 1_000 * (perf_counter() - began)
        lead = tables[-1]
        now = store.settings.clock()
        event = StepEvent(
            now, lead.stage, lead.name, not problem, spent, problem, dict(report.counts)
        )
        log_step(store.root, event)


def _materialise(
    store: Store, tables: Sequence[Table], partitions: Sequence[str], *, ask_again: bool
) -> Report:
    lead = tables[-1]
    title = JOBS[lead.jobs[0]].title
    building(lead.name, title)
    wanted = {} if lead.every_run else input_versions(store, lead)
    # Of a partition that nothing in the store requires.
    default = "-" if lead.is_partitioned else lead.version
    versions = {part: wanted.get(part, default) for part in partitions}
    due = _due_parts(store, tables, versions)
    built = BUILDERS[lead.name](store, Run(lead, partitions, due, ask_again))
    if isinstance(built, Report):
        for part in () if lead.record else wanted.keys() & partitions:
            store.note(note_name(lead, part), wanted[part])
        return built
    counts = {"written": len(due), "unchanged": len(partitions) - len(due)}
    report = Report(figures=counts if lead.is_partitioned else {})
    ordered = sorted(due, reverse=True) if lead.is_newest_first else due
    for part in track(ordered, f"{title} ({lead.name})"):
        with _lock(store, lead):
            _write(store, tables, part, built(part), versions[part], report)
    return report


def _due_parts(store: Store, tables: Sequence[Table], versions: Mapping[str, str]) -> list[str]:
    """Returns the partitions that are not written with these versions in all of the tables."""
    lead = tables[-1]
    if not (lead.is_partitioned and lead.record):
        return [*versions]
    parts = [store.tables.parts(table.name, versions) for table in tables]
    return [
        part
        for part, version in versions.items()
        if not all(part in written and written[part].inputs == version for written in parts)
    ]


def _lock(store: Store, lead: Table) -> AbstractContextManager[None]:
    """Returns the lock under which a partition is built and written: shared where other processes
    may build other days.
    """
    return store.lock_day() if lead.jobs[0] in BY_DAY else store.lock()


def _write(
    store: Store, tables: Sequence[Table], part: str, built: Built, version: str, report: Report
) -> None:
    if isinstance(built, Rows):
        report.figures |= built.figures
        report.warnings += built.warnings
        report.log += built.log
        version = built.version or version
        built = built.frame
    frames = built if isinstance(built, Mapping) else {tables[-1].name: built}
    report.counts["partitions"] += 1
    for table in tables:
        masking = partial(_without_secrets, table, report)
        frame = frames[table.name]  # pyright: ignore[reportArgumentType]
        masked = masking(frame) if isinstance(frame, pl.DataFrame) else map(masking, frame)
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
    masked = mask_frame(built)
    key = schemas.key_of(table.name)
    if masked.equals(built):
        return built
    aside = secret_rows(masked)
    for row in aside[:SHOWN_ROWS]:
        named = ", ".join(f"{name} {mask_text(str(masked[name][row]))[0]}" for name in key)
        rules = ", ".join(secret_rules(masked, row))
        report.warnings.append(
            f"{table.name}: a row that holds a secret was put aside: {named} ({rules})."
        )
    whole = masked.filter(~pl.int_range(pl.len()).is_in(aside))
    return whole.unique(key, keep="first", maintain_order=True)


def data_version(store: Store, table: Table, partitions: Sequence[str]) -> str | None:
    """Returns the hash of the rows of the partitions; None for what holds no rows."""
    if not table.record:
        return None
    parts = store.tables.parts(table.name, partitions if table.is_partitioned else None)
    return hash_of(*(f"{part}={info.fingerprint}" for part, info in parts.items()))
