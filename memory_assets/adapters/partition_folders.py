"""Names the folders of partitions as Hive does: `day=2026-04-08`, `span=week/day=2026-04-06`.

A part of a table is named by the values of the columns it is partitioned by (`2026-04-08`, `week-2026-04-06`); these columns
are left out of its file, as polars, DuckDB, pandas and pyarrow expect of this layout. A table without such columns has the
one part `all`, whose file lies in the table's own folder.
"""

import os
import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache

import polars as pl

from memory_assets.errors import TableError
from memory_assets.schema import frames as schemas

ALL = "all"
FILE = "data.parquet"
"""The file of a part; a rewrite replaces it."""

COLUMNS_FILE = "columns.parquet"
"""A file without rows that sorts before all parts. polars keeps the footer of the first file between planning and running a
query, so this file must not change while parts do."""

_FIRST = {pl.Date(): "1970-01-01", pl.String(): "-"}
_TEXT = re.compile(r"[A-Za-z0-9._-]+")


def folder_of(table: str, part: str) -> str:
    """Returns the part's folder below the table's, empty for `all`; raises `TableError` where the table has no such part."""
    values = values_of(table, part)
    if values is None:
        columns = schemas.partitioned_by(table)
        named = f"they are named by {' and '.join(columns)}" if columns else f"it has one, '{ALL}'"
        raise TableError(f"Table '{table}' cannot have a part '{part}'; {named}.")
    return os.path.join("", *(f"{column}={value}" for column, value in values.items()))


def values_of(table: str, part: str) -> dict[str, str] | None:
    """Returns the values that the part's rows share, by column; None where the table cannot have such a part."""
    columns = schemas.partitioned_by(table)
    if not columns:
        return {} if part == ALL else None
    values = dict(zip(columns, part.split("-", len(columns) - 1), strict=False))
    schema = schemas.schema_of(table)
    is_part = len(values) == len(columns) and all(_is_value(schema[column], value) for column, value in values.items())
    return values if is_part else None


@lru_cache(maxsize=1 << 15)
def file_of(table: str, part: str) -> str:
    """Returns the part's file below the table's folder; empty where the table cannot have such a part."""
    return "" if values_of(table, part) is None else os.path.join(folder_of(table, part), FILE)


def columns_folder_of(table: str) -> str:
    """Returns the folder of the table's file without rows, below the table's."""
    schema = schemas.schema_of(table)
    return os.path.join("", *(f"{column}={_FIRST[schema[column]]}" for column in schemas.partitioned_by(table)))


def find_parts(table: str, folder: str) -> Iterator[str]:
    """Yields the names of the parts that have a folder below the table's folder, in no order."""
    columns = schemas.partitioned_by(table)
    return ("-".join(values) for values in _values_below(folder, columns)) if columns else iter([ALL])


def _values_below(folder: str, columns: tuple[str, ...]) -> Iterator[list[str]]:
    if not columns:
        yield []
        return
    prefix = f"{columns[0]}="
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        if name.startswith(prefix):
            rest = _values_below(os.path.join(folder, name), columns[1:])
            yield from ([name.removeprefix(prefix), *values] for values in rest)


def _is_value(kind: pl.DataType, value: str) -> bool:
    if kind != pl.Date():
        return _TEXT.fullmatch(value) is not None
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
