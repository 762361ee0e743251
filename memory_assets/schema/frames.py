"""Table schemas derived from the records, and frames made from records.

`schema_of` returns the polars schema of a table, `checks_of` the pandera schema with its rules,
`frame_of` turns records (or dictionaries) into a frame. `check` raises `TableError` for a frame
that breaks the schema or a rule; every frame is checked before it is written.
"""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import polars as pl

from memory_assets.errors import TableError, UnknownTableError
from memory_assets.schema.records import Record
from memory_assets.schema.tables import FOLDERS, TABLES, table_names

SCHEMA_VERSION = 2
"""Version of all table schemas; when it changes, a store rebuilds its derived tables."""

_DTYPES: dict[str, pl.DataType] = {
    "string": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "boolean": pl.Boolean(),
    "binary": pl.Binary(),
    "date-time": pl.Datetime("us", "UTC"),
    "date": pl.Date(),
}
"""Format, or type without a format, in JSON Schema → polars type."""


def record_of(table: str) -> type[Record]:
    """Returns the record type of the table's rows; raises `UnknownTableError` for another name."""
    declaration = TABLES.get(table)
    if declaration is None or declaration.record is None:
        raise UnknownTableError(
            f"There is no table '{table}'. The tables are: {', '.join(table_names())}."
        )
    return declaration.record


@cache
def schema_of(table: str) -> pl.Schema:
    """Returns the polars schema of the table."""
    return pl.Schema({name: _dtype(column) for name, column in _columns(table).items()})


def key_of(table: str) -> list[str]:
    """Returns the columns that identify a row."""
    record = record_of(table)
    return list(record.key or [*record.model_fields][:1])


def partitioned_by(table: str) -> tuple[str, ...]:
    """Returns the columns whose values name the partitions; empty for a table with the single
    partition `all`.
    """
    return FOLDERS[TABLES[table].grain]


def hash_of(*parts: object) -> str:
    """Returns a short hash of the parts, in order; used for input versions and ids."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:24]


def empty(table: str) -> pl.DataFrame:
    """Returns the table's frame without rows."""
    return pl.DataFrame(schema=schema_of(table))


def frame_of(table: str, rows: Iterable[Record | Mapping[str, Any]]) -> pl.DataFrame:
    """Returns the rows as a frame with the table's schema."""
    dicts = [row.model_dump() if isinstance(row, Record) else dict(row) for row in rows]
    try:
        return pl.DataFrame(dicts, schema=schema_of(table), orient="row")
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise TableError(f"Rows do not fit the table '{table}': {error}") from error


def check(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the frame if it satisfies the table's schema, rules and unique key; else raises
    `TableError` with examples.

    One polars query finds out whether any row breaks a rule. Only then pandera, which is twenty
    times slower, is asked for the columns and rules.
    """
    if frame.schema != schema_of(table):
        differences = set(frame.schema.items()) ^ set(schema_of(table).items())
        raise TableError(
            f"The columns of '{table}' do not match its schema; they differ in "
            f"{sorted(map(str, differences))}."
        )
    if not frame.select(_has_broken_rows(table)).item():
        return frame
    import pandera.errors

    # pandera's report cannot contain binary values.
    binary = [name for name, kind in frame.schema.items() if kind == pl.Binary]
    rules = checks_of(table).update_columns({name: {"dtype": pl.String()} for name in binary})
    try:
        rules.validate(frame.with_columns(pl.col(binary).bin.encode("hex")), lazy=True)
        return frame
    except pandera.errors.SchemaErrors as error:
        cases = error.failure_cases.head(3).select("column", "check").rows()
        raise TableError(
            f"Rows of '{table}' break its schema, for example (column, rule): {cases}."
        ) from error


@cache
def checks_of(table: str):
    """Returns the pandera schema of the table: types, nullability, bounds, allowed values, unique
    key.
    """
    import pandera.polars as pa

    columns = {
        name: pa.Column(
            _dtype(column),
            [getattr(pa.Check, rule)(value) for rule, value in _rules(column)],
            nullable="anyOf" in column,
            description=column["description"],
        )
        for name, column in _columns(table).items()
    }
    return pa.DataFrameSchema(columns, name=table, strict=True, unique=key_of(table))


@cache
def _has_broken_rows(table: str) -> pl.Expr:
    """Returns an expression that is true if any row breaks a rule of `checks_of`, or has a NaN."""
    return pl.any_horizontal(fault.any() for fault in _faults(table))


def find_broken(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the keys of the rows that break a rule of the table's schema or repeat a key; empty
    if the frame has other columns.
    """
    key = key_of(table)
    if frame.schema != schema_of(table):
        return frame.clear().select(name for name in key if name in frame.columns)
    return frame.filter(pl.any_horizontal(_faults(table))).select(key)


@cache
def _faults(table: str) -> list[pl.Expr]:
    """Returns expressions: a row breaks a rule or has a NaN if one of them is true for it."""
    breaks = {
        "isin": lambda column, value: ~column.is_in(value),
        "ge": lambda column, value: column < value,
        "le": lambda column, value: column > value,
    }
    faults = [pl.struct(key_of(table)).is_duplicated()]
    for name, field in _columns(table).items():
        column = pl.col(name)
        faults += [breaks[rule](column, value) for rule, value in _rules(field)]
        if "anyOf" not in field:
            faults.append(column.is_null())
            if _dtype(field).is_float():
                faults.append(column.is_nan())
    return faults


@cache
def _columns(table: str) -> dict[str, dict[str, Any]]:
    """Returns the JSON Schema of each column's values; a nullable column keeps `anyOf`."""
    columns = record_of(table).model_json_schema()["properties"]
    return {name: {**column, **column.get("anyOf", [{}])[0]} for name, column in columns.items()}


def _rules(column: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Returns the rules for the values: `isin` (allowed), `ge` (minimum), `le` (maximum)."""
    names = {"enum": "isin", "minimum": "ge", "maximum": "le"}
    return [(rule, column[name]) for name, rule in names.items() if name in column]


def _dtype(column: Mapping[str, Any]) -> pl.DataType:
    if column["type"] == "array":
        inner = _dtype(column["items"])
        return pl.List(pl.Float32() if inner.is_float() else inner)
    return _DTYPES[column.get("format", column["type"])]
