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
"""Tag that names what started a run: `command line`, a sensor or a schedule."""


def tags_of(
    job: str, stretch: Stretch | None = None, *, scopes: Sequence[str] = (), ask_again: bool = False, started_by: str
) -> dict[str, str]:
    """Returns the run tags that make one run of the job materialise all partitions of the stretch, all categories or scopes.

    `scopes` are those that Dagster knows, in its order (`runs.scopes.register_scopes`).
    """
    grains = {table.grain for table in tables_in(job)}
    keys = get_args(Category) if "category" in grains else scopes if "scope" in grains else ()
    first, last = (str(stretch.first), str(stretch.last)) if stretch else (keys[0], keys[-1]) if keys else ("", "")
    return {ASK_AGAIN: str(ask_again).lower(), STARTED_BY: started_by} | (range_tags(first, last) if first else {})


def has_scopes(job: str) -> bool:
    """Returns whether the job builds something with a partition for the owner and each project."""
    return any(table.grain == "scope" for table in tables_in(job))


def range_tags(first: str, last: str) -> dict[str, str]:
    """Returns the tags that name a contiguous range of partitions."""
    return {ASSET_PARTITION_RANGE_START_TAG: first, ASSET_PARTITION_RANGE_END_TAG: last}
