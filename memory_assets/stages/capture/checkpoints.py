"""Cuts sessions into turns: which messages each turn has, and the state of the session at its end.

A turn begins with what the person typed and ends before the next one. Turns are numbered in the
session's own messages, in the order of the transcript; what a fork copied belongs to the session
that it was copied from. Number 0 has what comes before the first turn, and all of a sub-agent's
session, which nobody typed in.

A turn is a row of the day whose window it begins in. A window may be closed in the middle of a
turn, by a compaction or because the assistant was silent for long: the row also has the messages of
the closed windows after it, so a day is made from its own windows, from the number of turns before
them, and from the windows that go on with its last turn. Once the next turn has begun, nothing of
this changes. Texts stay in `messages`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any

import polars as pl

from memory_assets.schema.frames import frame_of, hash_of
from memory_assets.stages.capture.ownership import PLACE, conversation, in_order
from memory_assets.store.archive import Archive
from memory_assets.store.parquet_tables import ParquetTables

WINDOW_COLUMNS = tuple(
    "session_id source_id day started_at line_from user_turn_count fingerprint".split()
)
"""Columns of windows that `versions_of_days` needs."""

STATE = {"folder": "cwd", "branch": "branch", "model": "model", "version": "version"}
"""Columns of a checkpoint, each with that of the records whose last known value it has."""

FILES = ("files_read", "files_modified")


def versions_of_days(windows: pl.DataFrame, version: str) -> dict[str, str]:
    """Returns, by day, the hash of what its turns are made from."""
    parts_of_days: dict[str, list[object]] = defaultdict(list)
    closed = windows.drop_nulls("day").select(WINDOW_COLUMNS)
    for session_windows in _by_session(closed):
        turn_count = 0
        for number, row in enumerate(session_windows):
            going_on = (later["fingerprint"] for later in _going_on(session_windows, number))
            parts_of_days[row["day"].isoformat()] += [turn_count, row["fingerprint"], *going_on]
            turn_count += row["user_turn_count"]
    return {day: hash_of(version, *parts) for day, parts in parts_of_days.items()}


def _by_session(windows: pl.DataFrame) -> Iterator[list[dict[str, Any]]]:
    """Yields the windows of each session, in order."""
    rows = windows.sort("session_id", "started_at", "line_from").iter_rows(named=True)
    for _, session_windows in groupby(rows, key=lambda row: row["session_id"]):
        yield list(session_windows)


def _going_on(windows: Sequence[dict[str, Any]], number: int) -> Iterator[dict[str, Any]]:
    """Yields the windows that may go on with the last turn of a window."""
    for later in windows[number + 1 :]:
        yield later
        if later["user_turn_count"]:
            return


@dataclass(frozen=True)
class _Part:
    """Windows of one session that follow each other."""

    windows: tuple[str, ...]
    """Their ids."""
    turns_before: int
    """User turns of the windows before them."""
    is_beginning: bool
    """No window is before them."""


def build_checkpoints(
    tables: ParquetTables, archive: Archive, now: datetime, day: str
) -> pl.DataFrame:
    """Returns the turns that begin in the windows that closed on the day."""
    on = date.fromisoformat(day)
    windows = tables.scan("windows").filter(pl.col("day").is_not_null())
    sessions = windows.filter(pl.col("day") == on).select("session_id").unique()
    closed = windows.join(sessions, on="session_id", how="semi").collect()
    parts = {
        session_windows[0]["session_id"]: _part_of(session_windows, on)
        for session_windows in _by_session(closed.select("window_id", *WINDOW_COLUMNS))
    }
    needed = [id for part in parts.values() for id in part.windows]
    needed_windows = closed.filter(pl.col("window_id").is_in(needed))
    return _turns(needed_windows, parts, tables, archive, now).filter(pl.col("day") == on)


def _part_of(windows: Sequence[dict[str, Any]], day: date) -> _Part:
    """Returns the windows that the turns of the day are in, of those of a session."""
    numbers = [number for number, row in enumerate(windows) if row["day"] == day]
    first = numbers[0]
    last = numbers[-1]
    ids = [row["window_id"] for row in (*windows[first : last + 1], *_going_on(windows, last))]
    return _Part(tuple(ids), sum(row["user_turn_count"] for row in windows[:first]), first == 0)


def open_checkpoints(tables: ParquetTables, archive: Archive, now: datetime) -> pl.DataFrame:
    """Returns the turns that have messages in open windows, whole, also where they begin in a
    closed one.
    """
    windows = tables.scan("windows")
    growing = windows.filter(status="open").select("session_id").unique()
    session_windows = windows.join(growing, on="session_id", how="semi").collect()
    open_ids = set(session_windows.filter(status="open")["message_ids"].explode().drop_nulls())
    turns = _turns(session_windows, {}, tables, archive, now)
    has_open = [not open_ids.isdisjoint(ids) for ids in turns["message_ids"]]
    return turns.filter(pl.Series(has_open, dtype=pl.Boolean))


def _turns(
    windows: pl.DataFrame,
    parts: Mapping[str, _Part],
    tables: ParquetTables,
    archive: Archive,
    now: datetime,
) -> pl.DataFrame:
    """Returns the turns that begin in these windows, in order; `parts` are those of sessions that
    are not whole.
    """
    offsets = {id: part.turns_before for id, part in parts.items()}
    continued = [id for id, part in parts.items() if not part.is_beginning]
    is_turn = pl.col("is_user_turn").fill_null(value=False).cast(pl.Int64)
    offset = pl.col("session_id").replace_strict(offsets, default=0, return_dtype=pl.Int64)
    rows = (
        _messages(windows, tables, archive, now)
        .with_columns(local=is_turn.cum_sum().over("session_id"))
        .filter(~pl.col("session_id").is_in(continued) | (pl.col("local") > 0))
        .with_columns(turn=pl.col("local") + offset)
    )
    is_message = pl.col("message_id").is_not_null()
    line = pl.col("line").filter(is_message)
    at = pl.col("at").filter(is_message)
    files = pl.col(*FILES).list.explode(keep_nulls=False, empty_as_null=False)
    turns = rows.group_by("session_id", "turn", maintain_order=True).agg(
        pl.col("day", "source_id").filter(is_message).first(),
        pl.col("generation").last(),
        pl.col(*STATE).filter(is_message).last(),
        files.unique(maintain_order=True),
        line_from=line.first(),
        line_to=line.last(),
        started_at=at.min(),
        ended_at=at.max(),
        message_ids=pl.col("message_id").drop_nulls(),
        result_count=(pl.col("kind") == "tool_result").sum(),
        is_compacted=pl.col("boundary").is_not_null().any(),
    )
    turns = turns.filter(pl.col("message_ids").list.len() > 0)
    return frame_of("checkpoints", turns.with_columns(pl.col("folder").fill_null("")).to_dicts())


def _messages(
    windows: pl.DataFrame, tables: ParquetTables, archive: Archive, now: datetime
) -> pl.DataFrame:
    """Returns the messages of the windows, and the boundaries between them, in the order of their
    sessions.
    """
    sources = windows["source_id"].unique().sort()
    records = tables.scan("records", sources)
    captured = pl.concat([archive.resources(source) for source in (*sources, "")])
    rows = conversation(records, captured, now, extra=FILES)
    owned = windows.select(
        "session_id", "source_id", "day", message_id="message_ids", line="lines"
    ).explode("message_id", "line")
    place = ["source_id", "message_id", "line"]
    rows = rows.drop("session_id").join(owned, on=place, how="left", maintain_order="left")
    is_boundary = pl.col("message_id").is_null() & pl.col("boundary").is_not_null()
    rows = rows.filter(is_boundary | pl.col("session_id").is_not_null())
    rows = rows.unique([*place, "boundary", "event_at"], keep="first", maintain_order=True)
    sessions = windows.group_by("source_id").agg(
        of_source=pl.first("session_id"), begins=pl.min("started_at")
    )
    return (
        rows.join(sessions, on="source_id", maintain_order="left")
        .with_columns(session_id=pl.coalesce("session_id", "of_source"))
        .join(_states(records), on=PLACE, how="left", maintain_order="left")
        .sort("session_id", "begins", *PLACE, maintain_order=True)
    )


def _states(records: pl.LazyFrame) -> pl.DataFrame:
    """Returns the last known folder, branch, model and version at each record."""
    ordered_records = in_order(records.select(*PLACE, *STATE.values()).collect())
    latest = {as_: pl.col(name).forward_fill().over("source_id") for as_, name in STATE.items()}
    return ordered_records.select(*PLACE, **latest)
