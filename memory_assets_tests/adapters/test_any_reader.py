"""Other programs read the rows, columns and types of `scan`, also while parts are rebuilt: each part old or new, none twice."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from itertools import count
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from memory_assets.schema.frames import key_of, partitioned_by, record_of, schema_of
from memory_assets.schema.tables import table_names
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets_tests.factories import frame, message, row
from memory_assets_tests.readers import READERS

DAYS = ("2026-08-03", "2026-08-04", "2026-08-05")
PARTS = {
    (): ["all"],
    ("day",): list(DAYS),
    ("source_id",): ["123", "0f3a", "2026-08-03"],
    ("category",): ["operations", "projects"],
    ("span", "day"): ["week-2026-08-03", "day-2026-08-03"],
}


def parts_of(table: str) -> list[str]:
    """Names of partitions; those of optional capabilities are ids."""
    return PARTS.get(partitioned_by(table), ["doc_0f3a", "doc_123"])


REBUILDS = 30
"""Parts that are rebuilt while a test reads."""

SOME = {"vector": [0.5, 1.0], "words": b"\x01\xff", "message_ids": ["a", "b"], "lines": [3]}


@pytest.fixture
def tables(tmp_path: Path) -> ParquetTables:
    return ParquetTables(tmp_path / "tables")


def rows_of(table: str, part: str) -> pl.DataFrame:
    """Rows of the part with values in columns of every type: two, where a text of the key may be anything."""
    keys = partitioned_by(table)
    shared = dict(zip(keys, part.split("-", len(keys) - 1) if keys else [], strict=True))
    values = {
        name: date.fromisoformat(value) if name == "day" else value
        for name, value in shared.items()
    }
    values |= {name: value for name, value in SOME.items() if name in schema_of(table)}
    fields = record_of(table).model_fields
    texts = [name for name in key_of(table) if name not in keys and fields[name].annotation is str]
    others = [{name: f"another {name}" for name in texts}] if texts else []
    return frame(table, *(row(table, **values, **changes) for changes in [{}, *others]))


def assert_read_alike(
    tables: ParquetTables, table: str, reader: Callable[[Path, str], pl.DataFrame]
) -> None:
    expected, found = tables.scan(table).collect(), reader(tables.root, table)
    assert sorted(found.columns) == sorted(expected.columns)
    assert_frame_equal(found, expected, check_column_order=False, check_row_order=False)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("table", table_names())
def test_every_table_is_read_as_scan_reads_it(
    tables: ParquetTables, table: str, reader: Callable[[Path, str], pl.DataFrame]
):
    for part in parts_of(table):
        tables.write(table, part, rows_of(table, part))
    assert tables.read(table).height >= len(parts_of(table))
    assert_read_alike(tables, table, reader)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_rebuilt_empty_and_dropped_parts_count_once_or_not(
    tables: ParquetTables, reader: Callable[[Path, str], pl.DataFrame]
):
    for _ in range(2):
        for day in DAYS:
            tables.write("observations", day, rows_of("observations", day))
    tables.write("observations", DAYS[0], frame("observations"))
    tables.drop("observations", DAYS[1])
    assert tables.read("observations")["day"].unique().to_list() == [date(2026, 8, 5)]
    assert_read_alike(tables, "observations", reader)


@contextmanager
def rebuilt(tables: ParquetTables) -> Iterator[Callable[[], bool]]:
    """Rebuilds the days of `messages` again and again, and gives a function that says whether that was often enough.

    In each version all rows of a day say the same; how many rows there are varies.
    """
    done, written = threading.Event(), count(1)
    enough = threading.Event()

    def rebuild() -> None:
        for version in count(1):
            for day in DAYS:
                if done.is_set():
                    return
                write_version(tables, day, version)
                if next(written) >= REBUILDS:
                    enough.set()

    for day in DAYS:
        write_version(tables, day, 0)
    writer = threading.Thread(target=rebuild)
    writer.start()
    try:
        yield lambda: enough.is_set() or not writer.is_alive()
    finally:
        done.set()
        writer.join()


def write_version(tables: ParquetTables, day: str, version: int) -> None:
    base = 100_000 * DAYS.index(day)
    said = (
        message(f"{day} {version}", base + n, day=date.fromisoformat(day))
        for n in range(size_of(version))
    )
    tables.write("messages", day, frame("messages", *said))


def size_of(version: int) -> int:
    return 20 + version * 37 % 101


def assert_whole(found: pl.DataFrame) -> None:
    """Each day is one of its versions, whole."""
    versions = (
        found.group_by("day").agg(pl.col("text").unique().alias("texts"), pl.len()).sort("day")
    )
    assert versions["day"].to_list() == [date.fromisoformat(day) for day in DAYS]
    for day, texts, height in versions.iter_rows():
        (text,) = texts
        assert text.startswith(f"{day} ") and height == size_of(int(text.split()[-1]))


@pytest.mark.parametrize("reader", [*READERS.values(), None], ids=[*READERS, "read"])
def test_no_read_fails_while_parts_are_rebuilt_and_each_is_old_or_new(
    tables: ParquetTables, reader: Callable | None
):
    seen = set()
    with rebuilt(tables) as is_enough:
        while not is_enough():
            found = reader(tables.root, "messages") if reader else tables.read("messages")
            assert_whole(found)
            seen.update(found["text"].unique())
    assert len(seen) > len(DAYS)
