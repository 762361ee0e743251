"""Reads rows of a table: some of them to display, or all of them to export as JSON Lines, CSV or
Parquet.

JSON Lines and CSV are written partition by partition, so that a table need not fit in memory.
Exported rows have the table's columns and `session`, a copy of `session_id`. JSON Lines and CSV are
cleaned like everything that others read (`text.visible`): control characters are replaced,
characters without width are removed, and tags that would name a speaker get other brackets.
"""

import base64
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson
import polars as pl

from memory_assets.errors import StoreError, TableError
from memory_assets.schema import frames as schemas
from memory_assets.schema.vocabulary import FileFormat
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.text.files import make_folder
from memory_assets.text.visible import visible, visible_json

OF_A_FACT = "id priority category author day project text session_id path lines".split()
"""Columns of a sampled fact."""


@dataclass(frozen=True)
class ShownRows:
    """Some rows of a table, and the number of all rows."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    total: int
    key: tuple[str, ...]
    """The columns that identify a row."""


def show_rows(
    tables: ParquetTables, table: str, *, day: str | None = None, limit: int = 10
) -> ShownRows:
    """Returns the latest rows of the table, or of one of its days."""
    chosen_parts = None if day is None else [day]
    all_parts = list(tables.parts(table))
    # A table without any parts has no rows, whatever the day.
    if day is not None and all_parts and day not in all_parts:
        names = all_parts[0]
        if len(all_parts) > 1:
            names = f"{len(all_parts)} parts, {all_parts[0]} to {all_parts[-1]}"
        raise TableError(f"Table '{table}' has no part '{day}'; it has {names}.")
    frame = tables.scan(table, chosen_parts)
    total = frame.select(pl.len()).collect().item()
    return _rows(table, _latest_first(table, frame).head(limit).collect(), total)


def show_frame(table: str, frame: pl.DataFrame, limit: int) -> ShownRows:
    """Returns the latest of these rows of the table."""
    rows = _latest_first(table, frame.lazy()).head(limit).collect()
    return _rows(table, rows, frame.height)


def _latest_first(table: str, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Returns the rows by their time, the latest first; a table without times by its key."""
    times = [name for name, dtype in schemas.schema_of(table).items() if dtype.is_temporal()]
    usual = [name for name in ("event_at", "started_at") if name in times]
    moments = (usual or times)[:1]
    keys = schemas.key_of(table)
    is_descending = [True] * len(moments) + [False] * len(keys)
    return frame.sort(*moments, *keys, descending=is_descending, nulls_last=True)


def sample_rows(tables: ParquetTables, table: str, count: int, seed: str) -> ShownRows:
    """Returns random rows; the same seed gives the same rows of the same table."""
    return _sample(table, tables.read(table), count, seed)


def sample_facts(tables: ParquetTables, count: int, seed: str) -> ShownRows:
    """Returns random allowed facts of all days; the same seed gives the same facts of the same
    store.
    """
    is_allowed = (pl.col("gate") == "allow") & (pl.col("kind") == "fact")
    facts = tables.scan("observations").filter(is_allowed).select(OF_A_FACT).collect()
    return _sample("observations", facts, count, seed)


def _sample(table: str, frame: pl.DataFrame, count: int, seed: str) -> ShownRows:
    chosen = random.Random(seed).sample(range(frame.height), min(count, frame.height))
    return _rows(table, frame.sort(schemas.key_of(table))[chosen], frame.height)


def _rows(table: str, frame: pl.DataFrame, total: int) -> ShownRows:
    key = tuple(schemas.key_of(table))
    return ShownRows(table, tuple(frame.columns), tuple(frame.to_dicts()), total, key)


def export_table(
    table: str, frames: Iterable[pl.DataFrame], into: IO[bytes], format: FileFormat
) -> int:
    """Writes the table's rows, as `frames_of` yields them, and returns their number."""
    if format == "parquet":
        frame = pl.concat([_with_session(schemas.empty(table)), *frames])
        frame.write_parquet(into)
        return frame.height
    count = 0
    for frame in frames:
        content = _jsonl(frame) if format == "jsonl" else _csv(frame, has_header=count == 0)
        into.write(content)
        count += frame.height
    return count


def export_file(table: str, frames: Iterable[pl.DataFrame], path: Path, format: FileFormat) -> int:
    """Writes the table's rows to a file that only its owner can read, and returns their number."""
    try:
        make_folder(path.parent)
        with path.open("wb") as file:
            path.chmod(0o600)
            return export_table(table, frames, file, format)
    except OSError as error:
        raise StoreError(
            f"Cannot export '{table}' to {path}: {error.strerror or error}. Free space, or "
            "name another file with -o."
        ) from error


def frames_of(
    tables: ParquetTables, table: str, rows: pl.DataFrame | None = None
) -> Iterator[pl.DataFrame]:
    """Yields the rows of the table by partition, in order of partition and key; or only `rows`.

    Raises `UnknownTableError` for another name.
    """
    schemas.record_of(table)
    partitions = (tables.read(table, [part]) for part in tables.parts(table))
    frames = partitions if rows is None else [rows]
    for frame in frames:
        if not frame.is_empty():
            yield _with_session(frame).sort(schemas.key_of(table))


def rows_of(frames: Iterable[pl.DataFrame]) -> Iterator[dict[str, Any]]:
    """Yields the rows as plain dictionaries."""
    for frame in frames:
        yield from frame.iter_rows(named=True)


def _with_session(frame: pl.DataFrame) -> pl.DataFrame:
    if "session_id" not in frame.columns:
        return frame
    return frame.with_columns(session=pl.col("session_id"))


def _jsonl(frame: pl.DataFrame) -> bytes:
    """Returns the rows as JSON Lines; their text is cleaned, also where JSON escapes it."""
    lines = (orjson.dumps(row, default=_in_base64) for row in frame.iter_rows(named=True))
    return b"".join(visible_json(f"{line.decode()}\n").encode() for line in lines)


def _in_base64(blob: bytes) -> str:
    return base64.b64encode(blob).decode()


def _csv(frame: pl.DataFrame, *, has_header: bool) -> bytes:
    """Returns the rows as CSV with cleaned text; lists are written as JSON, bytes in base64."""
    list_columns = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
    flat = frame.with_columns(
        pl.col(name).map_elements(_as_json, pl.String, skip_nulls=True) for name in list_columns
    )
    as_text = flat.with_columns(pl.selectors.binary().bin.encode("base64"))
    return visible(as_text.write_csv(include_header=has_header)).encode()


def _as_json(values: Any) -> str:
    return json.dumps(list(values), ensure_ascii=False, default=lambda moment: moment.isoformat())
