"""Checks of verdicts on rules, and of frictions."""

import polars as pl

from memory_assets.assets.checks.common import Days, check, unknown
from memory_assets.store.store import Store


@check("obedience")
def calls_exist(store: Store, days: Days) -> pl.DataFrame:
    """Every call that shows whether a rule was kept is in a message of its day."""
    rows = store.tables.read("obedience", days, columns=["rule_id", "session_id", "message_id"])
    return unknown(rows, store, "messages", "message_id", days)


@check("obedience", level="warn")
def briefed_rules_are_kept(store: Store, days: Days) -> pl.DataFrame:
    """No session broke a rule that its briefing had."""
    rows = store.tables.read("obedience", days)
    broken = rows.filter(state="broken", known="briefing")
    return broken.select("rule_id", "session_id", "day", "message_id")


@check("friction")
def citations_resolve(store: Store, days: Days) -> pl.DataFrame:
    """Every message that shows a friction exists."""
    rows = store.tables.read("friction", days).select("proposal_id", message_id="message_ids")
    return unknown(rows.explode("message_id"), store, "messages", "message_id")


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
    ids = store.tables.read("friction", columns=["proposal_id"])
    return ids.group_by("proposal_id").len().filter(pl.col("len") > 1)
