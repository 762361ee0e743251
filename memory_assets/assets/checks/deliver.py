"""Checks of what was sent through the spool."""

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import rows_check
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.inbox import ASIDE
from memory_assets.store.store import Store

SPOOL_CHECK = "spool_is_read"


def spool_evaluation(root: str) -> dg.AssetCheckResult:
    """Returns whether the spool is taken in, and if not, since when and what to do."""
    wrong = spool.alarm(root)
    waiting = spool.unread(root)
    return dg.AssetCheckResult(
        passed=wrong is None,
        metadata={
            "waiting_bytes": sum(end - start for start, end in waiting.values()),
            "waiting_files": len(waiting),
            **({"problem": wrong} if wrong else {}),
        },
    )


@dg.asset_check(asset="events", name=SPOOL_CHECK, description="Nothing waits in the spool for hours, and it is small.")
def spool_is_read(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Looks at the spool; the sensor does, too, so that it turns red where no run does."""
    return spool_evaluation(str(store.root))


def _put_aside(store: Store, parts: list[str] | None) -> pl.DataFrame:
    letters = store.tables.read("dead_letters", columns=["letter_id", "reason", "name", "file", "received_at"])
    aside = store.root / spool.FOLDER / ASIDE
    return letters.filter([(aside / file).is_file() for file in letters["file"]])


CHECKS = [
    spool_is_read,
    rows_check(
        "dead_letters",
        "nothing_was_put_aside",
        "Every line of the spool could be understood; what you have read below `spool/aside/` you may delete.",
        _put_aside,
        blocking=False,
    ),
]
