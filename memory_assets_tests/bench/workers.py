"""Days processed by several processes at once: how long an ingest takes with one and with two, and that all make the same tables.

`WORKERS_SESSIONS=20` takes so many of the transcripts, evenly spread; without it, all. Four processes on fewer cores say nothing
about time: they are run for their tables alone.
"""

import os
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.bench.pipeline import OWNER, ingest
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import folder
from memory_assets_tests.story import all_tables, assert_same_tables

TIMED, CHECKED = (1, 2), 4
NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
"""The clock of all stores: what is written must not depend on how long writing takes."""


def workers(small: bool = False) -> list[Row]:
    """Returns the time of an ingest with two processes over that with one, and how many tables differ."""
    wanted = os.environ.get("WORKERS_SESSIONS", "")
    with tempfile.TemporaryDirectory(prefix="bench-workers-") as name:
        sources = (
            folder(small)
            if small or not wanted
            else _some(folder(), int(wanted), Path(name, "some"))
        )
        told = f"{len(list(sources.rglob('*.jsonl')))} transcripts, {os.cpu_count()} cores"
        seconds = {count: _ingest(Path(name), sources, count) for count in (*TIMED, CHECKED)}
        tables = {count: _tables(Path(name), count) for count in seconds}
    one, two = (seconds[count] for count in TIMED)
    first = tables[TIMED[0]]
    differing = [
        f"{table} with {count}"
        for count in (TIMED[1], CHECKED)
        for table in _differing(tables[count], first)
    ]
    rows = sum(frame.height for frame in first.values())
    return [
        Row(
            "workers: seconds of an ingest with 2 / with 1",
            two / one,
            f"{two:.1f} s against {one:.1f} s; {told}",
        ),
        Row(
            "workers: tables that differ with 2 or 4",
            len(differing),
            ", ".join(differing) or f"{rows:,} rows alike",
            limit=0,
        ),
    ]


def _some(whole: Path, count: int, into: Path) -> Path:
    """Copies so many transcripts, evenly spread over the sorted ones."""
    found = sorted(whole.rglob("*.jsonl"))
    for number in range(min(count, len(found))):
        path = found[number * len(found) // min(count, len(found))]
        target = into / path.relative_to(whole)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    return into


def _ingest(home: Path, sources: Path, count: int) -> float:
    own = home / str(count)
    own.mkdir()
    return ingest(own, sources, MEMORY_WORKERS=str(count), MEMORY_NOW=NOW.isoformat())


def _tables(home: Path, count: int) -> dict[str, pl.DataFrame]:
    return all_tables(
        open_store(
            read_settings(data=home / str(count) / "store", timezone="UTC", owner=OWNER, now=NOW)
        )
    )


def _differing(found: dict[str, pl.DataFrame], expected: dict[str, pl.DataFrame]) -> list[str]:
    """Returns the names of the tables that differ."""
    differing = []
    for table, frame in expected.items():
        try:
            assert_same_tables({table: found[table]}, {table: frame})
        except AssertionError:
            differing.append(table)
    return differing
