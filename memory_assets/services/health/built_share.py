"""Says how much of a store is distilled while it is built."""

import polars as pl

from memory_assets.schema.records import READ_STATUSES
from memory_assets.services.search.corpus import until_published
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.store import Store


def built_share(store: Store) -> str:
    """Returns how many sessions are distilled so far, as a sentence; empty once all of them are."""
    if not store.tables.parts("windows"):
        is_begun = store.archive.range_count() > 0
        return "The memory is being built: transcripts are being read." if is_begun else ""
    distilled, count = _distilled_sessions(store.tables)
    if distilled == count:
        return ""
    return (
        f"The memory is being built: {distilled:,} of {count:,} sessions so far. "
        "The others are found by their words."
    )


@until_published("windows", "observations")
def _distilled_sessions(tables: ParquetTables) -> tuple[int, int]:
    """Returns how many sessions are distilled, and how many there are to distil.

    A session is distilled when each day on which one of its windows closed was.
    """
    windows = tables.read("windows", columns=["session_id", "day", "status"])
    closed = windows.filter(pl.col("status").is_in(READ_STATUSES))
    days = pl.Series([*tables.parts("observations")], dtype=pl.String).str.to_date()
    waiting = closed.filter(~pl.col("day").is_in(days.implode()))
    count = closed["session_id"].n_unique()
    return count - waiting["session_id"].n_unique(), count
