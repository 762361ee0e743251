"""Tags of runs: the partitions that a run materialises, who started it, and whether a model is asked again.

The command line and the sensors start the same jobs with the same tags.
"""

from collections.abc import Sequence
from typing import get_args

from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from memory_assets.runs.days import Stretch
from memory_assets.schema.records import Category
from memory_assets.schema.tables import tables_in

ASK_AGAIN = "memory/ask_again"
"""Tag of runs that start by themselves (`false`): a model is asked only about what no model was ever asked about."""

STARTED_BY = "memory/started_by"
"""Tag that says what started a run: `command line`, a sensor or a schedule."""


def tags_of(
    job: str,
    stretch: Stretch | None = None,
    *,
    scopes: Sequence[str] = (),
    ask_again: bool = False,
    started_by: str = "",
) -> dict[str, str]:
    """Returns the run tags that make one run of the job materialise all partitions of the stretch, all categories or scopes.

    `scopes` are those that Dagster knows, in its order (`runs.scopes.register_scopes`).
    """
    by = {STARTED_BY: started_by} if started_by else {}
    return {ASK_AGAIN: str(ask_again).lower(), **by, **_range(job, stretch, scopes)}


def _range(job: str, stretch: Stretch | None, scopes: Sequence[str]) -> dict[str, str]:
    if stretch:
        return range_tags(stretch.first.isoformat(), stretch.last.isoformat())
    if any(table.grain == "category" for table in tables_in(job)):
        categories = get_args(Category)
        return range_tags(categories[0], categories[-1])
    if has_scopes(job):
        return range_tags(scopes[0], scopes[-1])
    return {}


def has_scopes(job: str) -> bool:
    """Returns whether the job builds something with a partition for the owner and each project."""
    return any(table.grain == "scope" for table in tables_in(job))


def range_tags(first: str, last: str) -> dict[str, str]:
    """Returns the tags that name a contiguous range of partitions."""
    return {ASSET_PARTITION_RANGE_START_TAG: first, ASSET_PARTITION_RANGE_END_TAG: last}
