"""The asset check of published blocks."""

import polars as pl

from memory_assets.assets.checks.common import Days, check
from memory_assets.extras.project.edits import problems_of_blocks
from memory_assets.services.review.open_triage import reading_triage
from memory_assets.store.store import Store


@check("amendments", level="warn")
def published_blocks_are_current(store: Store, days: Days) -> pl.DataFrame:
    """Every published block can be read, and no line of it was changed or retired since."""
    problems = list(problems_of_blocks(store, reading_triage(store)))
    return pl.DataFrame(problems, {"file": pl.String, "problem": pl.String}, orient="row")
