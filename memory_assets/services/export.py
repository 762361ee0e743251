"""Writes a table for other programs: JSON Lines, CSV or Parquet.

Takes a table, writes rows part by part, so that no table need fit in memory. An exported row has the table's columns and, first
among them, `session`: what the columns call `session_id`.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import IO, Any, Literal

import orjson
import polars as pl

from memory_assets.errors import StoreError
from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Tables
from memory_assets.text.files import make_folder

Format = Literal["jsonl", "csv", "parquet"]


def export_table(tables: Tables, table: str, into: IO[bytes], format: Format) -> int:
    """Writes the table's rows and returns how many there are."""
    frames = frames_of(tables, table)
    if format == "jsonl":
        return _write_jsonl(frames, into)
    if format == "csv":
        return _write_csv(frames, into)
    frame = pl.concat([empty(table), *frames])
    frame.write_parquet(into)
    return frame.height


def export_file(tables: Tables, table: str, path: Path, format: Format) -> int:
    """Writes the table to a file, readable by its owner alone, and returns how many rows it has."""
    try:
        make_folder(path.parent)
        with path.open("wb") as file:
            path.chmod(0o600)
            return export_table(tables, table, file, format)
    except OSError as error:
        raise StoreError(
            f"Cannot export '{table}' to {path}: {error.strerror or error}. Free space, or name another file with -o."
        ) from error


def frames_of(tables: Tables, table: str) -> Iterator[pl.DataFrame]:
    """Yields the rows of the table part by part, in order of part and key."""
    schemas.record_of(table)
    for part in tables.parts(table):
        frame = with_session(tables.read(table, [part]))
        if not frame.is_empty():
            yield frame.sort(schemas.key_of(table))


def rows_of(tables: Tables, table: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table as plain dictionaries."""
    for frame in frames_of(tables, table):
        yield from frame.iter_rows(named=True)


def empty(table: str) -> pl.DataFrame:
    """Returns the exported table without rows."""
    return with_session(schemas.empty(table))


def with_session(frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the frame with `session` as the name by which others know the session's id."""
    return frame.with_columns(session=pl.col("session_id")) if "session_id" in frame.columns else frame


def _write_jsonl(frames: Iterable[pl.DataFrame], into: IO[bytes]) -> int:
    count = 0
    for frame in frames:
        for row in frame.iter_rows(named=True):
            into.write(orjson.dumps(row, default=_text) + b"\n")
        count += frame.height
    return count


def _write_csv(frames: Iterable[pl.DataFrame], into: IO[bytes]) -> int:
    count = 0
    for number, frame in enumerate(frames):
        nested = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
        flat = frame.with_columns(pl.col(name).map_elements(_as_json, pl.String, skip_nulls=True) for name in nested)
        flat = flat.with_columns(pl.selectors.binary().bin.encode("base64"))
        flat.write_csv(into, include_header=number == 0)
        count += frame.height
    return count


def _as_json(values: Any) -> str:
    return json.dumps(list(values), ensure_ascii=False, default=_plain)


def _plain(value: date | datetime) -> str:
    return value.isoformat()


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
