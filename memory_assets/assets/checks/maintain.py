"""Checks of maintenance: what the nightly run found unread has been read."""

import polars as pl

from memory_assets.assets.checks.common import Days, check
from memory_assets.store.store import Store


@check("nightly_stats", level="warn")
def nothing_stays_missed(store: Store, days: Days) -> pl.DataFrame:
    """The nightly run read every session, message and note that no run had read before it."""
    rows = store.tables.read("nightly_stats", days, columns=["day", "missed", "extracted"])
    return rows.filter(pl.col("extracted") < pl.col("missed"))
