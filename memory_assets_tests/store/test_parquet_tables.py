"""A part is replaced whole or not at all while it is read; wrong rows and broken files are errors that name themselves."""

import shutil
import signal
import subprocess
import sys
import threading
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from memory_assets.errors import DamagedError, TableError
from memory_assets.store import parquet_tables
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets_tests.factories import frame, message
from memory_assets_tests.small_disk import fill, small_disk

TABLE = "messages"
DAY, NEXT = "2026-08-03", "2026-08-04"


@pytest.fixture
def tables(tmp_path: Path) -> ParquetTables:
    return ParquetTables(tmp_path / "tables")


def rows(*ordinals: int, text: str = "Use uv.", day: str = DAY) -> pl.DataFrame:
    return frame(
        TABLE, *(message(text, ordinal, day=date.fromisoformat(day)) for ordinal in ordinals)
    )


def file_of(tables: ParquetTables, part: str = DAY) -> Path:
    return tables.root / TABLE / f"day={part}" / "data.parquet"


def test_a_key_that_two_frames_repeat_is_refused_and_the_old_rows_stay(tables: ParquetTables):
    tables.write(TABLE, DAY, rows(7))
    with pytest.raises(TableError, match="repeat a key"):
        tables.write(TABLE, DAY, iter([rows(0, 1), rows(1, 2)]))
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
    tables.write(TABLE, DAY, rows(7))
    with pytest.raises((TableError, pl.exceptions.ColumnNotFoundError)):
        tables.write(TABLE, DAY, wrong)
    assert tables.read(TABLE).equals(rows(7))


def test_readers_see_the_old_rows_or_the_new_ones_while_parts_are_swapped(tables: ParquetTables):
    tables.write(TABLE, DAY, rows(0, 1, text="0"))
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
        tables.write(TABLE, DAY, rows(0, 1, text=str(n)))
    done.set()
    reader.join()
    assert broken == []
    assert set(seen) == {(2, 1)}


@pytest.mark.parametrize(
    "content", [b"", b"PAR1 half a file", b"PAR1" + bytes(40) + b"\x04\0\0\0PAR1"]
)
def test_a_broken_file_names_itself_and_the_command_that_helps(
    tables: ParquetTables, content: bytes
):
    tables.write(TABLE, DAY, rows(0))
    file_of(tables).write_bytes(content)
    with pytest.raises(DamagedError, match=r"day=2026-08-03/data\.parquet.*memory ingest"):
        tables.read(TABLE)


def test_an_unknown_table_is_named_with_the_known_ones(tables: ParquetTables):
    with pytest.raises(TableError, match="no table 'mesages'.*messages"):
        tables.read("mesages")


def test_files_are_their_owners_alone(tables: ParquetTables):
    tables.write(TABLE, DAY, rows(0))
    assert {path.stat().st_mode & 0o777 for path in tables.root.rglob("*.parquet")} == {0o600}


def test_a_purge_leaves_nothing_but_parts(tables: ParquetTables):
    tables.write(TABLE, DAY, rows(0))
    for name in (
        ".writing/12-3.tmp",
        "messages/2026-08-03/part-0.parquet",
        "a_table_of_old/all/manifest.json",
    ):
        (tables.root / name).parent.mkdir(parents=True, exist_ok=True)
        (tables.root / name).write_bytes(b"x")
    tables.purge()
    assert {str(path.relative_to(tables.root / TABLE)) for path in tables.root.rglob("*")} - {"."} == {
        "day=2026-08-03", "day=2026-08-03/data.parquet", "day=1970-01-01", "day=1970-01-01/columns.parquet",
    }  # fmt: skip
    assert tables.read(TABLE).equals(rows(0))


def test_rows_of_another_day_are_refused_and_the_old_ones_stay(tables: ParquetTables):
    tables.write(TABLE, DAY, rows(0))
    with pytest.raises(TableError, match="their day is not 2026-08-03"):
        tables.write(TABLE, DAY, rows(1, day=NEXT))
    assert tables.read(TABLE).equals(rows(0))


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ("messages", "all"),
        ("messages", "2026-8-3"),
        ("memories", DAY),
        ("dropped_facts", "week"),
        ("records", "../s1"),
    ],
)
def test_a_part_that_a_table_cannot_have_is_refused_if_written_and_empty_if_read(
    tables: ParquetTables, table: str, part: str
):
    with pytest.raises(TableError, match="cannot have a partition"):
        tables.write(table, part, frame(table))
    tables.drop(table, part)
    assert tables.read(table, [part]).equals(frame(table))


def test_a_reader_that_planned_before_a_part_was_dropped_still_reads(tables: ParquetTables):
    tables.write(TABLE, DAY, rows(0))
    tables.write(TABLE, NEXT, rows(1, day=NEXT))
    planned = tables.scan(TABLE)
    tables.drop(TABLE, DAY)
    tables.purge()
    assert planned.collect().equals(rows(1, day=NEXT))


def test_the_file_of_a_dropped_part_goes_a_day_later(
    tables: ParquetTables, monkeypatch: pytest.MonkeyPatch
):
    tables.write(TABLE, DAY, rows(0))
    tables.drop(TABLE, DAY)
    assert file_of(tables).is_file()
    monkeypatch.setattr(parquet_tables, "KEEP_DROPPED_SECONDS", 0)
    tables.drop(TABLE, DAY)
    assert not file_of(tables).parent.exists()


def test_a_column_that_was_added_since_is_empty(tables: ParquetTables):
    tables.write(TABLE, DAY, rows(0))
    path = file_of(tables)
    facts = pq.read_metadata(path).metadata[b"memory_assets"]
    older = pq.read_table(path, partitioning=None).drop_columns(["tool_name"])
    pq.write_table(older.replace_schema_metadata({"memory_assets": facts}), path)
    assert tables.read(TABLE).equals(rows(0))


def test_a_column_that_an_earlier_release_had_is_no_damage(tables: ParquetTables):
    tables.write(TABLE, DAY, rows(0))
    path = file_of(tables)
    facts = pq.read_metadata(path).metadata[b"memory_assets"]
    now = pq.read_table(path, partitioning=None)
    former = now.append_column("mood", [["calm"] * now.num_rows])
    pq.write_table(former.replace_schema_metadata({"memory_assets": facts}), path)
    assert tables.read(TABLE).equals(rows(0))
    assert list(tables.damaged([TABLE])) == []


def test_tables_below_a_folder_that_is_named_like_a_partition_are_read(tmp_path: Path):
    tables = ParquetTables(tmp_path / "text=other" / "tables")
    tables.write(TABLE, DAY, rows(0))
    tables.write(TABLE, NEXT, rows(1, day=NEXT))
    assert tables.read(TABLE).equals(pl.concat([rows(0), rows(1, day=NEXT)]))


@pytest.mark.parametrize("step", ["ParquetWriter", "_fill_up", "_flush", "replace", "sync_folder"])
def test_a_process_killed_between_any_two_writes_leaves_the_old_rows_or_the_new_ones(
    tmp_path: Path, step: str
):
    tables = ParquetTables(tmp_path / "tables")
    tables.write(TABLE, DAY, rows(0), inputs="old")
    shutil.copytree(tables.root, tmp_path / "killed")
    code = KILLED.format(root=str(tmp_path / "killed"), step=step)
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    killed = ParquetTables(tmp_path / "killed")
    is_new = step == "sync_folder"
    assert killed.read(TABLE).equals(rows(1, 2) if is_new else rows(0))
    assert killed.parts(TABLE)[DAY].inputs == ("new" if is_new else "old")
    assert pl.read_parquet(
        f"{killed.root}/{TABLE}/**/*.parquet", hive_partitioning=True
    ).height == (2 if is_new else 1)
    killed.purge()
    assert not list(killed.root.rglob("*.tmp"))
    killed.write(TABLE, DAY, rows(3), inputs="later")
    assert killed.read(TABLE).equals(rows(3))


KILLED = """
import os, signal
from pathlib import Path
import pyarrow.parquet as pq
from memory_assets.store import parquet_tables as module
from memory_assets_tests.store.test_parquet_tables import DAY, TABLE, rows

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

class Dying(pq.ParquetWriter):
    write_table = die

place = {{"ParquetWriter": pq, "replace": os}}.get({step!r}, module)
setattr(place, {step!r}, Dying if {step!r} == "ParquetWriter" else die)
module.ParquetTables(Path({root!r})).write(TABLE, DAY, rows(1, 2), inputs="new")
"""


def test_a_partition_that_a_killed_writer_replaced_unmarked_is_noticed(
    tables: ParquetTables, monkeypatch: pytest.MonkeyPatch
):
    tables.write(TABLE, DAY, rows(0))
    before = tables.fingerprints(TABLE)  # read just after the writer's first mark
    monkeypatch.setattr(ParquetTables, "_mark_changed", lambda self, table: None)
    tables.write(TABLE, DAY, rows(1))
    assert tables.fingerprints(TABLE) != before


def test_a_full_disk_in_memory_is_read(tmp_path: Path):
    with small_disk(tmp_path / "disk", 200_000) as disk:
        tables = ParquetTables(disk / "tables")
        tables.write(TABLE, DAY, rows(1, 2))
        fill(disk)
        reading = "import polars, sys; print(polars.read_parquet(sys.argv[1], hive_partitioning=False).height)"
        command = [sys.executable, "-c", reading, str(file_of(tables))]
        read = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (read.returncode, read.stdout) == (0, "2\n"), read.stderr
