"""Rows of a table for looking at: those of a day, the first few, or a random sample that a seed repeats.

A sample of facts holds what a reader needs to judge each alone; one of a table holds whole rows.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from memory_assets.errors import TableError
from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Tables

OF_A_FACT = ("id", "priority", "category", "author", "day", "project", "text", "session_id", "path", "lines")
"""Columns of a drawn fact: what it is, and where it can be looked up."""


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
    return _drawn(table, tables.read(table), count, seed)


def sample_facts(tables: Tables, count: int, seed: str) -> Rows:
    """Returns allowed facts drawn at random from all days; the same seed draws the same ones from the same store."""
    is_allowed = (pl.col("gate") == "allow") & (pl.col("kind") == "fact")
    return _drawn("observations", tables.scan("observations").filter(is_allowed).select(OF_A_FACT).collect(), count, seed)


def _drawn(table: str, frame: pl.DataFrame, count: int, seed: str) -> Rows:
    drawn = random.Random(seed).sample(range(frame.height), min(count, frame.height))
    return _rows(table, frame.sort(schemas.key_of(table))[drawn], frame.height)


def _rows(table: str, frame: pl.DataFrame, total: int) -> Rows:
    return Rows(table, tuple(frame.columns), tuple(frame.to_dicts()), total)


def _named(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{len(parts)} parts, {parts[0]} to {parts[-1]}"
