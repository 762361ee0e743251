"""Takes what is forgotten out of single files: in place where they are text, row by row where they are SQLite."""

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

from memory_assets.errors import StoreBusyError
from memory_assets.services.forget.carriers import SQLITE, ZLIB, inflated, open_sqlite, quoted, tables_of
from memory_assets.stages.capture.tombstones import Tombstones
from memory_assets.text.files import overwrite


def erase_file(path: Path, stones: Tombstones) -> bool:
    """Masks what is forgotten in the file, or removes a compressed one that holds it; returns whether it held any."""
    raw = path.read_bytes()
    if raw.startswith(SQLITE):
        return erase_sqlite(path, stones)
    if (content := inflated(raw)) is not raw and stones.holds(content):
        path.unlink()
        return True
    return overwrite(path, stones.mask)


def erase_sqlite(path: Path, stones: Tombstones) -> bool:
    """Masks every cell, and leaves neither free pages nor a WAL behind; returns whether a cell changed.

    Raises `StoreBusyError` while another process is writing the database.
    """
    try:
        with closing(open_sqlite(path)) as database:
            changed = sum(_erase_table(database, table, stones) for table in tables_of(database))
            database.commit()
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return changed > 0
    except sqlite3.OperationalError as error:
        raise StoreBusyError(
            f"Cannot erase from {path}: {error}. Stop the Dagster UI that is writing it; the next `memory ingest` goes on from "
            "here."
        ) from error


def _erase_table(database: sqlite3.Connection, table: str, stones: Tombstones) -> int:
    name, changed = quoted(table), 0
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
    for rowid, *cells in database.execute(f"SELECT rowid, * FROM {name}").fetchall():
        masked = [_masked(cell, stones) if isinstance(cell, str | bytes) else cell for cell in cells]
        if masked != cells:
            places = ", ".join(f"{quoted(column)} = ?" for column in columns)
            database.execute(f"UPDATE {name} SET {places} WHERE rowid = ?", [*masked, rowid])
            changed += 1
    return changed


def _masked(cell: str | bytes, stones: Tombstones) -> str | bytes:
    if isinstance(cell, str):
        return stones.mask(cell.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
    content = inflated(cell)
    masked = stones.mask(content)
    if masked == content:
        return cell
    return zlib.compress(masked) if cell.startswith(ZLIB) and content is not cell else masked
