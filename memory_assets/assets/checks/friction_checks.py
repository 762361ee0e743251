"""Checks of frictions."""

import polars as pl

from memory_assets.assets.checks.common import Days, check
from memory_assets.store.store import Store


@check("friction")
def citations_resolve(store: Store, days: Days) -> pl.DataFrame:
    """Every message that shows a friction exists."""
    cited = (
        store.tables.read("friction", days)
        .select("proposal_id", message_id="message_ids")
        .explode("message_id")
    )
    return cited.join(
        store.tables.read("messages", columns=["message_id"]), on="message_id", how="anti"
    )


@check("friction")
def actionable(store: Store, days: Days) -> pl.DataFrame:
    """Every friction names a file and the text to add."""
    frictions = store.tables.read("friction", days)
    return frictions.filter((pl.col("new") == "") | (pl.col("target") == "")).select(
        "proposal_id", "day", "kind"
    )


@check("friction")
def numbered_once(store: Store, days: Days) -> pl.DataFrame:
    """No friction is listed on two days."""
    return (
        store.tables.read("friction", columns=["proposal_id"])
        .group_by("proposal_id")
        .len()
        .filter(pl.col("len") > 1)
    )
