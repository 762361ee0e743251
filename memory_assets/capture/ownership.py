"""Says whose a message is and when it was said, from the rows of `records`.

Forks, replays and rewritten files repeat messages: each belongs to the earliest session that holds it, by event time, then
by session, generation and line. A time that cannot be true is replaced by a neighbour's.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import polars as pl

EARLIEST = datetime(2024, 1, 1, tzinfo=UTC)
"""No harness wrote transcripts before; earlier times are wrong clocks."""

AHEAD = timedelta(days=1)
"""A time further ahead of now than this is a wrong clock."""

PLACE = ["source_id", "generation", "line"]
_EARLIEST_FIRST = ["event_at", "session_id", "generation", "line", "source_id"]
_NEEDED = (
    *PLACE, "resource_id", "session_id", "message_id", "kind", "is_user_turn", "event_at", "chars", "boundary", "kept_from_line",
)  # fmt: skip


def conversation(
    records: pl.LazyFrame, captured: pl.DataFrame, now: datetime, extra: Sequence[str] = ()
) -> pl.DataFrame:
    """Returns the rows that are messages or boundaries, in order of source, generation and line, with `at` and `is_guessed`.

    `captured` says when each range (`id`) was captured (`created_at`). A row without a usable time takes that of the row
    before it in its file, else of the one after it, else of its capture. `extra` names more columns of `records` to keep.
    """
    rows = records.select(*_NEEDED, *extra).filter(pl.col("message_id").is_not_null() | pl.col("boundary").is_not_null())
    times = captured.lazy().select(pl.col("id").alias("resource_id"), "created_at")
    said = pl.when(pl.col("event_at").is_between(EARLIEST, now + AHEAD)).then("event_at")
    return (
        rows.join(times, on="resource_id", how="left")
        .sort(PLACE)
        .with_columns(said=said)
        .with_columns(
            at=pl.coalesce(
                "said",
                pl.col("said").forward_fill().over("source_id"),
                pl.col("said").backward_fill().over("source_id"),
                "created_at",
            ),
            is_guessed=pl.col("said").is_null(),
        )
        .drop("said", "created_at")
        .collect()
    )


def own_messages(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns, of a conversation, the messages that belong to their session and the boundaries, in the same order."""
    messages = rows.filter(pl.col("message_id").is_not_null())
    owned = messages.sort(_EARLIEST_FIRST, nulls_last=True).unique("message_id", keep="first", maintain_order=True)
    boundaries = rows.filter(pl.col("message_id").is_null() & ~_is_repeated_boundary())
    return pl.concat([owned, boundaries]).sort(PLACE)


def _is_repeated_boundary() -> pl.Expr:
    # A rewritten file brings its old boundaries again, behind the messages that they closed long ago.
    first = pl.col("generation").min().over("source_id", "boundary", "event_at")
    return pl.col("event_at").is_not_null() & (pl.col("generation") > first)
