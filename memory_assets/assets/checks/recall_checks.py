"""Checks of the summaries of categories."""

import polars as pl

from memory_assets.assets.checks.common import Days, check
from memory_assets.stages.recall.summaries import MOST_FACTS, MOST_TOKENS
from memory_assets.store.store import Store


@check("category_summaries")
def citations_resolve(store: Store, days: Days) -> pl.DataFrame:
    """Every line cites active memories."""
    cited = (
        store.tables.read("category_summaries", columns=["summary_id", "memory_ids"])
        .explode("memory_ids")
        .drop_nulls()
    )
    active = store.tables.read("memories", columns=["id", "state"]).filter(state="active")
    return cited.join(active, left_on="memory_ids", right_on="id", how="anti")


@check("category_summaries", level="warn")
def short_enough(store: Store, days: Days) -> pl.DataFrame:
    """No summary has more than {MOST_FACTS} facts or {MOST_TOKENS} tokens.

    Returns the summaries that are longer.
    """
    summaries = store.tables.read(
        "category_summaries", columns=["summary_id", "category", "memory_ids", "tokens"]
    )
    return summaries.filter(
        (pl.col("tokens") > MOST_TOKENS) | (pl.col("memory_ids").list.len() > MOST_FACTS)
    ).drop("memory_ids")
