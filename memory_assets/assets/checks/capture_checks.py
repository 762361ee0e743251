"""Checks of captured transcripts: no message is lost or changed, and each can be traced to archived
bytes.
"""

import polars as pl

from memory_assets.assets.checks.common import Days, check, problems
from memory_assets.store.store import Store

CHECKED_RANGES = 50
"""The newest ranges, whose bytes are hashed again at each run; `memory doctor` hashes all."""


def closed_windows(store: Store, days: Days, *, status: str | None = None) -> pl.DataFrame:
    """Returns the windows that closed on the days; with `status`, only those with that status."""
    closed = store.tables.read("windows").drop_nulls("day")
    in_days = closed if days is None else closed.filter(pl.col("day").cast(pl.String).is_in(days))
    return in_days if status is None else in_days.filter(status=status)


def messages_of_windows(store: Store, days: Days, *, status: str | None = None) -> pl.DataFrame:
    """Returns the ids of each closed window of the days and of each message that it declares."""
    windows = closed_windows(store, days, status=status)
    return windows.select("window_id", message_id="message_ids").explode("message_id")


@check("resources")
def archived_bytes_unchanged(store: Store, days: Days) -> pl.DataFrame:
    """The newest archived ranges still have their hashes."""
    newest = store.archive.resources().sort("created_at").tail(CHECKED_RANGES)
    is_damaged = [not store.archive.verify(resource) for resource in newest["id"]]
    return newest.filter(is_damaged).select("id", "path")


@check("messages")
def coverage(store: Store, days: Days) -> pl.DataFrame:
    """Every message of a closed window is there, in exactly one window."""
    wanted = messages_of_windows(store, days)
    key = ["window_id", "message_id"]
    messages = store.tables.read("messages", days, columns=key)
    return problems(
        missing=wanted.join(messages, on=key, how="anti"),
        in_no_window=messages.join(wanted, on=key, how="anti"),
        in_several_windows=wanted.filter(pl.col("message_id").is_duplicated()),
    )


@check("messages")
def provenance(store: Store, days: Days) -> pl.DataFrame:
    """Every message lies in an archived range."""
    archived = store.archive.resources().select(resource_id="id")
    messages = store.tables.read("messages", days, columns=["message_id", "resource_id"])
    return messages.join(archived, on="resource_id", how="anti")


@check("checkpoints")
def turns_complete(store: Store, days: Days) -> pl.DataFrame:
    """Every turn of a day's closed windows has one checkpoint, and no message is in two of them."""
    key = ["session_id", "day"]
    checkpoints = store.tables.read("checkpoints", days, columns=[*key, "turn", "message_ids"])
    expected = closed_windows(store, days).group_by(key).agg(pl.sum("user_turn_count"))
    listed = checkpoints.filter(pl.col("turn") > 0).group_by(key).agg(turns=pl.len())
    counts = expected.join(listed, on=key, how="full", coalesce=True).fill_null(0)
    messages = checkpoints.select(*key, message_id="message_ids").explode("message_id")
    repeated = messages.filter(pl.col("message_id").is_duplicated())
    return problems(
        turns_are_missing=counts.filter(pl.col("user_turn_count") != pl.col("turns")).select(key),
        a_message_is_in_two_turns=repeated.select(key).unique(),
    )
