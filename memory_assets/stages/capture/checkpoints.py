"""Cuts sessions into turns: which messages each turn has, and the state of the session at its end.

A turn begins with a message that the person typed and ends before the next such message. The turns
of a session are numbered from 1, in the order of the transcript. Messages that a fork copied count
in the session that they were copied from, not in the fork. Turn 0 has the messages before the first
turn, and all messages of a sub-agent's session, because nobody types there.

A turn is stored under the day of the window that it begins in. A compaction, or a long silence of
the assistant, may close a window in the middle of a turn. The turn's row then also has its messages
in the closed windows that follow. The rows of a day therefore depend on the windows of that day, on
the number of turns before them, and on the windows that continue the day's last turn. Once the next
turn has begun, the row no longer changes. Texts stay in `messages`.
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
"""Columns of a checkpoint, each with the column of `records` whose latest value it has."""

FILES = ("files_read", "files_modified")


def versions_of_days(windows: pl.DataFrame, version: str) -> dict[str, str]:
    """Returns a hash of the inputs of each day's turns, by day."""
    parts_of_days: dict[str, list[object]] = defaultdict(list)
    closed_windows = windows.drop_nulls("day").select(WINDOW_COLUMNS)
    for session_windows in _by_session(closed_windows):
        turn_count = 0
        for number, row in enumerate(session_windows):
            windows_after = _continuations(session_windows, number)
            later = [window["fingerprint"] for window in windows_after]
            parts = parts_of_days[row["day"].isoformat()]
            parts += [turn_count, row["fingerprint"], *later]
            turn_count += row["user_turn_count"]
    return {day: hash_of(version, *parts) for day, parts in parts_of_days.items()}


def _by_session(windows: pl.DataFrame) -> Iterator[list[dict[str, Any]]]:
    """Yields, for each session, the list of its windows in order."""
    rows = windows.sort("session_id", "started_at", "line_from").iter_rows(named=True)
    for _, session_windows in groupby(rows, key=lambda row: row["session_id"]):
        yield list(session_windows)


def _continuations(windows: Sequence[dict[str, Any]], number: int) -> Iterator[dict[str, Any]]:
    """Yields the windows after that number, up to the first in which a new turn begins.

    They may have messages of the turn that the window with the number ends in.
    """
    for window in windows[number + 1 :]:
        yield window
        if window["user_turn_count"]:
            return


@dataclass(frozen=True)
class _Part:
    """Windows of one session that follow each other."""

    window_ids: tuple[str, ...]
    earlier_turns: int
    """User turns in the session's windows before these."""
    is_beginning: bool
    """Whether the session has no window before these."""


def build_checkpoints(
    tables: ParquetTables, archive: Archive, now: datetime, day: str
) -> pl.DataFrame:
    """Returns the turns that begin in the windows that closed on the day."""
    closed_on = date.fromisoformat(day)
    closed_windows = tables.scan("windows").filter(pl.col("day").is_not_null())
    sessions = closed_windows.filter(pl.col("day") == closed_on).select("session_id").unique()
    windows = closed_windows.join(sessions, on="session_id", how="semi").collect()
    parts = {
        session_windows[0]["session_id"]: _part_of(session_windows, closed_on)
        for session_windows in _by_session(windows.select("window_id", *WINDOW_COLUMNS))
    }
    ids = [id for part in parts.values() for id in part.window_ids]
    windows_of_parts = windows.filter(pl.col("window_id").is_in(ids))
    turns = _turns(windows_of_parts, parts, tables, archive, now)
    return turns.filter(pl.col("day") == closed_on)


def _part_of(windows: Sequence[dict[str, Any]], day: date) -> _Part:
    """Returns those of a session's windows that have messages of the day's turns."""
    numbers = [number for number, row in enumerate(windows) if row["day"] == day]
    first = numbers[0]
    last = numbers[-1]
    rows = [*windows[first : last + 1], *_continuations(windows, last)]
    earlier_turns = sum(row["user_turn_count"] for row in windows[:first])
    return _Part(tuple(row["window_id"] for row in rows), earlier_turns, first == 0)


def open_checkpoints(tables: ParquetTables, archive: Archive, now: datetime) -> pl.DataFrame:
    """Returns the turns that have messages in open windows.

    Such a turn is complete, also where it begins in a closed window.
    """
    windows = tables.scan("windows")
    open_sessions = windows.filter(status="open").select("session_id").unique()
    session_windows = windows.join(open_sessions, on="session_id", how="semi").collect()
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
    """Returns the turns that begin in the windows, in order.

    `parts` has, by session id, the part of a session whose other windows are not given.
    """
    offsets = {id: part.earlier_turns for id, part in parts.items()}
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
    """Returns the messages of the windows and the boundaries between them, ordered by session."""
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
    """Returns the latest folder, branch, model and version at each record."""
    ordered_records = in_order(records.select(*PLACE, *STATE.values()).collect())
    latest = {
        column: pl.col(name).forward_fill().over("source_id") for column, name in STATE.items()
    }
    return ordered_records.select(*PLACE, **latest)
