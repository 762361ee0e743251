"""The sensor that keeps Dagster's own history, and the store as a whole, below their limits."""

import dagster as dg

from memory_assets.assets.ticks import StoreParam, Tick, sensor
from memory_assets.errors import StoreBusyError
from memory_assets.services.health.housekeeping import GIGABYTE, keep_house


@sensor(
    description="Every hour, removes runs that ended long ago, and more while the store is above "
    "its cap (`disk_gb`).",
    minimum_interval_seconds=3600,
)
def housekeeping(context: Tick, store: StoreParam) -> dg.SkipReason:
    """Removes what is too old, unless a run is writing."""
    try:
        done = keep_house(store, wait_seconds=0)
    except StoreBusyError:
        return dg.SkipReason("A run is writing; the next hour tries again.")
    gigabytes = done.bytes / GIGABYTE
    return dg.SkipReason(f"Removed {done.runs:,} runs; the store takes {gigabytes:.2f} GB.")
