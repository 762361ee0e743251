"""The programs that people read tables with, each as the documentation of the tables shows it."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

from memory_assets.schema.frames import partitioned_by, schema_of

ATTEMPTS = 3
"""DuckDB may open a file twice in one query; when a part is replaced in between, it reports an invalid file."""


def polars(root: Path, table: str) -> pl.DataFrame:
    """Every file that the glob finds, by polars."""
    return pl.scan_parquet(f"{root}/{table}/**/*.parquet", hive_partitioning=True).collect()


def duck(root: Path, table: str) -> pl.DataFrame:
    """Every file that the glob finds, by DuckDB."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        query = f"FROM read_parquet('{root}/{table}/**/*.parquet', hive_partitioning = true)"
        for _ in range(ATTEMPTS - 1):
            try:
                return connection.sql(query).pl()
            except (duckdb.Error, UnicodeDecodeError):
                continue
        return connection.sql(query).pl()


def arrow(root: Path, table: str) -> pl.DataFrame:
    """Every file of the folder, by pyarrow, which is told the type of what folders are named by."""
    types = {pl.Date(): pa.date32(), pl.String(): pa.string()}
    keys = pa.schema({name: types[schema_of(table)[name]] for name in partitioned_by(table)})
    found = ds.dataset(
        root / table, partitioning=ds.partitioning(keys, flavor="hive") if len(keys) else None
    ).to_table()
    frame = pl.from_arrow(found)
    assert isinstance(frame, pl.DataFrame)
    return frame


READERS: dict[str, Callable[[Path, str], pl.DataFrame]] = {
    "polars": polars,
    "DuckDB": duck,
    "pyarrow": arrow,
}
