"""Builds `messages`, with their texts, and `sessions` from the windows of a day.

Texts are read from the archive: for each window, a new reader gets every line from the window's
first to its last. Ids, places and times are those of `records`. Texts are masked again, because a
reader joins and shortens the masked raw lines, and the check for secrets reads its results. Tool
output over 4,000 characters is cut in its middle; the archive has all of it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from itertools import count, islice
from typing import Any

import polars as pl

from memory_assets.harnesses.normal_form import Parsed
from memory_assets.harnesses.readers import open_reader
from memory_assets.schema import frames as schemas
from memory_assets.schema.tables import version_of
from memory_assets.stages.capture.index import INDEX_VERSION
from memory_assets.stages.capture.ownership import conversation, own_messages
from memory_assets.stages.capture.pushed_ids import original_session
from memory_assets.store.archive import Archive
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.text.masking.redact import mask_frame
from memory_assets.text.words import shortened, squeezed

TOOL_OUTPUT_CHARS = 4_000
"""Longest tool output: more is seldom read again, and nine tenths of a transcript are tool output.
"""

RECORD_COLUMNS = ("byte_from", "byte_to", "author", "model", "version")
"""Columns of `records` that messages need besides those that `conversation` returns."""

LINES_BEFORE = 100
"""Lines before a window that its reader gets, too: a result in the window may belong to a call in
one of them. In 149 real transcripts the furthest such call was 15 lines back."""

NAME_CHARS = 72
"""Longest name of a session that is the beginning of its first request."""

FILES = ("files_read", "files_modified")
OF_RECORD = tuple("message_id line byte_from byte_to resource_id author kind is_user_turn".split())
OF_LAST_WINDOW = (
    "day", "harness", "path", "project", "folder", "person", "branch", "parent_session_id",
    "version", "title",
)  # fmt: skip
BATCH_ROWS = 1_000


def inputs_of(windows: pl.DataFrame) -> str:
    """Returns a hash of all inputs of the messages of these windows."""
    fingerprints = windows.sort("window_id")["fingerprint"]
    return schemas.hash_of(INDEX_VERSION, version_of("resources"), *fingerprints)


def windows_of(tables: ParquetTables, day: str) -> pl.DataFrame:
    """Returns the windows that closed on the day."""
    return tables.read("windows").filter(pl.col("day") == pl.lit(day).str.to_date())


def build_messages(
    windows: pl.DataFrame, tables: ParquetTables, archive: Archive, now: datetime
) -> Iterator[pl.DataFrame]:
    """Yields the messages of the windows as frames of the table, in batches."""
    ordered = windows.sort("source_id", "window_id")
    messages = (
        row
        for (source,), source_windows in ordered.group_by("source_id", maintain_order=True)
        for row in _messages_of(str(source), source_windows, tables, archive, now)
    )
    for rows in iter(lambda: list(islice(messages, BATCH_ROWS)), []):
        yield mask_frame(schemas.frame_of("messages", rows))


def build_sessions(
    windows: pl.DataFrame, messages: pl.DataFrame | pl.LazyFrame, tables: ParquetTables
) -> pl.DataFrame:
    """Returns one row for each session that closed a window on the day."""
    turns = messages.lazy().filter("is_user_turn")
    turns = turns.select("session_id", "event_at", "ordinal", "text").collect()
    ordered = turns.sort("event_at", "ordinal")
    first_turns = ordered.group_by("session_id", maintain_order=True).agg(pl.first("text"))
    ids = windows.select("session_id", "source_id", message_id="message_ids").explode("message_id")
    records = tables.scan("records", windows["source_id"].unique())
    records = records.select("source_id", "message_id", *FILES)
    file_records = records.filter(pl.any_horizontal(pl.col(FILES).list.len() > 0)).collect()
    files = (
        ids.join(file_records, on=("source_id", "message_id"))
        .group_by("session_id")
        .agg(pl.col(FILES).list.explode().drop_nulls().unique().sort())
    )
    sessions = windows.sort("started_at", "window_id").group_by("session_id").agg(
        pl.last(*OF_LAST_WINDOW), pl.min("started_at"), pl.max("ended_at"), pl.sum("message_count",
        "user_turn_count"),
        window_count=pl.len(),
    )  # fmt: skip
    rows = sessions.join(first_turns, "session_id", "left").join(files, "session_id", "left")
    return schemas.frame_of("sessions", map(_session, rows.iter_rows(named=True)))


def _messages_of(
    source: str, windows: pl.DataFrame, tables: ParquetTables, archive: Archive, now: datetime
) -> Iterator[dict[str, Any]]:
    """Yields the messages of one source's windows; ordinals count from 0 in each window."""
    ids = windows.select("window_id", message_id="message_ids").explode("message_id")
    records = own_messages(_records_of(source, ids["message_id"], tables, archive, now))
    placed_records = ids.join(records, on="message_id").sort("window_id", "generation", "line")
    rows_of_windows = windows.drop("message_ids", "lines").iter_rows(named=True)
    window_of = {window["window_id"]: window for window in rows_of_windows}
    ordinals: dict[str, Iterator[int]] = defaultdict(count)
    groups = placed_records.group_by("window_id", "generation", maintain_order=True)
    for (window_id, generation), group in groups:
        window = window_of[window_id]
        record_at = {row["line"]: row for row in group.iter_rows(named=True)}
        for number, parsed in _parsed_lines(window, archive, int(str(generation)), record_at):
            yield _message(window, record_at[number], parsed, next(ordinals[window["window_id"]]))


def _records_of(
    source: str, ids: pl.Series, tables: ParquetTables, archive: Archive, now: datetime
) -> pl.DataFrame:
    """Returns the records of the messages, each with its time.

    All records of the source are read only if a time has to be guessed from neighbours.
    """
    records = tables.scan("records", [source])
    captured = archive.resources(source)
    has_id = pl.col("message_id").is_in(ids.implode())
    rows = conversation(records.filter(has_id), captured, now, extra=RECORD_COLUMNS)
    if not rows["is_guessed"].any():
        return rows
    return conversation(records, captured, now, extra=RECORD_COLUMNS).filter(has_id)


def _parsed_lines(
    window: Mapping[str, Any],
    archive: Archive,
    generation: int,
    numbers: Collection[int],
) -> Iterator[tuple[int, Parsed]]:
    """Yields the parsed lines of these numbers.

    The reader also gets all lines between them, and `LINES_BEFORE` the first.
    """
    first = min(numbers)
    last = max(numbers)
    session = original_session(window["session_id"])
    reader = open_reader(window["harness"], window["path"], session_id=session)
    for line in archive.lines(window["source_id"], generation, from_line=first - LINES_BEFORE):
        if line.number > last:
            return
        if line.number >= first - LINES_BEFORE:
            parsed = reader.read(line.content)
            if line.number in numbers:
                yield line.number, parsed


def _message(
    window: Mapping[str, Any], record: Mapping[str, Any], parsed: Parsed, ordinal: int
) -> dict[str, Any]:
    is_text = record["kind"] == "text"
    return {
        **{name: window[name] for name in ("session_id", "window_id", "day")},
        **{name: record[name] for name in OF_RECORD},
        **{name: getattr(parsed, name) for name in ("tool_name", "is_error", "image_count")},
        "model": record["model"],
        "harness_version": record["version"] or window["version"],
        "ordinal": ordinal,
        "event_at": record["at"],
        "is_time_guessed": record["is_guessed"],
        "text": parsed.text if is_text else cut_middle(parsed.text, TOOL_OUTPUT_CHARS),
        "text_chars": len(parsed.text),
    }


def cut_middle(text: str, limit: int) -> str:
    """Returns at most `limit` characters: a note replaces the middle of a longer text."""
    if len(text) <= limit:
        return text
    note = f"\n[… {len(text) - limit:,} characters left out …]\n"
    head_chars = (limit - len(note)) * 2 // 3
    tail_chars = limit - len(note) - head_chars
    return text[:head_chars] + note + text[len(text) - tail_chars :]


def _session(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of `sessions`; a session without a title is named by its first request."""
    title = row.pop("title")
    first_turn = row.pop("text") or ""
    name = title or shortened(squeezed(first_turn), NAME_CHARS) or row["session_id"]
    duration = (row["ended_at"] - row["started_at"]).total_seconds()
    files = {kind: row[kind] or [] for kind in FILES}
    return {**row, "name": name, "duration_seconds": duration, **files}
