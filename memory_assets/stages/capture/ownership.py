"""Finds the session and the time of each message in `records`.

Forks, replays and rewritten files repeat messages. A message that several files have belongs to the
file whose own records, which no other file has, begin first: a fork writes its own after those that
it copied. A file without own records counts from its last one, as it is the beginning of the
others. Within a file, a message is where it was first said. An impossible time is replaced by that
of a neighbour.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import polars as pl

EARLIEST = datetime(2024, 1, 1, tzinfo=UTC)
"""No harness existed before; earlier times are wrong clocks."""

AHEAD = timedelta(days=1)
"""A time further ahead of now than this is a wrong clock."""

PLACE = ["source_id", "generation", "line"]
_EARLIEST_FIRST = ["own_from", "event_at", "session_id", "generation", "line", "source_id"]
_NO_BEGINNINGS = pl.DataFrame(schema={"source_id": pl.String, "own_from": pl.Datetime("us", "UTC")})
_NEEDED = (
    *PLACE, "resource_id", "session_id", "message_id", "kind", "is_user_turn", "event_at", "chars",
    "boundary",
    "kept_from_line",
)  # fmt: skip


def conversation(
    records: pl.LazyFrame, captured: pl.DataFrame, now: datetime, extra: Sequence[str] = ()
) -> pl.DataFrame:
    """Returns the rows that are messages or boundaries, in order of source, generation and line,
    with `at` and `is_guessed`.

    `captured` says when each range (`id`) was captured (`created_at`). A row without a usable time
    takes that of the row before it in its file, else of the one after it, else of its capture.
    `extra` names more columns of `records` to keep.
    """
    possible = pl.when(pl.col("event_at").is_between(EARLIEST, now + AHEAD)).then("event_at")
    neighbour = pl.coalesce(
        "at",
        pl.col("at").forward_fill().over("source_id"),
        pl.col("at").backward_fill().over("source_id"),
    )
    wanted = pl.col("message_id").is_not_null() | pl.col("boundary").is_not_null()
    rows = in_order(records.select(*_NEEDED, *extra).filter(wanted).collect())
    rows = rows.with_columns(at=possible).with_columns(
        at=neighbour, is_guessed=pl.col("at").is_null()
    )
    return _with_capture_times(rows, captured) if rows["at"].null_count() else rows


def with_turns(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows with `turns`: the user turns of the file so far, also those that another
    session owns.
    """
    is_turn = (
        pl.col("is_user_turn").fill_null(value=False)
        & pl.struct("source_id", "message_id").is_first_distinct()
    )
    return rows.with_columns(turns=is_turn.cast(pl.Int64).cum_sum().over("source_id"))


def own_messages(rows: pl.DataFrame, beginnings: pl.DataFrame | None = None) -> pl.DataFrame:
    """Returns the messages of a conversation that belong to their session, and the boundaries, in
    the same order.

    `beginnings` are those of the files that share messages; None for the rows of one file.
    """
    place, is_message = pl.int_range(pl.len()), pl.col("message_id").is_not_null()
    shared = rows.with_columns(place=place).filter(
        is_message & pl.col("message_id").is_duplicated()
    )
    own_from = _NO_BEGINNINGS if beginnings is None else beginnings
    shared = shared.join(own_from, on="source_id", how="left").select(
        "message_id", *_EARLIEST_FIRST, "place"
    )
    owned = shared.sort(_EARLIEST_FIRST, nulls_last=True).unique(
        "message_id", keep="first", maintain_order=True
    )
    lost = shared.join(owned, on="place", how="anti")["place"].implode()
    return rows.filter(
        pl.when(is_message).then(~place.is_in(lost)).otherwise(~_is_repeated_boundary())
    )


def sources_of_shared(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns each message that several files have, with these files: `message_id`, `sources`."""
    repeated = rows.filter(
        pl.col("message_id").is_not_null() & pl.col("message_id").is_duplicated()
    )
    shared = repeated.group_by("message_id").agg(sources=pl.col("source_id").unique().sort())
    return shared.filter(pl.col("sources").list.len() > 1)


def find_beginnings(records: pl.LazyFrame, shared: pl.DataFrame, now: datetime) -> pl.DataFrame:
    """Returns where each file that shares messages begins on its own: `source_id`, `own_from`.

    This is the earliest time of its records, of any type, that no other file has; of its latest
    record if there is none. Records that are no messages are the same in two files if type and time
    are.
    """
    sources = shared["sources"].explode().unique()
    identity = pl.coalesce(
        "message_id",
        pl.concat_str("record_type", pl.col("event_at").cast(pl.String), separator="@"),
    )
    wanted = records.filter(
        pl.col("source_id").is_in(sources.implode()),
        pl.col("event_at").is_between(EARLIEST, now + AHEAD),
    )
    rows = wanted.select("source_id", "event_at", identity=identity).collect()
    is_own = pl.col("source_id").n_unique().over("identity") == 1
    first = rows.filter(is_own).group_by("source_id").agg(first=pl.col("event_at").min())
    times = (
        rows.group_by("source_id")
        .agg(last=pl.col("event_at").max())
        .join(first, on="source_id", how="left")
    )
    return times.select("source_id", own_from=pl.coalesce("first", "last"))


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows by source, generation and line; sorts only if needed, because that takes
    twice their memory.
    """
    source, generation, line = (
        pl.col(name) - pl.col(name).shift() for name in ("_source", *PLACE[1:])
    )
    ranks = rows.select(
        pl.col("source_id").rank("dense").cast(pl.Int64).alias("_source"), *PLACE[1:]
    )
    follows = (source > 0) | ((source == 0) & ((generation > 0) | ((generation == 0) & (line > 0))))
    return rows if ranks.select(follows.all()).item() else rows.sort(PLACE)


def _with_capture_times(rows: pl.DataFrame, captured: pl.DataFrame) -> pl.DataFrame:
    times = captured.select(pl.col("id").alias("resource_id"), pl.col("created_at"))
    timed_rows = rows.join(times, on="resource_id", how="left", maintain_order="left")
    return timed_rows.with_columns(at=pl.coalesce("at", "created_at")).drop("created_at")


def _is_repeated_boundary() -> pl.Expr:
    # A rewritten file repeats its old boundaries after the messages that they closed.
    first = pl.col("generation").min().over("source_id", "boundary", "event_at")
    return pl.col("event_at").is_not_null() & (pl.col("generation") > first)
