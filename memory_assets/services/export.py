"""Exports a table as JSON Lines, CSV or Parquet.

JSON Lines and CSV are written partition by partition, so that a table need not fit in memory. Exported rows have the table's
columns and `session`, a copy of `session_id`.
"""

import base64
import json
from collections.abc import Iterator
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
    """Writes the table's rows and returns their number."""
    frames = frames_of(tables, table)
    if format == "parquet":
        frame = pl.concat([_with_session(schemas.empty(table)), *frames])
        frame.write_parquet(into)
        return frame.height
    count = 0
    for frame in frames:
        into.write(_jsonl(frame) if format == "jsonl" else _csv(frame, has_header=not count))
        count += frame.height
    return count


def export_file(tables: Tables, table: str, path: Path, format: Format) -> int:
    """Writes the table to a file that only its owner can read, and returns the number of rows."""
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
    """Yields the rows of the table by partition, in order of partition and key."""
    schemas.record_of(table)
    for part in tables.parts(table):
        frame = _with_session(tables.read(table, [part]))
        if not frame.is_empty():
            yield frame.sort(schemas.key_of(table))


def rows_of(tables: Tables, table: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table as plain dictionaries."""
    for frame in frames_of(tables, table):
        yield from frame.iter_rows(named=True)


def _with_session(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(session=pl.col("session_id")) if "session_id" in frame.columns else frame


def _jsonl(frame: pl.DataFrame) -> bytes:
    rows = frame.iter_rows(named=True)
    return b"".join(orjson.dumps(row, default=lambda blob: base64.b64encode(blob).decode()) + b"\n" for row in rows)


def _csv(frame: pl.DataFrame, *, has_header: bool) -> bytes:
    nested = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
    flat = frame.with_columns(pl.col(name).map_elements(_as_json, pl.String, skip_nulls=True) for name in nested)
    return flat.with_columns(pl.selectors.binary().bin.encode("base64")).write_csv(include_header=has_header).encode()


def _as_json(values: Any) -> str:
    return json.dumps(list(values), ensure_ascii=False, default=lambda moment: moment.isoformat())
