"""The schema of every table, made from its record, and the way between records and rows.

`schema_of` gives the polars schema, `checks_of` the pandera schema that a frame must satisfy before it is written,
`frame_of` turns records (or dictionaries) into a frame. A frame that does not fit raises `TableError` and nothing of it is
written.
"""

import hashlib
import types
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import polars as pl

from memory_assets.errors import TableError
from memory_assets.schema.records import Record
from memory_assets.schema.tables import FOLDERS, table_names, table_of

SCHEMA_VERSION = 2
"""Version of all table schemas together; a store with another one has its derived tables rebuilt."""

_SCALARS: dict[Any, pl.DataType] = {
    str: pl.String(),
    int: pl.Int64(),
    float: pl.Float64(),
    bool: pl.Boolean(),
    bytes: pl.Binary(),
    datetime: pl.Datetime("us", "UTC"),
    date: pl.Date(),
}


def record_of(table: str) -> type[Record]:
    """Returns the record that a row of the table is; raises `TableError` for an unknown name."""
    if (record := table_of(table).record) is None:
        raise TableError(f"'{table}' is no table. The tables are: {', '.join(table_names())}.")
    return record


@cache
def schema_of(table: str) -> pl.Schema:
    """Returns the polars schema of the table."""
    return pl.Schema({name: _dtype(field.annotation) for name, field in record_of(table).model_fields.items()})


def key_of(table: str) -> list[str]:
    """Returns the columns that identify a row."""
    return list(record_of(table).key)


def partitioned_by(table: str) -> tuple[str, ...]:
    """Returns the columns whose values name the parts of the table; none where it has one part, `all`."""
    return FOLDERS[table_of(table).grain]


def columns_of(table: str) -> list[tuple[str, str, str]]:
    """Returns (name, type, description) of each column."""
    fields = record_of(table).model_fields
    return [(name, str(dtype), fields[name].description or "") for name, dtype in schema_of(table).items()]


def hash_of(*parts: object) -> str:
    """Returns a short hash of the parts in order, for saying what a part of a table was made from."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:24]


def empty(table: str) -> pl.DataFrame:
    """Returns the table without rows."""
    return pl.DataFrame(schema=schema_of(table))


def frame_of(table: str, rows: Iterable[Record | Mapping[str, Any]]) -> pl.DataFrame:
    """Returns the rows as a frame with the table's schema."""
    dicts = [row.model_dump() if isinstance(row, Record) else dict(row) for row in rows]
    try:
        return pl.DataFrame(dicts, schema=schema_of(table), orient="row")
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise TableError(f"Rows do not fit the table '{table}': {error}") from error


def check(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Returns the frame when it satisfies the table's schema, bounds and unique key; raises `TableError` with examples.

    One polars query decides whether a row is broken; pandera names the rows and rules, which takes twenty times as long.
    """
    if frame.schema != schema_of(table):
        wrong = set(frame.schema.items()) ^ set(schema_of(table).items())
        raise TableError(f"The columns of '{table}' are not those of its schema; they differ in {sorted(map(str, wrong))}.")
    if not frame.select(_has_broken_rows(table)).item():
        return frame
    import pandera.errors

    try:
        return checks_of(table).validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as error:
        cases = error.failure_cases.head(3).select("column", "check").rows()
        raise TableError(f"Rows of '{table}' break its schema, for instance (column, rule): {cases}.") from error


@cache
def checks_of(table: str):
    """Returns the pandera schema of the table: types, nullability, bounds, allowed values, unique key."""
    import pandera.polars as pa

    record = record_of(table)
    columns = {}
    for name, field in record.model_fields.items():
        base, optional = _strip_optional(field.annotation)
        columns[name] = pa.Column(
            _dtype(field.annotation),
            checks=[getattr(pa.Check, rule)(value) for rule, value in _rules(base, field.metadata)],
            nullable=optional,
            description=field.description,
        )
    return pa.DataFrameSchema(columns, name=table, description=record.__doc__, strict=True, unique=key_of(table) or None)


@cache
def _has_broken_rows(table: str) -> pl.Expr:
    """Returns whether some row breaks a rule of `checks_of`; also true of a NaN, which pandera then judges."""
    breaks = {
        "isin": lambda value: ~column.is_in(value),
        "ge": lambda value: column < value,
        "le": lambda value: column > value,
    }
    found = [pl.struct(key_of(table)).is_duplicated()] if key_of(table) else []
    for name, field in record_of(table).model_fields.items():
        column = pl.col(name)
        base, optional = _strip_optional(field.annotation)
        found += [breaks[rule](value) for rule, value in _rules(base, field.metadata)]
        if not optional:
            found += [column.is_null(), *([column.is_nan()] if schema_of(table)[name].is_float() else [])]
    return pl.any_horizontal(expression.any() for expression in found)


def _rules(annotation: Any, metadata: list[Any]) -> list[tuple[str, Any]]:
    """Returns what values must satisfy besides their type: `isin` the allowed values, `ge` the least, `le` the most."""
    found: list[tuple[str, Any]] = []
    if get_origin(annotation) is Annotated:
        annotation, *inner = get_args(annotation)
        metadata = [m for extra in inner for m in getattr(extra, "metadata", [extra])] + metadata
    if get_origin(annotation) is Literal:
        found.append(("isin", list(get_args(annotation))))
    bounds = [(rule, getattr(bound, rule, None)) for bound in metadata for rule in ("ge", "le")]
    return found + [(rule, value) for rule, value in bounds if value is not None]


def _strip_optional(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [part for part in get_args(annotation) if part is not type(None)]
        return inner[0], True
    return annotation, False


def _dtype(annotation: Any) -> pl.DataType:
    base, _ = _strip_optional(annotation)
    if get_origin(base) is Annotated:
        base = get_args(base)[0]
    if get_origin(base) is Literal:
        return pl.String()
    if get_origin(base) is list:
        (inner,) = get_args(base)
        return pl.List(pl.Float32()) if inner is float else pl.List(_dtype(inner))
    return _SCALARS[base]


def render_dictionary() -> str:
    """Returns the dictionary of all tables and columns as Markdown; `docs/tables.md` is this text."""
    head = [
        "# The tables",
        "",
        "Made from `memory_assets/schema/records.py` by `make docs`; a test keeps it true. Each table is Parquet below",
        "`MEMORY_DATA/tables/`, in folders named as Hive does, and a polars frame by",
        '`memory_assets.scan("observations")`. Times are UTC; a `day` is the local day, in the owner\'s zone, of the latest',
        "event of a window.",
        "",
        "Other programs read the same rows, with the same columns and types:",
        "",
        "| reader | `observations`, from the folder `MEMORY_DATA` |",
        "|---|---|",
        '| polars | `pl.scan_parquet("tables/observations/**/*.parquet", hive_partitioning=True)` |',
        "| DuckDB | `FROM read_parquet('tables/observations/**/*.parquet', hive_partitioning = true)` |",
        '| pyarrow | `ds.dataset("tables/observations", partitioning=days)` with '
        '`days = ds.partitioning(pa.schema({"day": pa.date32()}), flavor="hive")` |',
        '| pandas | `pd.read_parquet("tables/observations")` |',
        "",
        "Columns that name a table's folders are not in its files. pyarrow and pandas do not recognise dates in names: give",
        "pyarrow the type, as above; in pandas convert the column. `columns.parquet` has no rows, only columns.",
        "",
        "While the store is written, files are replaced one after another: of each partition you get the old or the new",
        "version. DuckDB may open a file twice in one query, and polars looks at sizes first: where a file was replaced in",
        "between, or has outgrown its size, they can report an invalid file: run the query again. `memory_assets.scan` never",
        "does.",
        "A file is larger than its content: between rows and footer lies a hole, which most file systems give no space.",
    ]
    return "\n".join([*head, *(line for table in table_names() for line in _render_table(table))]) + "\n"


def _render_table(table: str) -> list[str]:
    doc = " ".join((record_of(table).__doc__ or "").split())
    rows = [f"| `{name}` | {dtype.replace('|', ' ')} | {text.replace('|', ' ')} |" for name, dtype, text in columns_of(table)]
    key = ", ".join(f"`{name}`" for name in key_of(table))
    folders = "/".join(f"{name}=…" for name in partitioned_by(table))
    place = f"Partitions: `{folders}/`." if folders else "One partition."
    return ["", f"## {table}", "", doc, "", f"Key: {key}. {place}", "", "| column | type | meaning |", "|---|---|---|", *rows]


if __name__ == "__main__":
    print(render_dictionary(), end="")
