"""Checks of the library."""

import polars as pl

from memory_assets.assets.checks.common import Days, check
from memory_assets.services.slog import uncommitted_changes
from memory_assets.store.store import Store


@check("slog", level="error")
def is_append_only(store: Store, days: Days) -> pl.DataFrame:
    """Every line of the slog is an entry, and no committed line was changed or removed."""
    problems = [*store.slog.damaged(), *uncommitted_changes(store)]
    return pl.DataFrame({"problem": problems}, {"problem": pl.String})


@check("adrs", level="warn")
def are_in_order(store: Store, days: Days) -> pl.DataFrame:
    """Every decision record has one status of one word, a number of its own, and names records that exist."""
    wrong = (
        store.tables.read("adrs", columns=["project", "path", "number", "problems"]).explode("problems").drop_nulls("problems")
    )
    return wrong.select("project", "number", pl.col("problems").alias("problem"))


@check("adr_conflicts", level="warn")
def no_memory_contradicts_a_decision(store: Store, days: Days) -> pl.DataFrame:
    """No active memory contradicts a decision in force; the review shows those that do."""
    return store.tables.read("adr_conflicts", columns=["number", "memory_id", "reason"])
