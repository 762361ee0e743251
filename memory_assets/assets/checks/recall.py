"""Checks of the summaries of categories."""

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import rows_check
from memory_assets.stages.recall.summaries import (
    MOST_FACTS,
    MOST_TOKENS,
)
from memory_assets.store.store import Store


def _citing_nothing(store: Store, days: list[str] | None) -> pl.DataFrame:
    cited = store.tables.read("category_summaries", columns=["summary_id", "memory_ids"]).explode("memory_ids").drop_nulls()
    active = store.tables.read("memories", columns=["id", "state"]).filter(pl.col("state") == "active")
    return cited.join(active, left_on="memory_ids", right_on="id", how="anti")


def _too_long(store: Store, days: list[str] | None) -> pl.DataFrame:
    found = store.tables.read("category_summaries", columns=["summary_id", "category", "memory_ids", "tokens"])
    return found.filter((pl.col("tokens") > MOST_TOKENS) | (pl.col("memory_ids").list.len() > MOST_FACTS)).drop("memory_ids")


CHECKS = [
    rows_check("category_summaries", "citations_resolve", "Every line rests on a memory that is active.", _citing_nothing),
    rows_check(
        "category_summaries",
        "short_enough",
        f"No summary has more than {MOST_FACTS} facts or {MOST_TOKENS} tokens.",
        _too_long,
        blocking=False,
        severity=dg.AssetCheckSeverity.WARN,
    ),
]
