"""The sensor that keeps Dagster's own history, and the store as a whole, below their limits."""

import dagster as dg

from memory_assets.errors import StoreBusyError
from memory_assets.services.health.housekeeping import GIGABYTE, keep_house
from memory_assets.store.store import Store


@dg.sensor(
    description="Every hour, removes runs that ended long ago, and more while the store is above "
    "its cap (`disk_gb`).",
    minimum_interval_seconds=3600,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def housekeeping(
    context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]
) -> dg.SensorResult:
    """Removes what is too old, unless a run is writing."""
    try:
        done = keep_house(store, wait_seconds=0)
    except StoreBusyError:
        return dg.SensorResult(skip_reason="A run is writing; the next hour tries again.")
    return dg.SensorResult(
        skip_reason=f"Removed {done.runs:,} runs; the store takes {done.bytes / GIGABYTE:.2f} GB."
    )
