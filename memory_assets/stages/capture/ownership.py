"""Finds the session and the time of each message in `records`.

Forks, replays and rewritten files repeat messages: each belongs to the earliest session that has it, by event time, then by
session, generation and line. An impossible time is replaced by that of a neighbour.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import polars as pl

EARLIEST = datetime(2024, 1, 1, tzinfo=UTC)
"""No harness existed before; earlier times are wrong clocks."""

AHEAD = timedelta(days=1)
"""A time further ahead of now than this is a wrong clock."""

PLACE = ["source_id", "generation", "line"]
_EARLIEST_FIRST = ["event_at", "session_id", "generation", "line", "source_id"]
_NEEDED = (
    *PLACE, "resource_id", "session_id", "message_id", "kind", "is_user_turn", "event_at", "chars", "boundary",
    "kept_from_line",
)  # fmt: skip


def conversation(records: pl.LazyFrame, captured: pl.DataFrame, now: datetime, extra: Sequence[str] = ()) -> pl.DataFrame:
    """Returns the rows that are messages or boundaries, in order of source, generation and line, with `at` and `is_guessed`.

    `captured` says when each range (`id`) was captured (`created_at`). A row without a usable time takes that of the row
    before it in its file, else of the one after it, else of its capture. `extra` names more columns of `records` to keep.
    """
    possible = pl.when(pl.col("event_at").is_between(EARLIEST, now + AHEAD)).then("event_at")
    neighbour = pl.coalesce("at", pl.col("at").forward_fill().over("source_id"), pl.col("at").backward_fill().over("source_id"))
    wanted = pl.col("message_id").is_not_null() | pl.col("boundary").is_not_null()
    rows = in_order(records.select(*_NEEDED, *extra).filter(wanted).collect())
    rows = rows.with_columns(at=possible).with_columns(at=neighbour, is_guessed=pl.col("at").is_null())
    return _with_capture_times(rows, captured) if rows["at"].null_count() else rows


def with_turns(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows with `turns`: the user turns of the file so far, also those that another session owns."""
    is_turn = pl.col("is_user_turn").fill_null(value=False) & pl.struct("source_id", "message_id").is_first_distinct()
    return rows.with_columns(turns=is_turn.cast(pl.Int64).cum_sum().over("source_id"))


def own_messages(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the messages of a conversation that belong to their session, and the boundaries, in the same order."""
    place, is_message = pl.int_range(pl.len()), pl.col("message_id").is_not_null()
    shared = rows.select("message_id", *_EARLIEST_FIRST, place=place).filter(is_message & pl.col("message_id").is_duplicated())
    owned = shared.sort(_EARLIEST_FIRST, nulls_last=True).unique("message_id", keep="first", maintain_order=True)
    lost = shared.join(owned, on="place", how="anti")["place"].implode()
    return rows.filter(pl.when(is_message).then(~place.is_in(lost)).otherwise(~_is_repeated_boundary()))


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows by source, generation and line; sorts only if needed, because that takes twice their memory."""
    source, generation, line = (pl.col(name) - pl.col(name).shift() for name in ("_source", *PLACE[1:]))
    ranks = rows.select(pl.col("source_id").rank("dense").cast(pl.Int64).alias("_source"), *PLACE[1:])
    follows = (source > 0) | ((source == 0) & ((generation > 0) | ((generation == 0) & (line > 0))))
    return rows if ranks.select(follows.all()).item() else rows.sort(PLACE)


def _with_capture_times(rows: pl.DataFrame, captured: pl.DataFrame) -> pl.DataFrame:
    times = captured.select(pl.col("id").alias("resource_id"), pl.col("created_at"))
    found = rows.join(times, on="resource_id", how="left", maintain_order="left")
    return found.with_columns(at=pl.coalesce("at", "created_at")).drop("created_at")


def _is_repeated_boundary() -> pl.Expr:
    # A rewritten file repeats its old boundaries after the messages that they closed.
    first = pl.col("generation").min().over("source_id", "boundary", "event_at")
    return pl.col("event_at").is_not_null() & (pl.col("generation") > first)
