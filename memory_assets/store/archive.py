"""The archive: byte ranges of transcripts with their secrets masked, each written once.

    resources/ranges/<source>/<generation>-<first byte>.zst    whole lines, compressed
    resources/catalog.jsonl                                    one line a range; writing it commits the range
    resources/seen.json                                        size and times of each file when it was last looked at

A range without a catalog line was left by a killed process and is written again by the next one. Offsets are those of the
decompressed transcript. `raw_hmac` is a keyed hash of the range's bytes before masking: it tells an append from a rewrite
without keeping what was masked. Forgetting alone changes a range: words are masked in it, its hash is restated with the reason,
and its length stays, so that every offset still resolves.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path

import orjson
import polars as pl
import zstandard

from memory_assets.errors import StoreError, TranscriptError
from memory_assets.schema import frames as schemas
from memory_assets.schema.records import Harness
from memory_assets.text.files import append_line, write_atomically, write_json

VERSION = 2
CONTENT_TYPE = "application/jsonl"


@dataclass(frozen=True)
class Range:
    """One archived byte range, as the catalog keeps it."""

    id: str
    source_id: str
    harness: Harness
    path: str
    generation: int
    byte_from: int
    byte_to: int
    line_from: int
    line_to: int
    sha256: str
    raw_hmac: str
    content_at: str | None
    content_until: str | None
    conversation_id: str
    created_at: str
    masked_count: int
    masking_version: str
    starts_with_newline: bool = False
    """The range begins with the newline that the line before it was still waiting for when it was captured."""
    content_type: str = CONTENT_TYPE
    restated_at: str | None = None
    """When bytes of it were masked after it was archived, and its hash was restated."""
    restated_because: str | None = None


@dataclass(frozen=True)
class Line:
    """One archived line and where it lies."""

    number: int
    byte_from: int
    byte_to: int
    resource_id: str
    content: bytes


def range_id(source_id: str, generation: int, byte_from: int) -> str:
    """Returns the stable id of the range that starts at the byte."""
    return hashlib.sha256(f"{source_id}\x1f{generation}\x1f{byte_from}".encode()).hexdigest()[:24]


class Archive:
    """Appends ranges and reads them back."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._catalog = root / "catalog.jsonl"
        self._loaded_size = -1
        self._loaded: dict[str, list[Range]] = {}
        self._by_id: dict[str, Range] = {}

    def sources(self) -> dict[str, list[Range]]:
        """Returns the ranges of each source, in order of source, generation and byte."""
        return dict(sorted(self._load().items()))

    def ranges(self, source_id: str) -> list[Range]:
        """Returns the ranges of the source, in order of generation and byte."""
        return self._load().get(source_id, [])

    def resources(self) -> pl.DataFrame:
        """Returns the table `resources`."""
        return _frame_of(entry for ranges in self.sources().values() for entry in ranges)

    def resources_of(self, source_id: str) -> pl.DataFrame:
        """Returns the rows of one source of the table `resources`."""
        return _frame_of(self.ranges(source_id))

    def append(self, entry: Range, content: bytes) -> None:
        """Writes the masked bytes, then the catalog line that commits them; raises `StoreError` when the disk refuses."""
        self._load()
        try:
            write_atomically(self._file(entry), zstandard.ZstdCompressor(level=3).compress(content))
            append_line(self._catalog, orjson.dumps({"v": VERSION, **asdict(entry)}))
        except OSError as error:
            raise StoreError(
                f"Cannot archive {entry.path} below {self.root}: {error.strerror or error}. Free space or mend the folder's "
                "permissions, then run the same command again; what was archived before is safe."
            ) from error
        self._loaded.setdefault(entry.source_id, []).append(entry)
        self._by_id[entry.id] = entry
        self._loaded_size = self._catalog.stat().st_size

    def restate(self, resource_id: str, content: bytes, *, at: datetime, because: str) -> None:
        """Replaces the bytes of the range by others of the same length, and its hash; a killed call is made again as it was.

        The catalog comes first: whoever reads in between finds bytes that do not have their hash, and never the reverse.
        """
        entry = self._by_id[resource_id]
        if len(content) != entry.byte_to - entry.byte_from:
            raise StoreError(
                f"The range {resource_id} has {entry.byte_to - entry.byte_from} bytes and cannot take {len(content)}."
            )
        digest = hashlib.sha256(content).hexdigest()
        restated = replace(entry, sha256=digest, restated_at=at.isoformat(), restated_because=because)
        self._load()[entry.source_id] = [restated if one is entry else one for one in self.ranges(entry.source_id)]
        rows = (entry for ranges in self._loaded.values() for entry in ranges)
        write_atomically(self._catalog, b"".join(orjson.dumps({"v": VERSION, **asdict(row)}) + b"\n" for row in rows))
        write_atomically(self._file(entry), zstandard.ZstdCompressor(level=3).compress(content))
        self._loaded_size = -1
        self._cached_content.cache_clear()

    def read(self, source_id: str, generation: int, byte_from: int, byte_to: int) -> bytes:
        """Returns archived bytes of the source; raises `TranscriptError` where they were never captured."""
        found = b"".join(
            self._content(entry)[max(byte_from - entry.byte_from, 0) : byte_to - entry.byte_from]
            for entry in self.ranges(source_id)
            if entry.generation == generation and entry.byte_from < byte_to and byte_from < entry.byte_to
        )
        if len(found) != byte_to - byte_from:
            raise TranscriptError(
                f"Bytes {byte_from} to {byte_to} of source {source_id} (generation {generation}) are not in the archive at "
                f"{self.root}. Restore the archive from a backup."
            )
        return found

    def lines(self, source_id: str, generation: int, from_line: int = 0) -> Iterator[Line]:
        """Yields the lines of the ranges that reach past the line number, one range in memory at a time."""
        for entry in self.ranges(source_id):
            if entry.generation == generation and entry.line_to > from_line:
                yield from self._lines_of(entry)

    def find(self, resource_id: str) -> Range | None:
        """Returns the range of that id."""
        self._load()
        return self._by_id.get(resource_id)

    def verify(self, resource_id: str) -> bool:
        """Returns whether the archived bytes of the range still have the hash that they were archived with."""
        entry = self.find(resource_id)
        try:
            return entry is not None and hashlib.sha256(self._read_content(entry)).hexdigest() == entry.sha256
        except TranscriptError:
            return False

    def seen(self) -> dict[str, list[int]]:
        """Returns size, modification time and inode of each file when it was last looked at, by path."""
        path = self.root / "seen.json"
        try:
            return orjson.loads(path.read_bytes()) if path.is_file() else {}
        except orjson.JSONDecodeError:
            return {}  # a glance that was lost: every file is looked at again, and nothing is taken in twice

    def remember_seen(self, seen: dict[str, list[int]]) -> None:
        """Keeps what files looked like, so that the next look can pass over those that did not change."""
        write_json(self.root / "seen.json", seen)

    def _load(self) -> dict[str, list[Range]]:
        size = self._catalog.stat().st_size if self._catalog.is_file() else 0
        if self._loaded_size != size:
            self._loaded_size, self._loaded = size, _read_catalog(self._catalog) if size else {}
            self._by_id = {entry.id: entry for ranges in self._loaded.values() for entry in ranges}
        return self._loaded

    def _file(self, entry: Range) -> Path:
        return self.root / "ranges" / entry.source_id / f"{entry.generation:03d}-{entry.byte_from:012d}.zst"

    def _content(self, entry: Range) -> bytes:
        return self._cached_content(entry)

    @cached_property
    def _cached_content(self):
        return lru_cache(maxsize=2)(self._read_content)

    def _read_content(self, entry: Range) -> bytes:
        try:
            return zstandard.ZstdDecompressor().decompress(self._file(entry).read_bytes())
        except (OSError, zstandard.ZstdError) as error:
            raise TranscriptError(
                f"Cannot read the archived range {self._file(entry)}: {error}. Restore the archive from a backup."
            ) from error

    def _lines_of(self, entry: Range) -> Iterator[Line]:
        content, start, number = self._content(entry), 0, entry.line_from
        if entry.starts_with_newline:
            start = 1
        while start < len(content):
            end = content.find(b"\n", start) + 1 or len(content)
            offset = entry.byte_from
            yield Line(number, offset + start, offset + end, entry.id, content[start:end])
            start, number = end, number + 1


def _frame_of(ranges: Iterable[Range]) -> pl.DataFrame:
    rows = []
    for entry in ranges:
        row = {name: getattr(entry, name) for name in schemas.schema_of("resources")}
        for name in ("content_at", "content_until", "created_at"):
            row[name] = datetime.fromisoformat(row[name]) if row[name] else None
        rows.append(row)
    return schemas.frame_of("resources", rows)


def _read_catalog(path: Path) -> dict[str, list[Range]]:
    found: dict[str, dict[tuple[int, int], Range]] = defaultdict(dict)
    for line in path.read_bytes().split(b"\n"):
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue  # a line torn by a killed process: its range was never committed and is captured again
        version = row.pop("v")
        if version > VERSION:
            raise StoreError(f"{path} was written by a newer release (archive version {version}); upgrade memory_assets.")
        entry = Range(**row)
        found[entry.source_id].setdefault((entry.generation, entry.byte_from), entry)
    return {source: [ranges[key] for key in sorted(ranges)] for source, ranges in found.items()}
