"""Looks for secrets in all that the store holds: every text of every table, the ledger, raw answers and the workspace.

Takes an open store's tables and its folder, returns one check. Capture masks secrets before anything is written; this is
the second look, with the same rules, at what people, models and older rules may have left. It names places, never texts.
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from memory_assets.errors import TableError
from memory_assets.schema.frames import schema_of
from memory_assets.schema.protocols import Tables
from memory_assets.schema.tables import table_names
from memory_assets.stages.capture.masking.redact import count_secrets
from memory_assets.stages.maintain.checks import Check

FILES = ("ledger/**/*.jsonl", "answers/**/*.json", "workspace/**/*.md", "workspace/**/*.json", "workspace/patches/*.patch",
         "spool/**/*.jsonl", "spool/**/*.txt")  # fmt: skip
"""What is text and no table; git keeps the history of the workspace packed."""

SHOWN = 5
REMEDY = "Revoke each secret where it was issued, then remove it from the place named; masking cannot undo what was written."


def check_secrets(tables: Tables, root: Path) -> Check:
    """Tells whether any text of the store holds a secret that masking knows."""
    promise = "no table and no file of the store holds a key, token or password"
    places = [*secrets_in_tables(tables), *secrets_in_files(root)]
    if not places:
        return Check("secrets", promise, True, f"{len(table_names())} tables and the store's files")
    named = ", ".join(f"{place} ({count})" for place, count in places[:SHOWN])
    return Check("secrets", promise, False, f"{sum(count for _, count in places):,} in {named}", REMEDY)


def text_columns(table: str) -> list[str]:
    """Returns the columns of a table that hold text, or lists of it."""
    return [name for name, dtype in schema_of(table).items() if dtype in (pl.String, pl.List(pl.String))]


def secrets_in_tables(tables: Tables) -> Iterator[tuple[str, int]]:
    """Yields each part of a table that holds secrets, with the column, and how many."""
    for table in table_names():
        for part in sorted(tables.parts(table)):
            try:
                frame = tables.read(table, [part], columns=text_columns(table))
            except TableError:
                continue  # a part that cannot be read is told by the checks of the tables
            for name in frame.columns:
                if count := count_secrets(_texts(frame[name])):
                    yield f"{table}/{part}: {name}", count


def secrets_in_files(root: Path) -> Iterator[tuple[str, int]]:
    """Yields each file of the store that holds secrets, and how many."""
    paths = sorted({path for pattern in FILES for path in root.glob(pattern) if path.is_file()})
    for path in paths:
        text = path.read_text("utf-8", errors="replace")
        texts = text.split("\n") if path.suffix == ".jsonl" else [text]
        if count := count_secrets(pl.Series(texts, dtype=pl.String)):
            yield path.relative_to(root).as_posix(), count


def _texts(column: pl.Series) -> pl.Series:
    return column.explode() if column.dtype == pl.List(pl.String) else column
