"""Opens whatever a store consists of, so that everything in it can be searched: each file by its kind, decoded.

Parquet, SQLite (with its WAL) and compressed files are read as what they hold; every file is read as plain bytes, too, where
what was deleted may still lie. Unwrapping escapes and base64 is left to whoever searches.
"""

import gzip
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import zstandard

from memory_assets.store.store import Store

PARQUET, SQLITE, ZSTD, GZIP = b"PAR1", b"SQLite format 3\0", b"\x28\xb5\x2f\xfd", b"\x1f\x8b"
ZLIB = (b"\x78\x01", b"\x78\x9c", b"\x78\xda", b"\x78\x5e")

GIT = "git history"
OF_WORKSPACE = {
    "MEMORY.md": "MEMORY.md",
    "REVIEW.md": "REVIEW.md",
    "briefing.md": "briefing",
    "briefings": "briefing",
    "memory": "daily logs",
    "summaries": "summaries",
    "timeline": "timeline",
    ".git": GIT,
}
OF_STORE = {
    "ledger": "ledger",
    "answers": "answers of models",
    "index": "indexes",
    "branches": "branches of a what-if",
    "spool": "spool",
    "dagster": "Dagster's home",
}
BUSY_SECONDS = 30.0
"""How long another process may be at a database."""

OTHER, LEFT_OVER = "other files", "temporary and backup files"
GIT_OBJECTS = (".git", "objects")
"""git alone can read its packs: see `adapters.git_history`."""


@dataclass(frozen=True)
class Carrier:
    """A file of the store and what it belongs to, in words that a person reads."""

    kind: str
    path: Path
    place: str
    """The path below the store, with slashes."""

    @property
    def top(self) -> str:
        """The folder of the store that it lies in."""
        return self.place.split("/")[0]


def carriers(store: Store) -> Iterator[Carrier]:
    """Yields every file of the store; those of another store inside it, git's objects and the settings file apart."""
    for path in _files(store.root):
        place = path.relative_to(store.root)
        yield Carrier(kind_of(place), path, place.as_posix())


def kind_of(path: Path) -> str:
    """Returns what a file belongs to, by its place in the store."""
    top, *rest = path.parts
    if _is_left_over(path.name):
        return LEFT_OVER
    if top == "tables" and rest:
        return f"table {rest[0]}"
    if top == "workspace" and rest:
        return OF_WORKSPACE.get(rest[0], "workspace")
    if top == "resources":
        return "archive" if rest[:1] == ["ranges"] else "catalog of the archive"
    return OF_STORE.get(top, OTHER)


def texts_of(path: Path) -> Iterator[bytes]:
    """Yields what the file holds, decoded, and then its bytes as they are; a file that vanished holds nothing."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return
    if raw.startswith(PARQUET):
        yield from cells_of_parquet(path)
    elif raw.startswith(SQLITE):
        yield from cells_of_sqlite(path)
    yield inflated(raw)
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield raw.decode("utf-16", "replace").encode()


def cells_of_parquet(path: Path) -> Iterator[bytes]:
    """Yields the texts in the file, one a cell or element of a list."""
    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PolarsError:
        return  # half written, by a process that was killed: its bytes are looked at all the same
    for column in frame:
        texts = column.explode() if column.dtype == pl.List(pl.String) else column
        if texts.dtype == pl.String:
            yield from (text.encode() for text in texts.drop_nulls())


def cells_of_sqlite(path: Path) -> Iterator[bytes]:
    """Yields every text and blob in the database, what its WAL holds included."""
    try:
        with closing(open_sqlite(path)) as database:
            for table in tables_of(database):
                for row in database.execute(f"SELECT * FROM {quoted(table)}"):
                    yield from (as_bytes(cell) for cell in row if isinstance(cell, str | bytes))
    except sqlite3.DatabaseError:
        return


def open_sqlite(path: Path) -> sqlite3.Connection:
    """Opens the database; text that is not UTF-8 is read all the same."""
    database = sqlite3.connect(path, timeout=BUSY_SECONDS)
    database.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    return database


def tables_of(database: sqlite3.Connection) -> list[str]:
    """Returns the names of the tables."""
    return [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def quoted(name: str) -> str:
    """Returns the name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def as_bytes(cell: str | bytes) -> bytes:
    """Returns the cell as bytes, inflated where it is compressed."""
    return cell.encode("utf-8", "surrogateescape") if isinstance(cell, str) else inflated(cell)


def inflated(raw: bytes) -> bytes:
    """Returns the bytes without their compression, where they have one that can be undone."""
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


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            continue
        if path.is_dir():
            if not (path / "VERSION").is_file() and path.parts[-2:] != GIT_OBJECTS:
                yield from _files(path)
        elif path.name != "memory.toml" and path.is_file():
            yield path


def _is_left_over(name: str) -> bool:
    return name.endswith((".tmp", "~", ".bak", ".swp", ".orig"))
