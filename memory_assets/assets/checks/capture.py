"""Checks of captured transcripts: nothing lost, nothing changed, everything traceable."""

import polars as pl

from memory_assets.assets.checks.common import rows_check
from memory_assets.store.store import Store


def _messages_outside_their_windows(store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns messages that are in no window or in several, and messages of windows that are missing."""
    closed = store.tables.read("windows").filter(pl.col("day").is_not_null())
    if days is not None:
        closed = closed.filter(pl.col("day").cast(pl.String).is_in(days))
    wanted = closed.select("window_id", pl.col("message_ids").alias("message_id")).explode("message_id")
    found = store.tables.read("messages", days, columns=["window_id", "message_id"])
    both = ["window_id", "message_id"]
    missing = wanted.join(found, on=both, how="anti").with_columns(problem=pl.lit("missing"))
    foreign = found.join(wanted, on=both, how="anti").with_columns(problem=pl.lit("in no window"))
    doubled = wanted.filter(pl.col("message_id").is_duplicated()).with_columns(problem=pl.lit("in several windows"))
    return pl.concat([missing, foreign, doubled])


def _untraceable(store: Store, days: list[str] | None) -> pl.DataFrame:
    archived = store.archive.resources().select(pl.col("id").alias("resource_id"))
    found = store.tables.read("messages", days, columns=["message_id", "resource_id"])
    return found.join(archived, on="resource_id", how="anti")


def _changed_ranges(store: Store, days: list[str] | None) -> pl.DataFrame:
    newest = store.archive.resources().sort("created_at").tail(CHECKED_RANGES)
    return newest.filter([not store.archive.verify(resource) for resource in newest["id"]]).select("id", "path")


CHECKED_RANGES = 50
"""Ranges whose bytes are hashed again at each run, newest first; `memory doctor` hashes all."""


CHECKS = [
    rows_check("resources", "archived_bytes_unchanged", "The newest archived ranges still have their hashes.", _changed_ranges),
    rows_check(
        "messages",
        "coverage",
        "Every message of a closed window is there, in exactly one window.",
        _messages_outside_their_windows,
    ),
    rows_check("messages", "provenance", "Every message lies in an archived range.", _untraceable),
]
