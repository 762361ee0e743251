"""The result of a check of the store, and the check that no text of the store holds a secret.

Capture masks secrets before anything is written. This check applies the same rules again to every
text of the tables, the ledger, raw answers and the workspace, because people and models write
there, and earlier rules may have missed a secret. It reports places, never texts.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl

from memory_assets.errors import TableError
from memory_assets.schema.extras import added_folders
from memory_assets.schema.frames import schema_of
from memory_assets.schema.tables import table_names
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.text.masking.redact import count_secrets

FILES = [
    "ledger/**/*.jsonl", "answers/**/*.json", "workspace/**/*.md", "workspace/**/*.json",
    "workspace/patches/*.patch", "spool/**/*.jsonl", "spool/**/*.txt",
    *(f"{folder}/**/*.jsonl" for folder in added_folders()),
]  # fmt: skip
"""Files with text outside the tables. The workspace's git history is packed and not searched."""

NIGHTS = 28
"""Number of nights over which all bytes of the store are checked once."""

SHOWN = 5
"""Most places that a result names."""

REMEDY = (
    "Revoke each secret where it was issued, then remove it from the place named; masking "
    "cannot undo what was written."
)


@dataclass(frozen=True)
class Check:
    """The result of a check: a promise, whether it holds, what was found, and a remedy."""

    name: str
    promise: str
    passed: bool
    found: str = ""
    remedy: str = ""
    is_advice: bool = False
    """Whether the doctor only shows it: advice does not make the doctor fail."""


def judge(
    name: str, promise: str, fault: str, whole: str = "", remedy: str = "", *, is_advice=False
) -> Check:
    """Returns a check that failed if there is a fault; else `whole` says what was examined."""
    if fault:
        return Check(name, promise, False, fault, remedy, is_advice)
    return Check(name, promise, True, whole)


def is_in_share(name: str, night: date | None) -> bool:
    """Returns whether the file belongs to the share of the night; True if no night is given."""
    if night is None:
        return True
    digest = hashlib.sha256(name.encode()).hexdigest()
    return int(digest[:8], 16) % NIGHTS == night.toordinal() % NIGHTS


def outcome(name: str, promise: str, damaged: Sequence[str], whole: str, remedy: str) -> Check:
    """Returns a check that failed if anything is damaged; else `whole` says what was examined."""
    more = f" and {len(damaged) - SHOWN:,} more" if len(damaged) > SHOWN else ""
    fault = f"{len(damaged):,} not: {'; '.join(damaged[:SHOWN])}{more}" if damaged else ""
    return judge(name, promise, fault, whole, remedy)


def check_secrets(tables: ParquetTables, root: Path) -> Check:
    """Checks that no text of the store holds a secret that masking recognises."""
    promise = "no table and no file of the store holds a key, token or password"
    places = [*secrets_in_tables(tables), *secrets_in_files(root)]
    listed_places = ", ".join(f"{place} ({count})" for place, count in places[:SHOWN])
    fault = f"{sum(count for _, count in places):,} in {listed_places}" if places else ""
    whole = f"{len(table_names())} tables and the store's files"
    return judge("secrets", promise, fault, whole, REMEDY)


def text_columns(table: str) -> list[str]:
    """Returns the columns of a table that hold text, or lists of text."""
    return [
        name for name, dtype in schema_of(table).items() if dtype in (pl.String, pl.List(pl.String))
    ]


def secrets_in_tables(tables: ParquetTables) -> Iterator[tuple[str, int]]:
    """Yields each column of a partition that holds secrets, and how many."""
    for table in table_names():
        for part in sorted(tables.parts(table)):
            try:
                frame = tables.read(table, [part], columns=text_columns(table))
            except TableError:
                continue  # the checks of the tables report unreadable partitions
            for column in frame:
                texts = column.explode() if column.dtype == pl.List(pl.String) else column
                count = count_secrets(texts)
                if count:
                    yield f"{table}/{part}: {column.name}", count


def secrets_in_files(root: Path) -> Iterator[tuple[str, int]]:
    """Yields each file of the store that holds secrets, and how many."""
    paths = sorted({path for pattern in FILES for path in root.glob(pattern) if path.is_file()})
    for path in paths:
        text = path.read_text("utf-8", errors="replace")
        texts = text.split("\n") if path.suffix == ".jsonl" else [text]
        count = count_secrets(pl.Series(texts, dtype=pl.String))
        if count:
            yield path.relative_to(root).as_posix(), count
