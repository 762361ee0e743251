"""Tables as Parquet, in folders named as Hive does, one file a part.

    tables/observations/day=2026-04-08/data.parquet     one part of a table that is partitioned by day
    tables/memories/data.parquet                        a table of one part
    tables/memories/columns.parquet                     no rows; every table has one (see `partition_folders`)
    tables/.writing/                                    files that are being written

Any reader of Parquet may read `tables/observations/**/*.parquet`. Each file says in its own footer how many rows it has, what
they were made from and their hash, so that one rename publishes a part. A reader that has the old file open goes on with it.

polars asks for sizes while it lists files and reads footers later, so a part keeps the size of its file: between rows and
footer lies a hole up to the next power of two, and a rewrite never makes the file smaller. A part that is dropped becomes a
file without rows, and goes a day later.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from memory_assets.adapters.parquet_footer import KEY, facts_of, footer_of, read_facts
from memory_assets.adapters.partition_folders import (
    COLUMNS_FILE,
    FILE,
    columns_folder_of,
    file_of,
    find_parts,
    folder_of,
    values_of,
)
from memory_assets.errors import StoreError, TableError
from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import PartInfo
from memory_assets.schema.tables import table_names
from memory_assets.text.files import make_folder, sync_folder

WRITING = ".writing"
KEEP_DROPPED_SECONDS = 24 * 3600
COMPRESSION = "zstd"
LEAST_BYTES = 1 << 14
"""Smallest size of a file. Most parts of a day are smaller; file systems give a hole no space."""

Stamp = tuple[int, int, int]
"""Inode, size and time of the last change of a file: another version of it has another stamp."""


@dataclass(frozen=True)
class _Facts:
    """What a file says of itself."""

    version: int
    is_dropped: bool
    info: PartInfo


_known: dict[str, tuple[Stamp, _Facts]] = {}
"""Facts of the files that this process has looked at, by path; parts are asked for again and again."""


class ParquetTables:
    """Reads and writes the tables below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def parts(self, table: str, wanted: Iterable[str] | None = None) -> dict[str, PartInfo]:
        """Returns the written parts (of those wanted) by name, sorted by name."""
        return {part: info for part, _, info in self._present(table, wanted)}

    def read(self, table: str, parts: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Returns the rows of the given parts (all by default); parts that do not exist have no rows."""
        frame = self.scan(table, parts)
        return (frame.select(columns) if columns is not None else frame).collect()

    def scan(self, table: str, parts: Iterable[str] | None = None) -> pl.LazyFrame:
        """Returns the same lazily; raises `StoreError` where a file is not a part of this store."""
        files = {part: path for part, path, info in self._present(table, parts) if info.rows}
        if not files:
            return schemas.empty(table).lazy()
        if "=" in str(self.root):  # polars would take folders above the tables for partitions
            return pl.concat([_scan_part(table, part, path) for part, path in files.items()])
        return _scan(table, [*files.values()], is_hive=bool(schemas.partitioned_by(table)))

    def write(
        self, table: str, part: str, frame: pl.DataFrame | Iterable[pl.DataFrame], *, inputs: str | Callable[[], str] = ""
    ) -> PartInfo:
        """Checks the rows against the table's schema and replaces the part in one step.

        `frame` may be an iterable of frames, written as they come and never held together; those must be in key order.
        `inputs` may be a function that is asked once all rows are written. Raises `TableError` where rows do not fit the
        schema, or belong to another part; the part then stays as it is.
        """
        frames = [frame.sort(schemas.key_of(table))] if isinstance(frame, pl.DataFrame) else frame
        self._write_columns(table)
        made = lambda: {"inputs": inputs if isinstance(inputs, str) else inputs()}  # noqa: E731
        return self._replace(table, part, _checked(table, part, frames), made).info

    def drop(self, table: str, part: str) -> None:
        """Removes the rows of the part and, a day later, its file; nothing happens when it is not there."""
        if self.parts(table, [part]):
            self._replace(table, part, iter(()), lambda: {"inputs": "", "dropped": True})
        self._remove_dropped(table)

    def purge(self) -> None:
        """Removes every file that is no part by today's schemas: half-written ones, tables of old."""
        kept = {self._columns_path(table) for table in table_names()}
        for table in table_names():
            kept |= {path for _, path, facts in self._files(table) if _is_kept(facts)}
        for folder, _, names in os.walk(self.root, topdown=False):
            for name in names:
                if (path := os.path.join(folder, name)) not in kept:
                    Path(path).unlink(missing_ok=True)
            with suppress(OSError):  # not empty
                if folder != str(self.root):
                    Path(folder).rmdir()

    def _present(self, table: str, wanted: Iterable[str] | None) -> Iterator[tuple[str, str, PartInfo]]:
        """Yields name, file and facts of the parts, sorted by name."""
        for part, path, facts in self._files(table, wanted):
            if facts.version == schemas.SCHEMA_VERSION and not facts.is_dropped:
                yield part, path, facts.info

    def _files(self, table: str, wanted: Iterable[str] | None = None) -> Iterator[tuple[str, str, _Facts]]:
        folder = self._folder(table)
        for part in sorted(set(find_parts(table, folder) if wanted is None else wanted)):
            if (file := file_of(table, part)) and (facts := _facts_of(path := f"{folder}{os.sep}{file}")):
                yield part, path, facts

    def _folder(self, table: str) -> str:
        schemas.record_of(table)
        return os.path.join(self.root, table)

    def _columns_path(self, table: str) -> str:
        return os.path.join(self.root, table, columns_folder_of(table), COLUMNS_FILE)

    def _write_columns(self, table: str) -> None:
        """Writes the file without rows where there is none with the columns of now."""
        path, columns = self._columns_path(table), schemas.hash_of(*_stored(schemas.empty(table), table).schema.items())
        try:
            is_there = f'"{columns}"' in read_facts(path)
        except OSError:
            is_there = False
        if not is_there:
            self._publish(table, path, iter(()), lambda: {"inputs": columns, "dropped": True})

    def _replace(self, table: str, part: str, frames: Iterator[pl.DataFrame], made: Callable[[], dict[str, Any]]) -> _Facts:
        path = os.path.join(self._folder(table), folder_of(table, part), FILE)
        return self._publish(table, path, frames, made)

    def _publish(self, table: str, path: str, frames: Iterator[pl.DataFrame], made: Callable[[], dict[str, Any]]) -> _Facts:
        """Writes the rows beside the tables and renames the file to its path, which is the moment that readers see them."""
        beside = self.root / WRITING / f"{os.getpid()}-{time.monotonic_ns()}.tmp"
        try:
            make_folder(beside.parent)
            facts = _write_parquet(table, frames, beside, made)
            _fill_up(beside, least=_size_of(path))
            _flush(beside)
            make_folder(Path(path).parent)
            self._mark_changed(table)  # before and after: a process killed in between leaves no status that looks current
            os.replace(beside, path)
            sync_folder(Path(path).parent)
            self._mark_changed(table)
        except OSError as error:
            raise StoreError(
                f"Cannot write table '{table}' ({path}): {error.strerror or error}. "
                "Free space or mend the folder's permissions, then run the same command again; nothing was replaced."
            ) from error
        finally:
            beside.unlink(missing_ok=True)
        return _parsed(facts)

    def _remove_dropped(self, table: str) -> None:
        for _, path, facts in self._files(table):
            if not _is_kept(facts):
                Path(path).unlink(missing_ok=True)
                with suppress(OSError):
                    Path(path).parent.rmdir()

    def _mark_changed(self, table: str) -> None:
        # The folder's own time tells, without reading a file, that some part of the table was written.
        now = time.time_ns()
        os.utime(self._folder(table), ns=(now, now))


def _scan(table: str, files: list[str], *, is_hive: bool) -> pl.LazyFrame:
    schema, keys = schemas.schema_of(table), schemas.partitioned_by(table)
    scanned = pl.scan_parquet(
        files,
        schema={name: dtype for name, dtype in schema.items() if name not in keys},  # given, so that no footer is read yet
        hive_partitioning=is_hive,
        hive_schema={key: schema[key] for key in keys} if is_hive else None,
        missing_columns="insert",  # a column that was added since is empty until its part is written again
    )
    return scanned.select(schema.names()) if is_hive else scanned


def _scan_part(table: str, part: str, file: str) -> pl.LazyFrame:
    schema = schemas.schema_of(table)
    values = values_of(table, part) or {}
    literals = {name: date.fromisoformat(value) if schema[name] == pl.Date() else value for name, value in values.items()}
    columns = [pl.lit(value, schema[name]).alias(name) for name, value in literals.items()]
    return _scan(table, [file], is_hive=False).with_columns(columns).select(schema.names())


def _facts_of(path: str) -> _Facts | None:
    """Returns what the file says of itself, None where there is none; raises `StoreError` where it says nothing."""
    try:
        known, found = _known.get(path), os.stat(path)
        if known is not None and known[0] == _stamp(found):
            return known[1]
        with open(path, "rb", buffering=0) as file:
            stamp, text = _stamp(os.fstat(file.fileno())), facts_of(file.fileno())
        facts = _parsed(json.loads(text))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError) as error:
        raise StoreError(
            f"Cannot read {path}: it is no whole Parquet file of this store. Run `memory data rebuild` to rebuild the tables."
        ) from error
    _known[path] = stamp, facts
    return facts


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_size, found.st_mtime_ns


def _parsed(facts: dict[str, Any]) -> _Facts:
    info = PartInfo(
        rows=facts["rows"],
        fingerprint=facts["fingerprint"],
        inputs=facts["inputs"],
        written_at=datetime.fromisoformat(facts["written_at"]),
        bytes=facts["bytes"],
    )
    return _Facts(facts["v"], facts.get("dropped", False), info)


def _is_kept(facts: _Facts) -> bool:
    """Returns whether the file is a part, or one that was dropped within the last day."""
    age = (datetime.now(UTC) - facts.info.written_at).total_seconds()
    return facts.version == schemas.SCHEMA_VERSION and (not facts.is_dropped or age < KEEP_DROPPED_SECONDS)


def _checked(table: str, part: str, frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yields the frames once they satisfy the schema and every row belongs to the part."""
    values = values_of(table, part) or {}
    for frame in frames:
        rows = schemas.check(table, frame)
        for column, value in values.items():
            if rows[column].cast(pl.String).ne_missing(pl.Series([value])).any():
                raise TableError(f"Rows of '{table}' belong to another part than '{part}': their {column} is not {value}.")
        yield rows


def _stored(frame: pl.DataFrame, table: str) -> pl.DataFrame:
    """Returns the columns that files hold: all but those that their folder names."""
    return frame.drop(schemas.partitioned_by(table))


def _write_parquet(
    table: str, frames: Iterator[pl.DataFrame], path: Path, made: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Writes the frames and, in the footer, what there is to say of them; returns the latter."""
    import pyarrow.parquet as pq  # takes a tenth of a second, and readers do without

    schema = _stored(schemas.empty(table), table).to_arrow().schema
    rows, keys = 0, []
    with path.open("wb") as file:
        hashed = _Hashed(file, str(schema))
        with pq.ParquetWriter(hashed, schema, compression=COMPRESSION, store_schema=False) as writer:
            for frame in frames:
                writer.write_table(_stored(frame, table).to_arrow())
                rows += frame.height
                keys.append(frame.select(pl.struct(schemas.key_of(table)).hash().alias("key"))["key"])
            if len(keys) > 1 and pl.concat(keys).n_unique() != rows:
                raise TableError(f"Rows of '{table}' repeat a key ({', '.join(schemas.key_of(table))}).")
            facts = {
                "v": schemas.SCHEMA_VERSION,
                "rows": rows,
                "fingerprint": hashed.digest()[:16],
                "bytes": hashed.size,
                "written_at": datetime.now(UTC).isoformat(),
                **made(),
            }
            writer.add_key_value_metadata({KEY: json.dumps(facts)})
    path.chmod(0o600)
    return facts


class _Hashed:
    """A file that hashes what is written to it: the rows' bytes, as long as the footer is not."""

    closed = False

    def __init__(self, file: BinaryIO, schema: str) -> None:
        self._file, self._hash, self.size = file, hashlib.sha256(schema.encode()), 0

    def write(self, content: bytes) -> int:
        """Writes the bytes and counts them."""
        self._hash.update(content)
        self.size += len(content)
        return self._file.write(content)

    def digest(self) -> str:
        """Returns the hash of what was written so far, in hex."""
        return self._hash.hexdigest()

    def tell(self) -> int:
        """Returns the position."""
        return self.size

    def flush(self) -> None:
        """Hands all bytes to the system."""
        self._file.flush()

    def close(self) -> None:
        """Leaves the file open for its owner."""
        self._file.flush()


def _fill_up(path: Path, least: int) -> None:
    """Moves the footer back until the file has the next power of two as its size, and at least the one it replaces."""
    with path.open("rb+") as file:
        footer = footer_of(file.fileno())
        size = file.seek(0, os.SEEK_END)
        file.truncate(size - len(footer))
        file.seek(max(least, LEAST_BYTES, 1 << (size - 1).bit_length()) - len(footer))
        file.write(footer)


def _flush(path: Path) -> None:
    """Flushes the file to disk and gives it a time of its own, finer than the clock of most file systems."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        now = time.time_ns()
        os.utime(path, ns=(now, now))


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
