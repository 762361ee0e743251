"""Selects rows of a table to display: the first rows, those of a day, or a reproducible random sample."""

import random
from dataclasses import dataclass
from typing import Any

import polars as pl

from memory_assets.errors import TableError
from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Tables

OF_A_FACT = ("id", "priority", "category", "author", "day", "project", "text", "session_id", "path", "lines")
"""Columns of a sampled fact."""


@dataclass(frozen=True)
class ShownRows:
    """Some rows of a table, and the number of all rows."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    total: int


def show_rows(tables: Tables, table: str, *, day: str | None = None, limit: int = 10) -> ShownRows:
    """Returns the first rows of the table, or of one of its days, in order of its key."""
    keys = schemas.key_of(table)
    parts = None if day is None else [day]
    if parts and (known := list(tables.parts(table))) and day not in known:
        some = known[0] if len(known) == 1 else f"{len(known)} parts, {known[0]} to {known[-1]}"
        raise TableError(f"Table '{table}' has no part '{day}'; it has {some}.")
    frame = tables.scan(table, parts)
    total = frame.select(pl.len()).collect().item()
    return _rows(table, frame.sort(keys).head(limit).collect(), total)


def sample_rows(tables: Tables, table: str, count: int, seed: str) -> ShownRows:
    """Returns random rows; the same seed gives the same rows of the same table."""
    return _sample(table, tables.read(table), count, seed)


def sample_facts(tables: Tables, count: int, seed: str) -> ShownRows:
    """Returns random allowed facts of all days; the same seed gives the same facts of the same store."""
    is_allowed = (pl.col("gate") == "allow") & (pl.col("kind") == "fact")
    return _sample("observations", tables.scan("observations").filter(is_allowed).select(OF_A_FACT).collect(), count, seed)


def _sample(table: str, frame: pl.DataFrame, count: int, seed: str) -> ShownRows:
    chosen = random.Random(seed).sample(range(frame.height), min(count, frame.height))
    return _rows(table, frame.sort(schemas.key_of(table))[chosen], frame.height)


def _rows(table: str, frame: pl.DataFrame, total: int) -> ShownRows:
    return ShownRows(table, tuple(frame.columns), tuple(frame.to_dicts()), total)
