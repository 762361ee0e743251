"""Reads the messages of windows from the archive, with their text, and summarises the sessions of a
day.

Texts are read from the archive by a new reader that gets every line from the first to the last of
the window; ids, places and times are those of `records`. Readers leave out, join and shorten what
was masked in the raw line, so texts are masked again, as the check for secrets reads them. The
middle of tool output over 4,000 characters is cut; the archive has all of it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
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

PLACED = ("byte_from", "byte_to", "author", "model", "version")

LINES_BEFORE = 100
"""Lines before a window that its reader gets, because results refer to calls in them. In 149 real
transcripts the furthest such call was 15 lines back."""

NAME_CHARS = 72
FILES = ("files_read", "files_modified")
OF_RECORD = tuple("message_id line byte_from byte_to resource_id author kind is_user_turn".split())
OF_LAST_WINDOW = (
    "day", "harness", "path", "project", "folder", "person", "branch", "parent_session_id",
    "version", "title",
)  # fmt: skip
BATCH_ROWS = 1_000


def inputs_of(windows: pl.DataFrame) -> str:
    """Returns the hash of what the messages of these windows are made from."""
    return schemas.hash_of(
        INDEX_VERSION, version_of("resources"), *windows.sort("window_id")["fingerprint"]
    )


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
    placed = windows.select("session_id", "source_id", message_id="message_ids")
    placed = placed.explode("message_id")
    records = tables.scan("records", windows["source_id"].unique())
    records = records.select("source_id", "message_id", *FILES)
    touched = records.filter(pl.any_horizontal(pl.col(FILES).list.len() > 0)).collect()
    files = (
        placed.join(touched, on=("source_id", "message_id"))
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
    placed = windows.select("window_id", message_id="message_ids").explode("message_id")
    rows = own_messages(_rows_of(source, placed["message_id"], tables, archive, now))
    wanted = placed.join(rows, on="message_id").sort("window_id", "generation", "line")
    rows_of_windows = windows.drop("message_ids", "lines").iter_rows(named=True)
    window_of = {window["window_id"]: window for window in rows_of_windows}
    ordinals: dict[str, Iterator[int]] = defaultdict(count)
    groups = wanted.group_by("window_id", "generation", maintain_order=True)
    for (window_id, generation), group in groups:
        window = window_of[window_id]
        record_at = {row["line"]: row for row in group.iter_rows(named=True)}
        for number, parsed in _parsed_lines(window, archive, int(str(generation)), record_at):
            yield _message(window, record_at[number], parsed, next(ordinals[window["window_id"]]))


def _rows_of(
    source: str, ids: pl.Series, tables: ParquetTables, archive: Archive, now: datetime
) -> pl.DataFrame:
    """Returns the rows of the messages; the whole source is read only where a time has to be
    guessed.
    """
    records, captured = tables.scan("records", [source]), archive.resources(source)
    is_wanted = pl.col("message_id").is_in(ids.implode())
    rows = conversation(records.filter(is_wanted), captured, now, extra=PLACED)
    if not rows["is_guessed"].any():
        return rows
    return conversation(records, captured, now, extra=PLACED).filter(is_wanted)


def _parsed_lines(
    window: Mapping[str, Any],
    archive: Archive,
    generation: int,
    wanted: Mapping[int, Mapping[str, Any]],
) -> Iterator[tuple[int, Parsed]]:
    """Yields the wanted lines; the reader gets all lines between them, and some before them for
    open calls.
    """
    first, last = min(wanted), max(wanted)
    session = original_session(window["session_id"])
    reader = open_reader(window["harness"], window["path"], session_id=session)
    for line in archive.lines(window["source_id"], generation, from_line=first - LINES_BEFORE):
        if line.number > last:
            return
        if line.number >= first - LINES_BEFORE:
            parsed = reader.read(line.content)
            if line.number in wanted:
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
    """Returns the text, its middle replaced by a note when it is longer than the limit."""
    if len(text) <= limit:
        return text
    note = f"\n[… {len(text) - limit:,} characters left out …]\n"
    head = (limit - len(note)) * 2 // 3
    return text[:head] + note + text[len(text) - (limit - len(note) - head) :]


def _session(row: dict[str, Any]) -> dict[str, Any]:
    title = row.pop("title")
    turn = row.pop("text")
    name = title or shortened(squeezed(turn or ""), NAME_CHARS) or row["session_id"]
    duration = (row["ended_at"] - row["started_at"]).total_seconds()
    files = {kind: row[kind] or [] for kind in FILES}
    return {**row, "name": name, "duration_seconds": duration, **files}
