"""Checks of the nightly run: everything unread was read, and a part of the store is undamaged."""

import polars as pl

from memory_assets.assets.checks.common import Days, check
from memory_assets.services.health.deep import deep_checks
from memory_assets.store.store import Store


@check("nightly_stats", level="warn")
def nothing_stays_missed(store: Store, days: Days) -> pl.DataFrame:
    """The nightly run read every session, message and note that no run had read before it."""
    rows = store.tables.read("nightly_stats", days, columns=["day", "missed", "extracted"])
    return rows.filter(pl.col("extracted") < pl.col("missed"))


@check("nightly_stats", level="error")
def the_share_of_the_night_is_whole(store: Store, _: Days) -> pl.DataFrame:
    """Every byte that is read tonight is as it was written; a month reads all. `memory doctor
    --deep` names the places.
    """
    checks = deep_checks(store, store.settings.today())
    failed = [(part.name, part.found.partition(":")[0]) for part in checks if not part.passed]
    return pl.DataFrame(failed, schema={"part": pl.String, "found": pl.String}, orient="row")
