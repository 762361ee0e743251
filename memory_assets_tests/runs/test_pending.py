"""What waits to be done: days become stretches, small gaps are bridged, long ones are not, none is lost."""

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_assets.runs.pending import note_triaged, review_inputs, review_is_behind

from memory_assets.runs.days import LONGEST_STRETCH, Stretch, stretches
from memory_assets_tests.small_store import small_store

DAYS = st.lists(st.dates(date(2026, 1, 1), date(2026, 12, 31)), max_size=60)


def test_neighbouring_days_are_one_stretch():
    assert stretches([date(2026, 4, 9), date(2026, 4, 8)]) == [Stretch(date(2026, 4, 8), date(2026, 4, 9))]


def test_a_small_gap_is_bridged_and_a_long_one_is_not():
    assert stretches([date(2026, 4, 1), date(2026, 4, 5), date(2026, 4, 20)]) == [
        Stretch(date(2026, 4, 1), date(2026, 4, 5)),
        Stretch(date(2026, 4, 20), date(2026, 4, 20)),
    ]


@given(DAYS)
def test_every_day_is_in_exactly_one_stretch_of_at_most_a_month(days: list[date]):
    found = stretches(days)
    covered = [day for stretch in found for day in stretch.days()]
    assert set(days) <= set(covered)
    assert len(covered) == len(set(covered))
    assert all(len(stretch.days()) <= LONGEST_STRETCH for stretch in found)
    assert all(a.last + timedelta(1) < b.first or len(a.days()) + len(b.days()) > LONGEST_STRETCH for a, b in pairwise(found))


def test_decisions_that_are_gone_are_made_again_though_nothing_else_changed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_NOW", "2026-08-04T12:00:00+00:00")
    store = small_store()
    note_triaged(store, review_inputs(store))
    assert not review_is_behind(store)
    store.tables.drop("decisions", "all")
    assert review_is_behind(store)
