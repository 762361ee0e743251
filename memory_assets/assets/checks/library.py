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
