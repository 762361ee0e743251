"""Rows of a table for looking at: those of a day, the first few, or a random sample that a seed repeats."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from memory_assets import tables as schemas
from memory_assets.errors import TableError
from memory_assets.protocols import Tables


@dataclass(frozen=True)
class Rows:
    """Some rows of a table, and how many there are."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    total: int


def show_rows(tables: Tables, table: str, *, day: str | None = None, limit: int = 10) -> Rows:
    """Returns the first rows of the table, or of one of its days, in order of its key."""
    keys = schemas.key_of(table)
    parts = None if day is None else [day]
    if parts and tables.parts(table) and not set(parts) & set(tables.parts(table)):
        raise TableError(f"Table '{table}' has no part '{day}'; it has {_named(list(tables.parts(table)))}.")
    frame = tables.scan(table, parts)
    total = frame.select(pl.len()).collect().item()
    return _rows(table, frame.sort(keys).head(limit).collect(), total)


def sample_rows(tables: Tables, table: str, count: int, seed: str) -> Rows:
    """Returns rows drawn at random; the same seed draws the same rows from the same table."""
    keys = schemas.key_of(table)
    frame = tables.read(table).sort(keys)
    drawn = random.Random(seed).sample(range(frame.height), min(count, frame.height))
    return _rows(table, frame[drawn], frame.height)


def _rows(table: str, frame: pl.DataFrame, total: int) -> Rows:
    return Rows(table, tuple(frame.columns), tuple(frame.to_dicts()), total)


def _named(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{len(parts)} parts, {parts[0]} to {parts[-1]}"
