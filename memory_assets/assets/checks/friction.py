"""Checks of frictions."""

import polars as pl

from memory_assets.assets.checks.common import rows_check
from memory_assets.store.store import Store


def _resting_on_nothing(store: Store, days: list[str] | None) -> pl.DataFrame:
    cited = (
        store.tables.read("friction", days)
        .select("proposal_id", pl.col("message_ids").alias("message_id"))
        .explode("message_id")
    )
    return cited.join(store.tables.read("messages", columns=["message_id"]), on="message_id", how="anti")


def _without_change(store: Store, days: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("friction", days)
    return found.filter((pl.col("new") == "") | (pl.col("target") == "")).select("proposal_id", "day", "kind")


def _numbered_twice(store: Store, days: list[str] | None) -> pl.DataFrame:
    return store.tables.read("friction", columns=["proposal_id"]).group_by("proposal_id").len().filter(pl.col("len") > 1)


CHECKS = [
    rows_check("friction", "citations_resolve", "Every message that shows a friction exists.", _resting_on_nothing),
    rows_check("friction", "actionable", "Every friction names a file and the text that would come.", _without_change),
    rows_check("friction", "numbered_once", "No friction stands in two days.", _numbered_twice),
]
