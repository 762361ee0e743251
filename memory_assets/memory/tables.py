"""Shows rows of tables of the present store, draws some at random, or exports them."""

from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from memory_assets.memory.agent import MemoryAgent
from memory_assets.schema.vocabulary import FileFormat
from memory_assets.services.search import table_rows
from memory_assets.services.search.table_rows import ShownRows


def show(
    table: str, *, day: str | None = None, as_of: date | None = None, limit: int = 10
) -> ShownRows:
    """Returns the first rows of the table, or of one of its days.

    `as_of`, only for `memories`, returns them as they were at the end of that day.
    """
    agent = MemoryAgent()
    if as_of is None:
        return table_rows.show_rows(agent.store.tables, table, day=day, limit=limit)
    return table_rows.show_frame(table, agent.scan(table, as_of=as_of).collect(), limit)


def sample(count: int, seed: str, table: str | None = None) -> ShownRows:
    """Returns random rows of the table, by default allowed facts; the same ones for a seed."""
    tables = MemoryAgent().store.tables
    if table:
        return table_rows.sample_rows(tables, table, count, seed)
    return table_rows.sample_facts(tables, count, seed)


def export_file(table: str, path: Path, format: FileFormat, as_of: date | None = None) -> int:
    """Writes the table into the file, and returns the number of rows."""
    return table_rows.export_file(table, _frames(table, as_of), path, format)


def open_export(
    table: str, format: FileFormat, as_of: date | None = None
) -> Callable[[BinaryIO], int]:
    """Reads the table, and returns a function that writes it into a stream and counts the rows."""
    frames = _frames(table, as_of)
    return lambda stream: table_rows.export_table(table, frames, stream, format)


def export_rows(table: str, as_of: date | None = None) -> list[dict[str, Any]]:
    """Returns every row of the table."""
    return list(table_rows.rows_of(_frames(table, as_of)))


def _frames(table: str, as_of: date | None) -> Iterable[pl.DataFrame]:
    """Returns the rows of the table in parts, at present or at the end of the day `as_of`."""
    agent = MemoryAgent()
    past = agent.scan(table, as_of=as_of).collect() if as_of else None
    return table_rows.frames_of(agent.store.tables, table, past)
