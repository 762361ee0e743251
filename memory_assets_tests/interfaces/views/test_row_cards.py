"""Cards of rows: every table has one, with a title, few fields and its ids."""

from datetime import UTC, datetime

import pytest

from memory_assets.interfaces.views.row_cards import (
    FIELDS,
    MOMENTS,
    MOST_FIELDS,
    TITLES,
    render_cards,
)
from memory_assets.schema.frames import key_of, record_of
from memory_assets.schema.tables import table_names
from memory_assets.services.search.table_rows import ShownRows

ROW = {
    "id": "a1", "session_id": "s1", "text": "Use uv,\n never pip.", "gate": "allow", "project": "shop", "category": "operations",
    "priority": "high", "kind": "fact", "author": "owner", "event_at": datetime(2026, 8, 3, 9, 0, tzinfo=UTC), "tokens": 5,
    "quote": "", "person": None, "tags": [],
}  # fmt: skip


def shown(row: dict[str, object]) -> ShownRows:
    return ShownRows("observations", tuple(row), (row,), 7, ("id",))


def test_a_card_has_a_title_what_matters_and_the_ids():
    assert [str(part) for part in render_cards(shown(ROW))] == [
        "1. Use uv, never pip.",
        "   event_at 2026-08-03 09:00, gate allow, project shop, category operations, priority high, kind fact",
        "   id a1, session_id s1",
        "1 of 7 rows of observations; --all shows every field, --json is for programs",
    ]


@pytest.mark.parametrize("table", table_names())
def test_each_table_has_a_title_or_fields(table: str):
    columns = set(record_of(table).model_fields)
    assert columns & {*TITLES, *FIELDS, *MOMENTS}
    assert set(key_of(table)) <= columns
    row = dict.fromkeys(columns, "x")
    title, fields, *_ = map(
        str, render_cards(ShownRows(table, tuple(row), (row,), 1, tuple(key_of(table))))
    )
    assert title.startswith("1. ")
    assert fields.count(", ") < MOST_FIELDS
