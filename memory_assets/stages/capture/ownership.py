"""Decides which session owns each message in `records`, and when it was said.

Forks, replays and rewritten files repeat messages. If several files have a message, the original is
found by the records that only one of the files has, because a fork writes its own records after
those that it copied: the file whose own records begin first owns the message. A file without own
records is the beginning of the others; the time of its last record counts as the beginning of its
own. Within a file, the first place of a repeated message counts. An impossible time is replaced by
that of a neighbour.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import polars as pl

EARLIEST = datetime(2024, 1, 1, tzinfo=UTC)
"""No harness existed before this; earlier times come from wrong clocks."""

AHEAD = timedelta(days=1)
"""A time further in the future than this comes from a wrong clock."""

PLACE = ["source_id", "generation", "line"]
_EARLIEST_FIRST = "own_from event_at session_id generation line source_id".split()
_NO_BEGINNINGS = pl.DataFrame(schema={"source_id": pl.String, "own_from": pl.Datetime("us", "UTC")})
_COLUMNS = (
    *PLACE, "resource_id", "session_id", "message_id", "kind", "is_user_turn", "event_at", "chars",
    "boundary", "kept_from_line",
)  # fmt: skip


def conversation(
    records: pl.LazyFrame, captured: pl.DataFrame, now: datetime, extra: Sequence[str] = ()
) -> pl.DataFrame:
    """Returns the messages and boundaries among the records, by source, generation and line.

    Two columns are added: `at`, the time of the row, and `is_guessed`. A row without a usable time
    gets the time of the row before it in its file, else of the row after it, else the one at which
    the file changed, else that of its capture. `captured` has a row for each archived range.
    `extra` names further columns of `records` to return.
    """
    possible = pl.when(pl.col("event_at").is_between(EARLIEST, now + AHEAD)).then("event_at")
    neighbour = pl.coalesce(
        "at",
        pl.col("at").forward_fill().over("source_id"),
        pl.col("at").backward_fill().over("source_id"),
    )
    is_said = pl.col("message_id").is_not_null() | pl.col("boundary").is_not_null()
    rows = in_order(records.select(*_COLUMNS, *extra).filter(is_said).collect())
    rows = rows.with_columns(at=possible).with_columns(
        at=neighbour, is_guessed=pl.col("at").is_null()
    )
    return _with_times_of_files(rows, captured, now) if rows["at"].null_count() else rows


def with_turns(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows with `turns`, the number of user turns in the file up to the row.

    Turns that belong to another session are counted, too.
    """
    is_turn = (
        pl.col("is_user_turn").fill_null(value=False)
        & pl.struct("source_id", "message_id").is_first_distinct()
    )
    return rows.with_columns(turns=is_turn.cast(pl.Int64).cum_sum().over("source_id"))


def own_messages(rows: pl.DataFrame, beginnings: pl.DataFrame | None = None) -> pl.DataFrame:
    """Returns the rows of a conversation without repeated messages and boundaries, in order.

    `beginnings` is the result of `find_beginnings` for files that share messages; None if the rows
    are of one file.
    """
    place = pl.int_range(pl.len())
    is_message = pl.col("message_id").is_not_null()
    is_repeated = is_message & pl.col("message_id").is_duplicated()
    known_beginnings = _NO_BEGINNINGS if beginnings is None else beginnings
    repeated = rows.with_columns(place=place).filter(is_repeated)
    with_beginnings = repeated.join(known_beginnings, on="source_id", how="left")
    candidates = with_beginnings.select("message_id", *_EARLIEST_FIRST, "place")
    ordered = candidates.sort(_EARLIEST_FIRST, nulls_last=True)
    originals = ordered.unique("message_id", keep="first", maintain_order=True)
    copies = candidates.join(originals, on="place", how="anti")["place"].implode()
    is_original = pl.when(is_message).then(~place.is_in(copies)).otherwise(~_is_repeated_boundary())
    return rows.filter(is_original)


def sources_of_shared(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the messages that several files have, as `message_id` with its `sources`."""
    repeated = rows.filter(
        pl.col("message_id").is_not_null() & pl.col("message_id").is_duplicated()
    )
    shared = repeated.group_by("message_id").agg(sources=pl.col("source_id").unique().sort())
    return shared.filter(pl.col("sources").list.len() > 1)


def find_beginnings(records: pl.LazyFrame, shared: pl.DataFrame, now: datetime) -> pl.DataFrame:
    """Returns when the own records of each file that shares messages begin.

    The columns are `source_id` and `own_from`: the earliest time among the records, of any type,
    that no other file has, or the time of the file's latest record if others have all of them.
    Records that are not messages are equal if their types and times are.
    """
    sources = shared["sources"].explode().unique()
    identity = pl.coalesce(
        "message_id",
        pl.concat_str("record_type", pl.col("event_at").cast(pl.String), separator="@"),
    )
    timed_records = records.filter(
        pl.col("source_id").is_in(sources.implode()),
        pl.col("event_at").is_between(EARLIEST, now + AHEAD),
    )
    rows = timed_records.select("source_id", "event_at", identity=identity).collect()
    is_own = pl.col("source_id").n_unique().over("identity") == 1
    first = rows.filter(is_own).group_by("source_id").agg(first=pl.col("event_at").min())
    last = rows.group_by("source_id").agg(last=pl.col("event_at").max())
    times = last.join(first, on="source_id", how="left")
    return times.select("source_id", own_from=pl.coalesce("first", "last"))


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the rows ordered by source, generation and line.

    Sorts only rows that are not in order yet, because sorting takes twice their memory.
    """
    ranks = rows.select(pl.col("source_id").rank("dense").cast(pl.Int64), *PLACE[1:])
    source, generation, line = (pl.col(name) - pl.col(name).shift() for name in PLACE)
    follows = (source > 0) | ((source == 0) & ((generation > 0) | ((generation == 0) & (line > 0))))
    return rows if ranks.select(follows.all()).item() else rows.sort(PLACE)


def _with_times_of_files(rows: pl.DataFrame, captured: pl.DataFrame, now: datetime) -> pl.DataFrame:
    is_possible = pl.col("content_at").is_between(EARLIEST, now + AHEAD)
    changed_at = pl.when(is_possible).then("content_at")
    times = captured.select(resource_id="id", file_at=pl.coalesce(changed_at, "created_at"))
    timed_rows = rows.join(times, on="resource_id", how="left", maintain_order="left")
    return timed_rows.with_columns(at=pl.coalesce("at", "file_at")).drop("file_at")


def _is_repeated_boundary() -> pl.Expr:
    # A rewritten file repeats its old boundaries after the messages that they closed.
    first = pl.col("generation").min().over("source_id", "boundary", "event_at")
    return pl.col("event_at").is_not_null() & (pl.col("generation") > first)
