"""A part is replaced whole or not at all, under the eyes of readers; wrong rows and broken files say so."""

import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from memory_assets.errors import StoreError, TableError
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets_tests.factories import frame, message

TABLE = "messages"


@pytest.fixture
def tables(tmp_path: Path) -> ParquetTables:
    return ParquetTables(tmp_path / "tables")


def rows(*ordinals: int, text: str = "Use uv.") -> pl.DataFrame:
    return frame(TABLE, *(message(text, ordinal) for ordinal in ordinals))


def test_what_was_written_is_read_in_the_order_of_its_key(tables: ParquetTables):
    tables.write(TABLE, "2026-08-03", rows(2, 0, 1))
    assert tables.read(TABLE).equals(rows(0, 1, 2))


def test_a_part_is_replaced_and_the_others_stay(tables: ParquetTables):
    tables.write(TABLE, "2026-08-03", rows(0, 1))
    tables.write(TABLE, "2026-08-04", rows(5))
    tables.write(TABLE, "2026-08-03", rows(2))
    assert tables.read(TABLE).equals(rows(2, 5))
    assert tables.read(TABLE, ["2026-08-04"], ["ordinal"])["ordinal"].to_list() == [5]


def test_the_same_rows_have_the_same_fingerprint_in_any_order(tables: ParquetTables):
    first = tables.write(TABLE, "a", rows(0, 1), inputs="x")
    second = tables.write(TABLE, "b", rows(1, 0), inputs=lambda: "y")
    assert first.fingerprint == second.fingerprint != tables.write(TABLE, "b", rows(0, 2)).fingerprint
    assert (first.rows, first.inputs, second.inputs) == (2, "x", "y")


def test_parts_are_told_by_name_in_order(tables: ParquetTables):
    for part in ("b", "a"):
        tables.write(TABLE, part, rows(0))
    assert list(tables.parts(TABLE)) == ["a", "b"]
    assert list(tables.parts(TABLE, ["b", "missing"])) == ["b"]


def test_a_part_that_was_never_written_has_no_rows(tables: ParquetTables):
    assert tables.read(TABLE, ["2026-01-01"]).equals(rows())


def test_a_part_may_be_written_empty(tables: ParquetTables):
    assert tables.write(TABLE, "a", rows()).rows == 0
    assert tables.write(TABLE, "b", iter(())).rows == 0
    assert tables.read(TABLE).equals(rows())


def test_a_dropped_part_is_gone_and_dropping_it_again_is_nothing(tables: ParquetTables):
    tables.write(TABLE, "a", rows(0))
    tables.drop(TABLE, "a")
    tables.drop(TABLE, "a")
    assert tables.parts(TABLE) == {}


def test_frames_are_written_as_they_come(tables: ParquetTables):
    pulled: list[int] = []

    def stream() -> Iterator[pl.DataFrame]:
        for n in range(4):
            pulled.append(n)
            yield rows(2 * n, 2 * n + 1)

    assert tables.write(TABLE, "a", stream(), inputs=lambda: f"after {len(pulled)}").inputs == "after 4"
    assert tables.read(TABLE).equals(rows(*range(8)))


def test_a_key_that_two_frames_repeat_is_refused_and_the_old_rows_stay(tables: ParquetTables):
    tables.write(TABLE, "a", rows(7))
    with pytest.raises(TableError, match="repeat a key"):
        tables.write(TABLE, "a", iter([rows(0, 1), rows(1, 2)]))
    assert tables.read(TABLE).equals(rows(7))
    assert not list(tables.root.rglob("*.tmp"))


@pytest.mark.parametrize(
    "wrong",
    [
        rows(0).drop("text"),
        rows(0).with_columns(pl.lit("robot").alias("author")),
        rows(0).with_columns(pl.lit(None, pl.String).alias("text")),
        rows(0).with_columns(pl.lit(-1, pl.Int64).alias("ordinal")),
        pl.concat([rows(0), rows(0)]),
    ],
    ids=["column missing", "value not allowed", "null", "out of bounds", "key twice"],
)
def test_wrong_rows_are_refused_and_the_old_ones_stay(tables: ParquetTables, wrong: pl.DataFrame):
    tables.write(TABLE, "a", rows(7))
    with pytest.raises((TableError, pl.exceptions.ColumnNotFoundError)):
        tables.write(TABLE, "a", wrong)
    assert tables.read(TABLE).equals(rows(7))


def test_readers_see_the_old_rows_or_the_new_ones_while_parts_are_swapped(tables: ParquetTables):
    tables.write(TABLE, "a", rows(0, 1, text="0"))
    seen: list[tuple[int, int]] = []
    broken: list[Exception] = []
    done = threading.Event()

    def keep_reading() -> None:
        while not done.is_set():
            try:
                read = tables.read(TABLE)
                seen.append((read.height, read["text"].n_unique()))
            except Exception as error:  # whatever it is, the test must see it
                broken.append(error)

    reader = threading.Thread(target=keep_reading)
    reader.start()
    for n in range(1, 40):
        tables.write(TABLE, "a", rows(0, 1, text=str(n)))
    done.set()
    reader.join()
    assert broken == []
    assert set(seen) == {(2, 1)}


def test_a_missing_file_names_itself_and_the_command_that_helps(tables: ParquetTables):
    tables.write(TABLE, "a", rows(0))
    (file,) = tables.root.rglob("part-*.parquet")
    file.unlink()
    with pytest.raises(StoreError, match=r"lacks .*part-.*memory rebuild"):
        tables.read(TABLE)


def test_a_broken_manifest_names_itself(tables: ParquetTables):
    tables.write(TABLE, "a", rows(0))
    (tables.root / TABLE / "a" / "manifest.json").write_text("{")
    with pytest.raises(StoreError, match=r"manifest\.json"):
        tables.read(TABLE)


def test_an_unknown_table_is_named_with_the_known_ones(tables: ParquetTables):
    with pytest.raises(TableError, match="no table 'mesages'.*messages"):
        tables.read("mesages")


def test_files_are_their_owners_alone(tables: ParquetTables):
    tables.write(TABLE, "a", rows(0))
    (file,) = tables.root.rglob("part-*.parquet")
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_purge_leaves_nothing_but_what_the_manifests_name(tables: ParquetTables):
    tables.write(TABLE, "2026-08-03", rows(0))
    tables.write(TABLE, "2026-08-03", rows(1))
    for name in ("messages/2026-08-03/.12-3.tmp", "a_table_of_old/all/part-0.parquet"):
        (tables.root / name).parent.mkdir(parents=True, exist_ok=True)
        (tables.root / name).write_bytes(b"x")
    tables.purge()
    left = sorted(path.name.split("-")[0] for path in tables.root.rglob("*") if path.is_file())
    assert left == ["manifest.json", "part"]
    assert tables.read(TABLE).equals(rows(1))
