"""Freshness in Dagster: the sensor that keeps assets fresh while no input waits for them.

Every asset has a freshness policy with the deadline of its declaration. Dagster counts from the
last materialisation, we count from input that waits (`runs.freshness`). So the sensor `deadlines`
reports an asset again, with the data version that it has, while nothing waits for it: a holiday
stays green. Once input waits it no longer does, and the policy turns red in time.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import dagster as dg

from memory_assets.runs.freshness import keep_waiting
from memory_assets.schema.tables import TABLES, deadline_of
from memory_assets.store.store import Store

AGAIN = 4
"""An asset is reported again after a quarter of its deadline, so a policy turns red in the last
quarter of the deadline.
"""


@dg.sensor(
    description="Reports assets that no input waits for as fresh, so that their policies count "
    "from input that waits.",
    minimum_interval_seconds=600,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def deadlines(
    context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]
) -> dg.SensorResult:
    """Keeps what waits and since when, and confirms the other assets."""
    waiting = keep_waiting(store)
    names = {one.name for one in waiting}
    events = list(confirmations(context.instance, store.settings.clock(), names))
    late = sorted(one.name for one in waiting if one.is_late(store.settings.clock()))
    reason = (
        f"Too late: {', '.join(late)}." if late else f"{len(names)} wait, {len(events)} confirmed."
    )
    return dg.SensorResult(skip_reason=dg.SkipReason(reason), asset_events=events)


def confirmations(
    instance: dg.DagsterInstance, now: datetime, waiting: set[str]
) -> Iterator[dg.AssetMaterialization]:
    """Yields the last materialisation of each asset that nothing waits for again, where it is old
    enough.
    """
    keys = {dg.AssetKey(name): table for name, table in TABLES.items() if name not in waiting}
    for record in instance.get_asset_records(list(keys)):
        entry = record.asset_entry
        event = entry.last_materialization
        made = event and event.asset_materialization
        if event is None or made is None:
            continue
        age = now - datetime.fromtimestamp(event.timestamp, UTC)
        if age >= deadline_of(keys[entry.asset_key]) / AGAIN:
            counts = {
                name: value
                for name, value in made.metadata.items()
                if name.startswith("dagster/row_count")
            }
            yield dg.AssetMaterialization(
                entry.asset_key,
                partition=made.partition,
                tags=made.tags,
                metadata={**counts, "confirmed": "Unchanged; no input waits."},
            )
