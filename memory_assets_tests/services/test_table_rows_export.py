"""Exports: every row once, in order, in each format; a file that only the owner can read."""

import csv
import io
import json
import stat
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from memory_assets.errors import StoreError, TableError
from memory_assets.schema.vocabulary import FileFormat
from memory_assets.services.search.table_rows import export_file, export_table, frames_of
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import FACT, MEMORY, small_store, write

PROMISED = ["id", "session", "path", "text", "gate", "priority", "category", "event_at", "lines"]


def observations() -> Iterator[pl.DataFrame]:
    return frames_of(small_store().tables, "observations")


def exported(format: FileFormat, table: str = "observations") -> bytes:
    into = io.BytesIO()
    export_table(table, frames_of(small_store().tables, table), into, format)
    return into.getvalue()


def test_an_observation_has_the_columns_that_others_rely_on():
    (line,) = exported("jsonl").splitlines()
    found = json.loads(line)
    assert [found[name] for name in PROMISED] == [
        MEMORY, "session-1", "/home/mira/s1.jsonl", FACT, "allow", "high", "rules-conventions",
        "2026-08-03T09:02:00+00:00", [3],
    ]  # fmt: skip


def test_csv_keeps_lists_as_json():
    (found,) = csv.DictReader(io.StringIO(exported("csv").decode()))
    assert json.loads(found["entities"]) == ["uv", "pip"]
    assert json.loads(found["lines"]) == [3]
    assert found["session"] == "session-1"


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_bytes_are_written_as_base64(format: FileFormat):
    store, into = small_store(), io.BytesIO()
    write(store, "passage_vectors", "2026-08-03", row("passage_vectors", words=b"\x01\xff"))
    export_table("passage_vectors", frames_of(store.tables, "passage_vectors"), into, format)
    assert b"Af8=" in into.getvalue()


def test_parquet_keeps_the_types():
    found = pl.read_parquet(io.BytesIO(exported("parquet")))
    assert found["lines"].to_list() == [[3]]
    assert found.schema["event_at"] == pl.Datetime("us", "UTC")


def test_csv_of_several_days_has_one_header():
    store = small_store()
    write(store, "observations", "2026-08-01", row("observations", id="a"))
    into = io.BytesIO()
    assert export_table("observations", frames_of(store.tables, "observations"), into, "csv") == 2
    assert [found["id"] for found in csv.DictReader(io.StringIO(into.getvalue().decode()))] == [
        "a",
        MEMORY,
    ]


def test_an_exported_file_is_the_owners_alone(tmp_path: Path):
    path = tmp_path / "out" / "observations.jsonl"
    assert export_file("observations", observations(), path, "jsonl") == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_unknown_table_is_answered_with_the_known_ones():
    with pytest.raises(
        TableError, match=r"There is no table 'observation'\. The tables are: .*resources, records"
    ):
        exported("jsonl", "observation")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        StoreError, match=r"Cannot export 'observations' to .*name another file with -o"
    ):
        export_file("observations", observations(), tmp_path / "file" / "out.csv", "csv")
