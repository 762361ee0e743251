"""Tables as Parquet in Hive folders, one file per partition.

    tables/observations/day=2026-04-08/data.parquet     one partition of a table that is partitioned
                                                        by day
    tables/memories/data.parquet                        an unpartitioned table
    tables/memories/columns.parquet                     no rows; every table has one
    tables/.writing/                                    files being written

Any Parquet reader may read `tables/observations/**/*.parquet`. The footer of each file contains its
number of rows, their hash and their input version, so that one rename publishes a partition.
Readers of a replaced file keep the old one.

polars reads the size of a file when it lists files, and later reads the footer at that offset. A
rewrite in between must not move the end of the file: a hole between rows and footer makes its size
a power of two, and a rewrite never makes it smaller. A dropped partition becomes a file without
rows, which is deleted a day later.

A partition is named by the values of its partition columns (`2026-04-08`, `week-2026-04-06`). Its
file does not contain these columns, as polars, DuckDB, pandas and pyarrow expect of this layout. A
table without partition columns has the single partition `all`.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from glob import iglob
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from memory_assets.adapters.parquet_footer import KEY, facts_of, footer_of, read_facts
from memory_assets.errors import DamagedError, StoreError, TableError
from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import PartInfo
from memory_assets.schema.tables import WHOLE, table_names
from memory_assets.text.files import (
    Stamp,
    file_system_of,
    make_folder,
    stamp,
    stamp_of,
    sync_folder,
)

FILE = "data.parquet"
COLUMNS_FILE = "columns.parquet"
"""A file without rows that sorts before all partitions. polars keeps the footer of the first file
between planning and running a query, so this file must not change when partitions do."""

_LOWEST = {pl.Date(): "1970-01-01", pl.String(): "-"}
"""Type of a partition column → a value that sorts before all real ones."""

_TEXT = re.compile(r"[A-Za-z0-9._-]+")
"""A value of a partition column of text."""

NO_FOOTER = "its footer cannot be read"
CHANGED_ROWS = "its rows do not match their hash"
WRITING = ".writing"
KEEP_DROPPED_SECONDS = 24 * 3600
COMPRESSION = "zstd"
LEAST_BYTES = 1 << 14
"""Minimum size of a file. Most partitions of a day are smaller and are filled up with a hole, which
takes no space on most file systems.
"""

IN_MEMORY = ("tmpfs", "ramfs")
"""File systems on which reading a hole takes space: on a full one, a signal ends who reads it."""

SETTLED_NS = 2_000_000_000
"""Age of a folder's modification time from which the hashes of its partitions are cached."""


@dataclass(frozen=True)
class _Facts:
    """The metadata in a file's footer."""

    version: int
    is_dropped: bool
    info: PartInfo


_cached_facts: dict[str, tuple[Stamp, _Facts]] = {}
"""Path of a file → its stamp and its metadata."""

_cached_fingerprints: dict[str, tuple[tuple[int, int], Mapping[str, str]]] = {}
"""Folder of a table → its mark (`_mark_of`), and the hashes of the rows of its partitions."""


class ParquetTables:
    """Reads and writes the tables below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def parts(self, table: str, names: Iterable[str] | None = None) -> dict[str, PartInfo]:
        """Returns name → metadata of the written partitions among these (of all by default), sorted
        by name.
        """
        return {part: info for part, _, info in self._present(table, names)}

    def has_rows(self, table: str) -> bool:
        """Returns whether any partition of the table has a row."""
        return any(info.rows for info in self.parts(table).values())

    def fingerprints(self, table: str) -> Mapping[str, str]:
        """Returns name → hash of the rows of each partition; reads the metadata of partitions only
        if one was written since the last call.
        """
        folder = self._folder(table)
        mark = _mark_of(folder)
        cached = _cached_fingerprints.get(folder)
        now = time.time_ns()
        if mark is not None and cached is not None and cached[0] == mark:
            return cached[1]
        hashes = {part: info.fingerprint for part, info in self.parts(table).items()}
        # A recent mark may belong to a write that is not finished: the writer may replace the
        # partition after this call, and be killed before it marks the folder again.
        if mark is not None and now - mark[1] > SETTLED_NS:
            _cached_fingerprints[folder] = (mark, hashes)
        return hashes

    def read(
        self, table: str, parts: Iterable[str] | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Returns the rows of these partitions (all by default) with these columns; missing
        partitions have no rows.
        """
        frame = self.scan(table, parts)
        return (frame.select(columns) if columns is not None else frame).collect()

    def scan(self, table: str, parts: Iterable[str] | None = None) -> pl.LazyFrame:
        """Returns the rows of these partitions as a lazy frame; raises `DamagedError` if the footer
        of a file cannot be read.
        """
        files = {part: path for part, path, info in self._present(table, parts) if info.rows}
        if not files:
            return schemas.empty(table).lazy()
        if "=" in str(self.root):  # polars would read folders above the tables as partitions
            return pl.concat([_scan_part(table, part, path) for part, path in files.items()])
        return _scan(table, [*files.values()], is_hive=bool(schemas.partitioned_by(table)))

    def write(
        self,
        table: str,
        part: str,
        frame: pl.DataFrame | Iterable[pl.DataFrame],
        *,
        inputs: str | Callable[[], str] = "",
    ) -> PartInfo:
        """Validates the rows and replaces the partition in one step.

        `frame` may be an iterable of frames, which are written one by one and must be in key order.
        `inputs` is the input version of the rows, or a function that returns it once all rows are
        written. Raises `TableError`, and changes nothing, if rows do not fit the schema, repeat a
        key or belong to another partition.
        """
        if isinstance(frame, pl.DataFrame):
            frame = [frame.sort(schemas.key_of(table))]
        self.write_columns(table)
        path = self._path(table, part)
        return self._publish(table, path, _checked(table, part, frame), inputs).info

    def drop(self, table: str, part: str) -> None:
        """Empties the partition, if it exists; deletes files of partitions of the table that were
        dropped over a day ago.
        """
        if self.parts(table, [part]):
            self._publish(table, self._path(table, part), iter(()), "", is_dropped=True)
        for _, path, facts in self._files(table):
            if not _is_kept(facts):
                Path(path).unlink(missing_ok=True)
                with suppress(OSError):
                    Path(path).parent.rmdir()

    def purge(self) -> None:
        """Removes every file that is not a partition of the current schemas: incomplete files, old
        tables.
        """
        current = {self._columns_path(table) for table in table_names()}
        for table in table_names():
            current |= {path for _, path, facts in self._files(table) if _is_kept(facts)}
        for folder, _, names in os.walk(self.root, topdown=False):
            for path in (os.path.join(folder, name) for name in names):
                if path not in current:
                    Path(path).unlink(missing_ok=True)
            with suppress(OSError):  # not empty
                if folder != str(self.root):
                    Path(folder).rmdir()

    def damaged(
        self, names: Iterable[str] | None = None, *, is_deep: bool = True
    ) -> Iterator[tuple[Path, str]]:
        """Yields each file of the tables (all by default) whose content changed after it was
        written, with the reason.

        With `is_deep` it reads every byte, otherwise only the footers.
        """
        fault_of = _fault_of if is_deep else _footer_fault_of
        for table in table_names() if names is None else names:
            folder = self._folder(table)
            files = [file_of(table, part) for part in sorted(set(find_parts(table, folder)))]
            paths = [Path(folder, file) for file in files if file]
            columns = Path(self._columns_path(table))
            if columns.is_file():
                paths.append(columns)
            for path in paths:
                reason = fault_of(table, path)
                if reason:
                    yield path, reason

    def _present(
        self, table: str, names: Iterable[str] | None
    ) -> Iterator[tuple[str, str, PartInfo]]:
        """Yields name, file and metadata of the partitions, sorted by name."""
        for part, path, facts in self._files(table, names):
            if facts.version == schemas.SCHEMA_VERSION and not facts.is_dropped:
                yield part, path, facts.info

    def _files(
        self, table: str, names: Iterable[str] | None = None
    ) -> Iterator[tuple[str, str, _Facts]]:
        """Yields partition, path and metadata of each file, also of dropped partitions."""
        folder = self._folder(table)
        parts = find_parts(table, folder) if names is None else names
        for part in sorted(set(parts)):
            file = file_of(table, part)
            path = f"{folder}{os.sep}{file}"
            facts = _facts_of(path) if file else None
            if facts:
                yield part, path, facts

    def _folder(self, table: str) -> str:
        schemas.record_of(table)
        return os.path.join(self.root, table)

    def _path(self, table: str, part: str) -> str:
        file = file_of(table, part)
        if file:
            return os.path.join(self._folder(table), file)
        columns = " and ".join(schemas.partitioned_by(table))
        named = f"partitions are named by {columns}" if columns else f"its only one is '{WHOLE}'"
        raise TableError(f"Table '{table}' cannot have a partition '{part}'; {named}.")

    def _columns_path(self, table: str) -> str:
        schema = schemas.schema_of(table)
        folders = [f"{name}={_LOWEST[schema[name]]}" for name in schemas.partitioned_by(table)]
        return os.path.join(self.root, table, *folders, COLUMNS_FILE)

    def write_columns(self, table: str) -> None:
        """Writes the table's file without rows, unless it exists with the current columns."""
        path = self._columns_path(table)
        columns = schemas.hash_of(*_stored(schemas.empty(table), table).schema.items())
        with suppress(OSError):
            if f'"{columns}"' in read_facts(path):
                return
        self._publish(table, path, iter(()), columns, is_dropped=True)

    def _publish(
        self,
        table: str,
        path: str,
        frames: Iterator[pl.DataFrame],
        inputs: str | Callable[[], str],
        *,
        is_dropped: bool = False,
    ) -> _Facts:
        """Writes the rows to a temporary file, then renames it: from then on readers see it."""
        temporary = self.root / WRITING / f"{os.getpid()}-{time.monotonic_ns()}.tmp"
        try:
            make_folder(temporary.parent)
            facts = _write_parquet(table, frames, temporary, inputs, is_dropped=is_dropped)
            replaced = stamp_of(Path(path))
            _fill_up(temporary, least=replaced[1] if replaced else 0)
            _flush(temporary)
            make_folder(Path(path).parent)
            # Marked before and after: also after a kill in between, cached hashes count as old.
            self._mark_changed(table)
            os.replace(temporary, path)
            sync_folder(Path(path).parent)
            self._mark_changed(table)
        except OSError as error:
            raise StoreError(
                f"Cannot write table '{table}' ({path}): {error.strerror or error}. Free space or "
                "fix the folder's permissions, then run the same command again; nothing was "
                "replaced."
            ) from error
        finally:
            temporary.unlink(missing_ok=True)
        return _parse_facts(facts)

    def _mark_changed(self, table: str) -> None:
        """Sets the folder's modification time, which shows without reading a file that a partition
        was written.
        """
        now = time.time_ns()
        os.utime(self._folder(table), ns=(now, now))


def values_of(table: str, part: str) -> dict[str, str] | None:
    """Returns partition column → its value in the name; None if the table cannot have such a
    partition.
    """
    columns = schemas.partitioned_by(table)
    schema = schemas.schema_of(table)
    if not columns:
        return {} if part == WHOLE else None
    values = dict(zip(columns, part.split("-", len(columns) - 1), strict=False))
    is_valid = len(values) == len(columns) and all(
        _is_value(schema[column], value) for column, value in values.items()
    )
    return values if is_valid else None


def _mark_of(folder: str) -> tuple[int, int] | None:
    """Returns inode and modification time of the folder, which change when a partition of the table
    is written; None where there is no such folder.
    """
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


@lru_cache(maxsize=1 << 15)
def file_of(table: str, part: str) -> str:
    """Returns the partition's file below the table's folder; empty if the table cannot have such a
    partition.
    """
    values = values_of(table, part)
    if values is None:
        return ""
    return os.path.join(*(f"{column}={value}" for column, value in values.items()), FILE)


def find_parts(table: str, folder: str) -> Iterator[str]:
    """Returns the names of the partitions that have a folder in the table's folder, unordered."""
    columns = schemas.partitioned_by(table)
    if not columns:
        return iter([WHOLE])
    paths = iglob(os.path.join(*(f"{column}=*" for column in columns)), root_dir=folder)
    return ("-".join(level.partition("=")[2] for level in path.split(os.sep)) for path in paths)


def part_of(place: Path) -> tuple[str, str] | None:
    """Returns table and partition of a file; None if it is no partition. `place` is its path below
    the folder of the tables.
    """
    table, *levels, name = place.parts
    if name != FILE or table not in table_names():
        return None
    return table, "-".join(level.partition("=")[2] for level in levels) or WHOLE


def _is_value(kind: pl.DataType, value: str) -> bool:
    if kind != pl.Date():
        return _TEXT.fullmatch(value) is not None
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _scan(table: str, files: list[str], *, is_hive: bool) -> pl.LazyFrame:
    schema = schemas.schema_of(table)
    keys = schemas.partitioned_by(table)
    scanned = pl.scan_parquet(
        files,
        # With a schema, polars reads no footer before the query runs.
        schema={name: dtype for name, dtype in schema.items() if name not in keys},
        hive_partitioning=is_hive,
        hive_schema={key: schema[key] for key in keys} if is_hive else None,
        missing_columns="insert",  # a column added later is empty until the partition is rewritten
        extra_columns="ignore",  # an earlier release had it
    )
    return scanned.select(schema.names()) if is_hive else scanned


def _scan_part(table: str, part: str, file: str) -> pl.LazyFrame:
    schema = schemas.schema_of(table)
    values = values_of(table, part) or {}
    literals = {
        name: date.fromisoformat(value) if schema[name] == pl.Date() else value
        for name, value in values.items()
    }
    columns = [pl.lit(value, schema[name]).alias(name) for name, value in literals.items()]
    return _scan(table, [file], is_hive=False).with_columns(columns).select(schema.names())


def _facts_of(path: str) -> _Facts | None:
    """Returns the metadata of the file, None if there is no file; raises `DamagedError` if its
    metadata cannot be read.
    """
    try:
        cached = _cached_facts.get(path)
        if cached is not None and cached[0] == stamp(os.stat(path)):
            return cached[1]
        with open(path, "rb", buffering=0, opener=_open_no_link) as file:
            read_at = stamp(os.fstat(file.fileno()))
            text = facts_of(file.fileno())
        facts = _parse_facts(json.loads(text))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(
            f"Cannot read {path}: not a complete Parquet file of this store. Run `memory "
            "ingest`; it rebuilds it."
        ) from error
    _cached_facts[path] = read_at, facts
    return facts


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))


def _fault_of(table: str, path: Path) -> str:
    """Returns what is wrong with the content of the file; empty if nothing is, or if the file was
    replaced or removed meanwhile.
    """
    import pyarrow as pa

    stamp = stamp_of(path)
    try:
        reason = "" if stamp is None or _is_as_written(table, path) else CHANGED_ROWS
    except DamagedError:
        reason = NO_FOOTER
    except FileNotFoundError:
        return ""
    except (
        OSError, pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException
    ) as error:  # fmt: skip
        reason = f"it cannot be read: {str(error).splitlines()[0][:100]}"
    return reason if stamp_of(path) == stamp else ""


def _is_as_written(table: str, path: Path) -> bool:
    """Returns whether the rows of the file match its metadata; files of another release are not
    checked and count as matching.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    facts = _facts_of(str(path))
    if facts is None or facts.version != schemas.SCHEMA_VERSION:
        return True
    file = pq.ParquetFile(path)
    names = set(file.schema_arrow.names)
    schema = _stored(schemas.empty(table), table).to_arrow().schema
    if not names.issubset(schema.names):
        return True
    columns = pa.schema([field for field in schema if field.name in names])
    hashed = hashlib.sha256(str(columns).encode())
    with path.open("rb") as content:
        hashed.update(content.read(facts.info.bytes))
    return (
        hashed.hexdigest()[:16] == facts.info.fingerprint
        and file.metadata.num_rows == facts.info.rows
        and pl.read_parquet(path, hive_partitioning=False).height == facts.info.rows
    )


def _footer_fault_of(_: str, path: Path) -> str:
    try:
        _facts_of(str(path))
    except DamagedError:
        return NO_FOOTER
    return ""


def _parse_facts(facts: dict[str, Any]) -> _Facts:
    written_at = datetime.fromisoformat(facts["written_at"])
    info = PartInfo(
        facts["rows"], facts["fingerprint"], facts["inputs"], written_at, facts["bytes"]
    )
    return _Facts(facts["v"], facts.get("dropped", False), info)


def _is_kept(facts: _Facts) -> bool:
    """Returns whether the file is a partition, or was dropped within the last day."""
    age = (datetime.now(UTC) - facts.info.written_at).total_seconds()
    is_readable = not facts.is_dropped or age < KEEP_DROPPED_SECONDS
    return facts.version == schemas.SCHEMA_VERSION and is_readable


def _checked(table: str, part: str, frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yields the frames after validating schema and partition."""
    values = values_of(table, part) or {}
    for frame in frames:
        rows = schemas.check(table, frame)
        for column, value in values.items():
            if rows[column].cast(pl.String).ne_missing(pl.Series([value])).any():
                raise TableError(
                    f"Rows of '{table}' do not belong to partition '{part}': their {column} "
                    f"is not {value}."
                )
        yield rows


def _stored(frame: pl.DataFrame, table: str) -> pl.DataFrame:
    """Returns the frame without its partition columns, as stored in files."""
    return frame.drop(schemas.partitioned_by(table))


def _write_parquet(
    table: str,
    frames: Iterator[pl.DataFrame],
    path: Path,
    inputs: str | Callable[[], str],
    *,
    is_dropped: bool,
) -> dict[str, Any]:
    """Writes the frames, with their metadata in the footer, and returns the metadata."""
    import pyarrow.parquet as pq  # takes a tenth of a second; readers do not need it

    schema = _stored(schemas.empty(table), table).to_arrow().schema
    rows = 0
    keys = []
    with path.open("wb") as file:
        hashed = _Hashed(file, str(schema))
        writer = pq.ParquetWriter(hashed, schema, compression=COMPRESSION, store_schema=False)
        with writer:
            for frame in frames:
                writer.write_table(_stored(frame, table).to_arrow())
                rows += frame.height
                key = pl.struct(schemas.key_of(table)).hash().alias("key")
                keys.append(frame.select(key)["key"])
            if len(keys) > 1 and pl.concat(keys).n_unique() != rows:
                raise TableError(
                    f"Rows of '{table}' repeat a key ({', '.join(schemas.key_of(table))})."
                )
            facts: dict[str, Any] = {
                "v": schemas.SCHEMA_VERSION,
                "rows": rows,
                "fingerprint": hashed.hash.hexdigest()[:16],
                "bytes": hashed.size,
                "written_at": datetime.now(UTC).isoformat(),
                "inputs": inputs if isinstance(inputs, str) else inputs(),
            }
            if is_dropped:
                facts["dropped"] = True
            writer.add_key_value_metadata({KEY: json.dumps(facts)})
    path.chmod(0o600)
    return facts


class _Hashed:
    """A file that hashes and counts the bytes that are written. The hash is read before the footer
    is written, so it covers only the rows.
    """

    closed = False  # pyarrow asks for it

    def __init__(self, file: BinaryIO, schema: str) -> None:
        self._file = file
        self.hash = hashlib.sha256(schema.encode())
        self.size = 0

    def write(self, content: bytes) -> int:
        """Writes the bytes and counts them."""
        self.hash.update(content)
        self.size += len(content)
        return self._file.write(content)

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
    """Moves the footer so that the file's size is a power of two, and at least `least` bytes."""
    with path.open("rb+") as file:
        footer = footer_of(file.fileno())
        size = file.seek(0, os.SEEK_END)
        next_power = 1 << (size - 1).bit_length()
        new_size = max(least, LEAST_BYTES, next_power)
        file.truncate(size - len(footer))
        if file_system_of(path.parent) in IN_MEMORY:
            file.seek(size - len(footer))
            file.write(bytes(new_size - size))
        file.seek(new_size - len(footer))
        file.write(footer)


def _flush(path: Path) -> None:
    """Flushes the file to disk and sets its modification time to the exact present; most file
    systems would store a coarser time.
    """
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        now = time.time_ns()
        os.utime(path, ns=(now, now))
