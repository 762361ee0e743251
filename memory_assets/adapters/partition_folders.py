"""Hive folders of partitions: `day=2026-04-08`, `span=week/day=2026-04-06`.

A partition is named by the values of its partition columns (`2026-04-08`, `week-2026-04-06`). Its file does not contain these
columns, as polars, DuckDB, pandas and pyarrow expect of this layout. A table without partition columns has the one partition
`all`, whose file is in the table's own folder.
"""

import os
import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from glob import iglob

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.tables import WHOLE

FILE = "data.parquet"
COLUMNS_FILE = "columns.parquet"
"""A file without rows that sorts before all partitions. polars keeps the footer of the first file between planning and running
a query, so this file must not change when partitions do."""

_FIRST = {pl.Date(): "1970-01-01", pl.String(): "-"}
_TEXT = re.compile(r"[A-Za-z0-9._-]+")


def values_of(table: str, part: str) -> dict[str, str] | None:
    """Returns the values of the partition columns; None if the table cannot have such a partition."""
    columns, schema = schemas.partitioned_by(table), schemas.schema_of(table)
    if not columns:
        return {} if part == WHOLE else None
    values = dict(zip(columns, part.split("-", len(columns) - 1), strict=False))
    is_valid = len(values) == len(columns) and all(_is_value(schema[column], value) for column, value in values.items())
    return values if is_valid else None


@lru_cache(maxsize=1 << 15)
def file_of(table: str, part: str) -> str:
    """Returns the partition's file below the table's folder; empty if the table cannot have such a partition."""
    values = values_of(table, part)
    return "" if values is None else os.path.join(*(f"{column}={value}" for column, value in values.items()), FILE)


def columns_file_of(table: str) -> str:
    """Returns the table's file without rows, below the table's folder."""
    schema = schemas.schema_of(table)
    return os.path.join(*(f"{column}={_FIRST[schema[column]]}" for column in schemas.partitioned_by(table)), COLUMNS_FILE)


def find_parts(table: str, folder: str) -> Iterator[str]:
    """Yields the names of the partitions that have a folder below the table's folder, unordered."""
    if not (columns := schemas.partitioned_by(table)):
        return iter([WHOLE])
    found = iglob(os.path.join(*(f"{column}=*" for column in columns)), root_dir=folder)
    return ("-".join(level.partition("=")[2] for level in path.split(os.sep)) for path in found)


def _is_value(kind: pl.DataType, value: str) -> bool:
    if kind != pl.Date():
        return _TEXT.fullmatch(value) is not None
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
