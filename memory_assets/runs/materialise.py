"""Builds tables and files: calls their build function (`runs.builders`), and writes its rows."""

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
from memory_assets.schema.protocols import PartInfo
from memory_assets.schema.tables import JOBS, Table
from memory_assets.store.damage import is_damage, put_damaged_aside
from memory_assets.store.store import PART_WAIT_SECONDS, Store
from memory_assets.store.telemetry import StepEvent, log_step
from memory_assets.text.masking import redact

NOT_REQUIRED = "-"
"""Input version of a partition that nothing in the store requires."""

COUNTED: Mapping[str, tuple[str, Mapping[str, str | None]]] = {
    "verdicts": (
        "verdict",
        {"extracted": None, "allowed": "allow", "held": "hold", "discarded": "discard"},
    ),
    "merges": ("relation", {"deduplicated": "same"}),
}
"""By table, what the log of steps counts in addition to rows: a column, and for each name of a
count the value of the column that is counted. None counts all rows.
"""


def materialise(
    store: Store, tables: Sequence[Table], partitions: Sequence[str], *, ask_again: bool = True
) -> Report:
    """Builds the partitions of tables that share one build function, and logs the step.

    A partitioned table leaves a partition as it is if the input version did not change. The last of
    the tables is written last, so that its input version says that the others are written, too.

    A damaged file is put aside, so that the next run rebuilds it; this call raises `DamagedError`.
    """
    started = perf_counter()
    report = Report()
    problem = ""
    try:
        report = _materialise(store, tables, partitions, ask_again=ask_again)
        note_builds(store, tables)
        # Waits no longer, because other processes may build long days.
        store.sync(wait_seconds=PART_WAIT_SECONDS)
        return report
    except BaseException as error:
        problem = type(error).__name__
        damages = put_damaged_aside(store) if is_damage(error) else []
        if damages:
            raise DamagedError(damages[0].message) from error
        raise
    finally:
        spent_ms = 1_000 * (perf_counter() - started)
        lead = tables[-1]
        now = store.settings.clock()
        counts = dict(report.counts)
        event = StepEvent(now, lead.stage, lead.name, not problem, spent_ms, problem, counts)
        log_step(store.root, event)


def _materialise(
    store: Store, tables: Sequence[Table], partitions: Sequence[str], *, ask_again: bool
) -> Report:
    lead = tables[-1]
    title = JOBS[lead.jobs[0]].title
    building(lead.name, title)
    wanted = {} if lead.every_run else input_versions(store, lead)
    default = NOT_REQUIRED if lead.is_partitioned else lead.version
    versions = {part: wanted.get(part, default) for part in partitions}
    due = _due_parts(store, tables, versions)
    build = BUILDERS[lead.name](store, Run(lead, partitions, due, ask_again))
    if isinstance(build, Report):
        if not lead.record:
            for part in wanted.keys() & partitions:
                store.note(note_name(lead, part), wanted[part])
        return build
    report = Report()
    if lead.is_partitioned:
        report.figures |= {"written": len(due), "unchanged": len(partitions) - len(due)}
    ordered = sorted(due, reverse=True) if lead.is_newest_first else due
    for part in track(ordered, f"{title} ({lead.name})"):
        with _lock(store, lead):
            _write(store, tables, part, build(part), versions[part], report)
    return report


def _due_parts(store: Store, tables: Sequence[Table], versions: Mapping[str, str]) -> list[str]:
    """Returns the partitions that one of the tables lacks or has with another input version.

    A day without messages that nothing requires is emptied if it is written, and else left out.
    """
    lead = tables[-1]
    if not (lead.is_partitioned and lead.record):
        return [*versions]
    parts = [store.tables.parts(table.name, versions) for table in tables]
    changed = [
        part
        for part, version in versions.items()
        if not all(part in written and written[part].inputs == version for written in parts)
    ]
    is_always_written = lead.every_run or lead.grain != "day"
    return changed if is_always_written else _with_content(store, changed, versions, parts)


def _with_content(
    store: Store,
    days: Sequence[str],
    versions: Mapping[str, str],
    written: Sequence[Mapping[str, PartInfo]],
) -> list[str]:
    """Returns the days that something requires, that have messages, or that are written."""
    present = set(store.tables.parts("messages")).union(*written)
    return [day for day in days if versions[day] != NOT_REQUIRED or day in present]


def _lock(store: Store, lead: Table) -> AbstractContextManager[None]:
    """Returns the lock to build a partition: shared if others may build other days meanwhile."""
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
        mask = partial(_without_secrets, table, report)
        # One frame, or several that are made while they are written.
        frame = frames[table.name]  # pyright: ignore[reportArgumentType]
        masked = mask(frame) if isinstance(frame, pl.DataFrame) else map(mask, frame)
        info = store.tables.write(table.name, part, masked, inputs=version)
        report.counts["rows"] += info.rows
        if isinstance(masked, pl.DataFrame) and table.name in COUNTED:
            report.counts.update(_counted(table.name, masked))


def _counted(table: str, rows: pl.DataFrame) -> dict[str, int]:
    """Returns the counts of the table that `COUNTED` names."""
    column, names = COUNTED[table]
    counts = counts_of(rows, column)
    return {
        name: rows.height if value is None else counts.get(value, 0)
        for name, value in names.items()
    }


def _without_secrets(table: Table, report: Report, built: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows with secrets masked.

    Captured texts are masked already. A secret may still appear where a table joins or shortens
    them. A row that holds a secret even then is left out, with a warning that names the row and the
    rule. Of rows that have the same key after masking, only the first is returned.
    """
    masked = redact.mask_frame(built)
    key = schemas.key_of(table.name)
    if masked.equals(built):
        return built
    secret = redact.secret_rows(masked)
    for row in secret[:SHOWN_ROWS]:
        row_key = ", ".join(f"{name} {redact.mask_text(str(masked[name][row]))[0]}" for name in key)
        rules = ", ".join(redact.secret_rules(masked, row))
        report.warnings.append(
            f"{table.name}: a row that holds a secret was put aside: {row_key} ({rules})."
        )
    writable = masked.filter(~pl.int_range(pl.len()).is_in(secret))
    return writable.unique(key, keep="first", maintain_order=True)


def data_version(store: Store, table: Table, partitions: Sequence[str]) -> str | None:
    """Returns the hash of the rows of the partitions; None for a file or an index."""
    if not table.record:
        return None
    parts = store.tables.parts(table.name, partitions if table.is_partitioned else None)
    return hash_of(*(f"{part}={info.fingerprint}" for part, info in parts.items()))
