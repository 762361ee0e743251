"""A tick of a sensor or schedule that meets a damaged table is skipped, and says which table that is."""

from datetime import UTC, datetime

import dagster as dg
import pytest

from memory_assets.assets.automation import make_schedules, new_transcripts, review_changes
from memory_assets.assets.freshness import deadlines
from memory_assets.store.store import Store
from memory_assets_tests.simulated import at_moment
from memory_assets_tests.small_store import bring_up_to_date, small_store

NOON = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
DISTIL_WEEKS = next(item for item in make_schedules("UTC") if item.name == "distil_weeks")
Starter = dg.SensorDefinition | dg.ScheduleDefinition


def skipped(starter: Starter, store: Store) -> str:
    """Why one tick is skipped; empty if it is not."""
    options = {"resources": {"store": store}}
    with dg.DagsterInstance.ephemeral() as instance:
        if isinstance(starter, dg.ScheduleDefinition):
            schedule_context = dg.build_schedule_context(instance, NOON, **options)
            return starter.evaluate_tick(schedule_context).skip_message or ""
        with dg.build_sensor_context(instance, **options) as context:
            return starter.evaluate_tick(context).skip_message or ""


@pytest.mark.parametrize("kept", [slice(0, -40), slice(40, None)], ids=["start", "end"])
@pytest.mark.parametrize(
    "starter",
    [deadlines, new_transcripts, review_changes, DISTIL_WEEKS],
    ids=lambda item: item.name,
)
def test_a_damaged_table_skips_one_tick_which_names_it(starter: Starter, kept: slice):
    store = at_moment(small_store(), NOON)
    bring_up_to_date(at_moment(store, NOON.replace(hour=0)))
    for path in (store.root / "tables" / "windows").rglob("data.parquet"):
        path.write_bytes(path.read_bytes()[kept])
    assert skipped(starter, store).startswith("tables/windows/data.parquet was damaged (")
    assert "damaged" not in skipped(starter, store)
