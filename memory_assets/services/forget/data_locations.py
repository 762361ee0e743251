"""Lists the files of a store with the part of it that each belongs to, reads their texts, and masks
forgotten words in them.

Parquet files, SQLite databases with their WAL, and compressed files are decoded. Every file is also
read as plain bytes, because deleted rows may remain there. Escapes and base64 are not decoded here:
`forget.search` does that.
"""

import gzip
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path

import polars as pl
import zstandard

from memory_assets.errors import StoreBusyError
from memory_assets.schema.extras import places
from memory_assets.stages.capture.tombstones import Tombstones
from memory_assets.store.store import Store
from memory_assets.text.files import overwrite_records

PARQUET, SQLITE, ZSTD, GZIP = b"PAR1", b"SQLite format 3\0", b"\x28\xb5\x2f\xfd", b"\x1f\x8b"
ZLIB = (b"\x78\x01", b"\x78\x9c", b"\x78\xda", b"\x78\x5e")
"""The first bytes of files of each format; zlib has some for each level of compression."""

GIT, LEFT_OVER, OTHER = "git history", "temporary and backup files", "other files"
WORKSPACE_KINDS = {
    "MEMORY.md": "MEMORY.md",
    "REVIEW.md": "REVIEW.md",
    "briefing.md": "briefing",
    "briefings": "briefing",
    "memory": "daily logs",
    "summaries": "summaries",
    "timeline": "timeline",
    ".git": GIT,
}
STORE_KINDS = {
    "ledger": "ledger",
    "answers": "answers of models",
    "index": "indexes",
    "branches": "branches of a what-if",
    "spool": "spool",
    "dagster": "Dagster's home",
}
BUSY_SECONDS = 30.0
"""How long to wait for another process that has a database open."""

GIT_OBJECTS = (".git", "objects")
"""Only git can read its packs: see `adapters.git_history`."""


@dataclass(frozen=True)
class DataLocation:
    """A file of the store and the part of the store that it belongs to."""

    kind: str
    """The part of the store, as people read it."""
    path: Path
    place: str
    """The path below the store, with slashes."""

    @property
    def top(self) -> str:
        """The top-level folder of the store that contains the file."""
        return self.place.split("/")[0]


def data_locations(store: Store) -> Iterator[DataLocation]:
    """Yields every file of the store except those of nested stores, git's objects and the settings
    file.
    """
    for path in _files(store.root):
        place = path.relative_to(store.root)
        yield DataLocation(kind_of(place), path, place.as_posix())


def kind_of(path: Path) -> str:
    """Returns the part of the store that a file belongs to, by its path below the store."""
    top, *subfolders = path.parts
    if path.name.endswith((".tmp", "~", ".bak", ".swp", ".orig")):
        return LEFT_OVER
    for place in places():
        if path.is_relative_to(place.path):
            return place.title
    if top == "tables" and subfolders:
        return f"table {subfolders[0]}"
    if top == "workspace" and subfolders:
        return WORKSPACE_KINDS.get(subfolders[0], "workspace")
    if top == "resources":
        return "archive" if subfolders[:1] == ["ranges"] else "catalog of the archive"
    return STORE_KINDS.get(top, OTHER)


def read_texts(path: Path) -> Iterator[bytes]:
    """Yields the decoded texts of the file, then its raw bytes; nothing if the file vanished."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return
    if raw.startswith(PARQUET):
        yield from _parquet_texts(path)
    elif raw.startswith(SQLITE):
        yield from _sqlite_texts(path)
    yield decompressed(raw)
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield raw.decode("utf-16", "replace").encode()


def erase_file(path: Path, tombstones: Tombstones) -> bool:
    """Masks forgotten words in the file and returns whether it contained any.

    A compressed file that contains them is deleted. Raises `StoreBusyError` while another process
    writes the database.
    """
    raw = path.read_bytes()
    if raw.startswith(SQLITE):
        return _erase_sqlite(path, tombstones)
    content = decompressed(raw)
    if content is not raw and tombstones.holds(content):
        path.unlink()
        return True
    return overwrite_records(path, tombstones.mask)


def decompressed(raw: bytes) -> bytes:
    """Returns the bytes decompressed, or as they are where they are not compressed or damaged."""
    try:
        if raw.startswith(ZSTD):
            return zstandard.ZstdDecompressor().decompressobj().decompress(raw)
        if raw.startswith(GZIP):
            return gzip.decompress(raw)
        if raw.startswith(ZLIB):
            return zlib.decompress(raw)
    except (zstandard.ZstdError, OSError, EOFError, zlib.error):
        pass
    return raw


def _parquet_texts(path: Path) -> Iterator[bytes]:
    """Yields the distinct texts of each column, and of a column of lists those of the elements."""
    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PolarsError:
        return  # half written by a killed process; its raw bytes are still searched
    for column in frame:
        texts = column.explode() if column.dtype == pl.List(pl.String) else column
        if texts.dtype == pl.String:
            yield from (text.encode() for text in texts.drop_nulls().unique())


def _sqlite_texts(path: Path) -> Iterator[bytes]:
    """Yields the distinct texts and blobs of each table in the database, its WAL included."""
    try:
        with closing(_open_sqlite(path)) as database:
            for table in _tables(database):
                rows = database.execute(f"SELECT * FROM {table}")
                cells = set(chain.from_iterable(rows))
                texts = (_encoded(cell) for cell in cells if isinstance(cell, str | bytes))
                yield from map(decompressed, texts)
    except sqlite3.DatabaseError:
        return  # damaged; its raw bytes are still searched


def _erase_sqlite(path: Path, tombstones: Tombstones) -> bool:
    """Masks every cell and returns whether one changed; no free pages and no WAL remain."""
    try:
        with closing(_open_sqlite(path)) as database:
            changed = sum(_erase_table(database, table, tombstones) for table in _tables(database))
            database.commit()
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return changed > 0
    except sqlite3.OperationalError as error:
        message = (
            f"Cannot erase from {path}: {error}. Stop the Dagster UI that writes it; the next "
            "`memory ingest` continues."
        )
        raise StoreBusyError(message) from error


def _erase_table(database: sqlite3.Connection, table: str, tombstones: Tombstones) -> int:
    """Masks the cells of the table and returns the number of rows that changed."""
    changed = 0
    masked_cell = cache(partial(_masked, tombstones=tombstones))
    columns = ", ".join(
        f"{_quoted(row[1])} = ?" for row in database.execute(f"PRAGMA table_info({table})")
    )
    for rowid, *cells in database.execute(f"SELECT rowid, * FROM {table}").fetchall():
        masked = [masked_cell(cell) if isinstance(cell, str | bytes) else cell for cell in cells]
        if masked != cells:
            database.execute(f"UPDATE {table} SET {columns} WHERE rowid = ?", [*masked, rowid])
            changed += 1
    return changed


def _masked(cell: str | bytes, tombstones: Tombstones) -> str | bytes:
    """Returns the cell with forgotten words masked; a blob that zlib compressed is so again."""
    if isinstance(cell, str):
        return tombstones.mask(_encoded(cell)).decode("utf-8", "surrogateescape")
    content = decompressed(cell)
    masked = tombstones.mask(content)
    if masked == content:
        return cell
    was_compressed = content is not cell and cell.startswith(ZLIB)
    return zlib.compress(masked) if was_compressed else masked


def _open_sqlite(path: Path) -> sqlite3.Connection:
    """Opens the database; text that is not UTF-8 is read without loss."""
    database = sqlite3.connect(path, timeout=BUSY_SECONDS)
    database.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    return database


def _encoded(cell: str | bytes) -> bytes:
    return cell.encode("utf-8", "surrogateescape") if isinstance(cell, str) else cell


def _tables(database: sqlite3.Connection) -> list[str]:
    """Returns the names of the tables, quoted for SQL."""
    return [
        _quoted(name)
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _files(folder: Path) -> Iterator[Path]:
    """Yields the files below the folder, sorted; symbolic links are not followed."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            continue
        if path.is_dir():
            is_store = (path / "VERSION").is_file()
            if not is_store and path.parts[-2:] != GIT_OBJECTS:
                yield from _files(path)
        elif path.name != "memory.toml" and path.is_file():
            yield path
