"""Days become stretches: small gaps are bridged, long ones are not, no day is lost."""

from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.runs.days import (
    LONGEST_STRETCH,
    Stretch,
    first_day_of,
    newest_first,
    stretches,
)
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.factories import frame

DAYS = st.lists(st.dates(date(2026, 1, 1), date(2026, 12, 31)), max_size=60)


def test_a_small_gap_is_bridged_and_a_long_one_is_not():
    assert stretches([date(2026, 4, 1), date(2026, 4, 5), date(2026, 4, 20)]) == [
        Stretch(date(2026, 4, 1), date(2026, 4, 5)),
        Stretch(date(2026, 4, 20), date(2026, 4, 20)),
    ]


def test_a_job_of_few_tables_bridges_longer_gaps():
    days = [date(2026, 4, 1), date(2026, 4, 20)]
    assert len(stretches(days, "process_days")) == 2
    assert stretches(days, "find_friction") == [Stretch(*days)]
    assert newest_first(days, [], "encode_messages") == [Stretch(*days)]


@given(DAYS)
def test_every_day_is_in_exactly_one_stretch_of_at_most_a_month(days: list[date]):
    found = stretches(days)
    covered = [day for stretch in found for day in stretch.days()]
    assert set(days) <= set(covered)
    assert len(covered) == len(set(covered))
    assert all(len(stretch.days()) <= LONGEST_STRETCH for stretch in found)
    assert all(
        a.last + timedelta(1) < b.first or len(a.days()) + len(b.days()) > LONGEST_STRETCH
        for a, b in pairwise(found)
    )


def test_the_first_day_is_that_of_the_earliest_partition_of_any_table_or_today(tmp_path: Path):
    store = open_store(read_settings(data=str(tmp_path / "other")))
    assert first_day_of(store) == store.settings.today()
    store.tables.write("observations", "2026-08-03", frame("observations"), inputs="x")
    store.tables.write("messages", "2026-08-05", frame("messages"), inputs="x")
    assert first_day_of(store) == date(2026, 8, 3)
    for damaged in (store.root / "tables" / "observations").rglob("*.parquet"):
        damaged.write_bytes(damaged.read_bytes()[:-40])
    assert first_day_of(open_store(store.settings)) == date(2026, 8, 5)


def day(number: int) -> date:
    return date(2026, 4, 1) + timedelta(days=number)
