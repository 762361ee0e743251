"""Tables as Parquet: immutable part files and one manifest per table and part, swapped atomically.

    tables/observations/2026-04-08/manifest.json
    tables/observations/2026-04-08/part-3f2a….parquet

A part file is named by the hash of its bytes and never changes; readers follow the manifest, so they see either the old
rows or the new ones. Replaced files stay for a day, for readers that are still at them.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from memory_assets.errors import StoreError, TableError
from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import PartInfo
from memory_assets.schema.tables import table_names
from memory_assets.text.files import make_folder, sync_folder, write_json

KEEP_REPLACED_SECONDS = 24 * 3600
COMPRESSION = "zstd"


class ParquetTables:
    """Reads and writes the tables below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def parts(self, table: str, wanted: Iterable[str] | None = None) -> dict[str, PartInfo]:
        """Returns the written parts (of those wanted) by name, sorted by name."""
        only = None if wanted is None else set(wanted)
        return {part: _info(manifest) for part, manifest in self._manifests(table, only)}

    def read(self, table: str, parts: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Returns the rows of the given parts (all by default); parts that do not exist have no rows."""
        frame = self.scan(table, parts)
        return (frame.select(columns) if columns is not None else frame).collect()

    def scan(self, table: str, parts: Iterable[str] | None = None) -> pl.LazyFrame:
        """Returns the same lazily; raises `StoreError` where a part file is missing or not Parquet."""
        wanted = None if parts is None else set(parts)
        files = [
            self._folder(table) / part / file["name"]
            for part, manifest in self._manifests(table, wanted)
            for file in manifest["files"]
            if file["rows"]
        ]
        if not files:
            return schemas.empty(table).lazy()
        missing = [file for file in files if not file.is_file()]
        if missing:
            raise StoreError(f"Table '{table}' lacks {missing[0]}. Run `memory rebuild` to make the tables again.")
        # A column that was added since is empty until its table is written anew.
        return pl.scan_parquet(files, schema=schemas.schema_of(table), missing_columns="insert")

    def write(
        self, table: str, part: str, frame: pl.DataFrame | Iterable[pl.DataFrame], *, inputs: str | Callable[[], str] = ""
    ) -> PartInfo:
        """Checks the rows against the table's schema and replaces the part in one step.

        `frame` may be an iterable of frames, written as they come and never held together; those must be in key order.
        `inputs` may be a function that is asked once all rows are written.
        """
        folder = make_folder(self._folder(table) / part)
        if isinstance(frame, pl.DataFrame):
            frames: Iterable[pl.DataFrame] = [frame.sort(schemas.key_of(table))]
        else:
            frames = frame
        beside = folder / f".{os.getpid()}-{time.monotonic_ns()}.tmp"
        try:
            rows = _write_parquet(table, frames, beside)
            digest, size = _digest(beside)
            name = f"part-{digest[:16]}.parquet"
            os.replace(beside, folder / name)
        except OSError as error:
            raise StoreError(
                f"Cannot write table '{table}' ({part}) below {folder}: {error.strerror or error}. "
                "Free space or mend the folder's permissions, then run the same command again; nothing was replaced."
            ) from error
        finally:
            beside.unlink(missing_ok=True)
        sync_folder(folder)
        manifest = {
            "v": schemas.SCHEMA_VERSION,
            "files": [{"name": name, "rows": rows, "sha256": digest, "bytes": size}],
            "inputs": inputs if isinstance(inputs, str) else inputs(),
            "written_at": datetime.now(UTC).isoformat(),
        }
        write_json(folder / "manifest.json", manifest)
        self._mark_changed(table)
        _remove_replaced(folder, keep=name)
        return _info(manifest)

    def drop(self, table: str, part: str) -> None:
        """Removes the part; nothing happens when it is not there."""
        folder = self._folder(table) / part
        (folder / "manifest.json").unlink(missing_ok=True)
        for file in folder.glob("*"):
            file.unlink(missing_ok=True)
        if folder.is_dir():
            folder.rmdir()
            self._mark_changed(table)

    def purge(self) -> None:
        """Removes every file that no manifest of today's schemas names: replaced parts, half-written ones, tables of old."""
        current = {
            self._folder(table) / part / name
            for table in table_names()
            for part, manifest in self._manifests(table)
            for name in ("manifest.json", *(file["name"] for file in manifest["files"]))
        }
        for path in [path for path in self.root.rglob("*") if path.is_file() and path not in current]:
            path.unlink(missing_ok=True)

    def _mark_changed(self, table: str) -> None:
        # The folder's own time tells, without reading a manifest, that some part of the table was written.
        now = time.time_ns()
        os.utime(self._folder(table), ns=(now, now))

    def _folder(self, table: str) -> Path:
        schemas.record_of(table)
        return self.root / table

    def _manifests(self, table: str, wanted: set[str] | None = None) -> Iterator[tuple[str, dict]]:
        folder = self._folder(table)
        names = wanted if wanted is not None else os.listdir(folder) if folder.is_dir() else ()
        for part in sorted(names):
            path = folder / part / "manifest.json"
            try:
                manifest = json.loads(path.read_bytes())
            except (FileNotFoundError, NotADirectoryError):
                continue
            except json.JSONDecodeError as error:
                raise StoreError(f"Cannot read {path}: {error}. Run `memory rebuild`.") from error
            if manifest["v"] == schemas.SCHEMA_VERSION:
                yield part, manifest


def _write_parquet(table: str, frames: Iterable[pl.DataFrame], path: Path) -> int:
    import pyarrow.parquet as pq  # takes a tenth of a second, and readers do without

    rows = 0
    keys: list[pl.Series] = []
    writer: pq.ParquetWriter | None = None
    try:
        for frame in frames:
            arrow = schemas.check(table, frame).to_arrow()
            if writer is None:
                writer = pq.ParquetWriter(path, arrow.schema, compression=COMPRESSION)
            writer.write_table(arrow)
            rows += frame.height
            keys.append(frame.select(pl.struct(schemas.key_of(table)).hash().alias("key"))["key"])
        if writer is None:
            arrow = schemas.empty(table).to_arrow()
            writer = pq.ParquetWriter(path, arrow.schema, compression=COMPRESSION)
    finally:
        if writer is not None:
            writer.close()
    if len(keys) > 1 and pl.concat(keys).n_unique() != rows:
        raise TableError(f"Rows of '{table}' repeat a key ({', '.join(schemas.key_of(table))}).")
    with path.open("rb+") as file:
        os.fsync(file.fileno())
    path.chmod(0o600)
    return rows


def _digest(path: Path) -> tuple[str, int]:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size


def _info(manifest: dict) -> PartInfo:
    files = manifest["files"]
    return PartInfo(
        rows=sum(file["rows"] for file in files),
        fingerprint=hashlib.sha256("".join(file["sha256"] for file in files).encode()).hexdigest()[:16],
        inputs=manifest["inputs"],
        written_at=datetime.fromisoformat(manifest["written_at"]),
        bytes=sum(file["bytes"] for file in files),
    )


def _remove_replaced(folder: Path, keep: str) -> None:
    old = time.time() - KEEP_REPLACED_SECONDS
    for file in folder.glob("part-*.parquet"):
        if file.name != keep and file.stat().st_mtime < old:
            file.unlink(missing_ok=True)
