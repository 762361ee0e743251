"""Schemas follow the records: types, bounds, unique keys; the dictionary in docs says the same."""

import polars as pl
import pytest

from memory_assets.errors import TableError
from memory_assets.schema import frames as tables
from memory_assets.schema.tables import table_names
from memory_assets_tests.factories import frame, row
from memory_assets_tests.generated import TABLES_MD, columns_of, render_dictionary
from memory_assets_tests.of_extras import needs_all


@needs_all
def test_the_dictionary_in_docs_is_true():
    """Made by `make docs`."""
    assert TABLES_MD.read_text("utf-8") == render_dictionary()


@pytest.mark.parametrize("table", table_names())
def test_every_column_says_what_it_means(table: str):
    assert [name for name, _, meaning in columns_of(table) if len(meaning) < 4] == []


@pytest.mark.parametrize("table", table_names())
def test_every_table_has_a_key_among_its_columns(table: str):
    assert tables.key_of(table)
    assert set(tables.key_of(table)) <= set(tables.schema_of(table))


@pytest.mark.parametrize("table", table_names())
def test_a_repeated_key_is_refused_in_every_table(table: str):
    with pytest.raises(TableError, match=f"'{table}'"):
        tables.check(table, frame(table, row(table), row(table)))


def test_two_rows_with_one_key_are_refused():
    with pytest.raises(TableError, match="Rows of 'segments' break its schema"):
        tables.check("segments", frame("segments", row("segments"), row("segments")))


def test_a_value_that_is_none_of_the_allowed_is_refused():
    with pytest.raises(TableError, match="priority"):
        tables.check("observations", frame("observations", row("observations", priority="urgent")))


def test_the_rows_that_break_a_rule_are_named_by_their_keys_and_a_frame_with_other_columns_names_none():
    given = ({"id": "good"}, {"id": "bad", "confidence": 1.5}, {"id": "twice"}, {"id": "twice"})
    rows = [row("observations", **each) for each in given]
    found = frame("observations", *rows)
    assert tables.find_broken("observations", found)["id"].to_list() == ["bad", "twice", "twice"]
    assert tables.find_broken("observations", found.drop("text")).is_empty()


def test_a_missing_column_is_named():
    with pytest.raises(TableError, match="narrative"):
        tables.check("segments", frame("segments", row("segments")).drop("narrative"))


def test_an_optional_column_may_be_empty_and_another_may_not():
    tables.check("windows", frame("windows", row("windows", day=None)))
    with pytest.raises(TableError):
        tables.check(
            "windows", frame("windows", row("windows")).with_columns(path=pl.lit(None, pl.String))
        )


def test_rows_of_another_shape_are_refused_with_the_table_named():
    with pytest.raises(TableError, match="'segments'"):
        tables.frame_of("segments", [{"ordinal": "seven"}])
