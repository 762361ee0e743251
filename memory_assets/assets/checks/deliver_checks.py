"""Checks of what was sent through the spool."""

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import Days, check, verdict
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.inbox import ASIDE
from memory_assets.store.store import Store

SPOOL_CHECK = "spool_is_read"


@check("events", SPOOL_CHECK, level="error")
def spool_is_read(store: Store, days: Days) -> dg.AssetCheckResult:
    """Nothing waits in the spool for hours, and it is small.

    Returns whether the spool is read, and if not, since when and what to do.

    The sensor `spooled_events` evaluates the check, too, so that it also fails if no run starts.
    """
    root = str(store.root)
    problem = spool.alarm(root)
    waiting = spool.unread(root)
    problems = {"problem": problem} if problem else {}
    bytes_waiting = sum(end - start for start, end in waiting.values())
    return verdict(
        problem is None, None, waiting_bytes=bytes_waiting, waiting_files=len(waiting), **problems
    )


@check("dead_letters", level="error")
def nothing_was_put_aside(store: Store, days: Days) -> pl.DataFrame:
    """Every line of the spool could be parsed; delete files below `spool/aside/` once you have read
    them.
    """
    letters = store.tables.read(
        "dead_letters", columns=["letter_id", "reason", "name", "file", "received_at"]
    )
    aside = store.root / spool.FOLDER / ASIDE
    return letters.filter([(aside / file).is_file() for file in letters["file"]])
