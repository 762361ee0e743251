"""The archive: byte ranges of transcripts with secrets masked, each written once.

    resources/ranges/<source>/<generation>-<first byte>.zst    whole lines, compressed
    resources/catalog.jsonl      one line per range; writing the line commits the range
    resources/seen.json          size and times of each file at the last scan
    resources/unreadable.json    files that could not be read, with the reason

A source is a transcript file; its generation is a number that grows whenever the file is rewritten
instead of appended to. A range without a catalog line was left by a killed process; the next
process writes it again. Offsets refer to the decompressed transcript. `raw_hmac` is a keyed hash of
the bytes before masking: it distinguishes an append from a rewrite without storing what was masked.
Only forgetting changes a range: it masks words, and updates the hash with the reason. The length
stays the same, so that offsets remain valid. A range that another machine pushed names the sender
(`pushed`).
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import zstandard
from pydantic import BaseModel, ConfigDict

from memory_assets.errors import StoreError, TranscriptError
from memory_assets.schema import frames as schemas
from memory_assets.schema.announcements import announce
from memory_assets.schema.records import Resource
from memory_assets.store.ledger import HELP, is_torn_line
from memory_assets.text import files

VERSION = 3


class Sender(BaseModel):
    """Who pushed a range from another machine, and the ids that it has there."""

    model_config = ConfigDict(frozen=True)
    person: str
    client: str
    """Id of the store that sent it."""
    source_id: str
    """Id of the source in that store."""
    session_id: str
    """Id of the session in that store."""
    sha256: str
    """SHA-256 of the bytes as they were sent."""


class Range(Resource):
    """One archived byte range, as stored in the catalog."""

    raw_hmac: str
    is_own: bool = False
    """Whether it is the owner's: a harness of this machine wrote it, or it lies in the home folder.
    """
    repositories: dict[str, str] | None = None
    """Working folder → name of its git repository, for folders in the range that were in one on
    this machine; None where that was not looked up.
    """
    folder: str = ""
    """Working folder, where the place of the file names it and its records do not."""
    content_type: str = "application/jsonl"
    starts_with_newline: bool = False
    """Whether its first byte is the newline of the line before it: that line was captured while it
    had no newline yet.
    """
    restated_at: datetime | None = None
    """When bytes were masked after archiving and the hash was updated."""
    restated_because: str | None = None
    pushed: Sender | None = None
    """Who pushed it; None for a range that was captured on this machine."""
    changed_at: datetime | None = None
    """When its file last changed; None for a range that was pushed, or by an earlier release."""


@dataclass(frozen=True)
class Line:
    """One archived line with its offsets."""

    number: int
    byte_from: int
    byte_to: int
    resource_id: str
    content: bytes


def range_id(source_id: str, generation: int, byte_from: int) -> str:
    """Returns the stable id of the range that starts at the byte."""
    return hashlib.sha256(f"{source_id}\x1f{generation}\x1f{byte_from}".encode()).hexdigest()[:24]


def count_lines(content: bytes, starts_with_newline: bool) -> int:
    """Returns the number of lines in the bytes of a range; the last one may lack its newline."""
    lines = content[1:] if starts_with_newline else content
    return lines.count(b"\n") + (lines != b"" and not lines.endswith(b"\n"))


class Archive:
    """Appends and reads ranges."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._catalog = root / "catalog.jsonl"
        self._stamp: files.Stamp | None = None
        self._loaded: dict[str, list[Range]] = {}
        self._by_id: dict[str, Range] = {}
        self._damaged: list[str] = []
        self._cached_content = lru_cache(maxsize=2)(
            lambda id, _: self._read_content(self._by_id[id])
        )

    def sources(self) -> dict[str, list[Range]]:
        """Returns the ranges of each source, in order of source, generation and byte."""
        return dict(sorted(self._load().items()))

    def range_count(self) -> int:
        """Returns the number of ranges."""
        return sum(map(len, self._load().values()))

    def own_sources(self) -> frozenset[str]:
        """Returns the sources that were written on this machine."""
        sources = self._load().items()
        return frozenset(id for id, ranges in sources if any(entry.is_own for entry in ranges))

    def pushers(self) -> dict[str, str]:
        """Returns source → the person who pushed it, for sources from other machines."""
        return {
            source: ranges[0].pushed.person
            for source, ranges in self._load().items()
            if ranges[0].pushed
        }

    def sources_before(self, moment: datetime) -> frozenset[str]:
        """Returns the sources of this machine whose files had last changed before the moment."""

        def is_before(entry: Range) -> bool:
            """Returns whether the file had last changed before the moment."""
            return entry.changed_at is not None and entry.changed_at < moment

        items = self._load().items()
        return frozenset(source for source, ranges in items if all(map(is_before, ranges)))

    def ranges(self, source_id: str) -> list[Range]:
        """Returns the ranges of the source, in order of generation and byte."""
        return self._load().get(source_id, [])

    def resources(self, source_id: str | None = None) -> pl.DataFrame:
        """Returns the table `resources`, or its rows of one source."""
        ranges = chain.from_iterable(self.sources().values())
        if source_id is not None:
            ranges = self.ranges(source_id)
        columns = schemas.schema_of("resources")
        rows = ({name: getattr(entry, name) for name in columns} for entry in ranges)
        return schemas.frame_of("resources", rows)

    def append(self, entry: Range, content: bytes) -> None:
        """Writes the masked bytes, then the catalog line that commits them; raises `StoreError` if
        the disk fails.
        """
        self._load()
        try:
            self._write_content(entry, content)
            files.append_line(self._catalog, _catalog_line(entry))
        except OSError as error:
            raise StoreError(
                f"Cannot archive {entry.path} below {self.root}: {error.strerror or error}. "
                "Free space or fix the folder's permissions, then run the same command again; "
                "earlier ranges are safe."
            ) from error
        self._loaded.setdefault(entry.source_id, []).append(entry)
        self._by_id[entry.id] = entry
        self._stamp = files.stamp_of(self._catalog)

    def restate(
        self,
        resource_id: str,
        content: bytes,
        *,
        at: datetime,
        because: str,
        pushed: Sender | None = None,
    ) -> None:
        """Replaces the bytes of the range with others of the same length, and its hash; can be
        repeated after a kill.

        The catalog is written first: a reader in between finds old bytes with the new hash.
        """
        self._load()
        entry = self._by_id[resource_id]
        length = entry.byte_to - entry.byte_from
        if len(content) != length:
            raise StoreError(f"Range {resource_id} has {length} bytes, not {len(content)}.")
        sha256 = hashlib.sha256(content).hexdigest()
        changes: dict[str, Any] = {"restated_at": at, "restated_because": because}
        changes["sha256"] = sha256
        if pushed:
            changes["pushed"] = pushed
        self.describe({resource_id: changes})
        self._write_content(entry, content)

    def describe(self, changes: Mapping[str, Mapping[str, Any]]) -> None:
        """Changes fields of ranges in the catalog: id of the range → field → new value."""
        lines = [
            _catalog_line(entry.model_copy(update=dict(changes.get(entry.id, {}))))
            for entry in chain.from_iterable(self._load().values())
        ]
        files.write_atomically(self._catalog, b"".join(line + b"\n" for line in lines))

    def _write_content(self, entry: Range, content: bytes) -> None:
        files.write_atomically(
            self._file(entry), zstandard.ZstdCompressor(level=3).compress(content)
        )

    def read(self, source_id: str, generation: int, byte_from: int, byte_to: int) -> bytes:
        """Returns archived bytes of the source; raises `TranscriptError` if they are missing."""
        pieces = []
        for entry in self.ranges(source_id):
            overlaps = entry.byte_from < byte_to and byte_from < entry.byte_to
            if entry.generation == generation and overlaps:
                start = max(byte_from - entry.byte_from, 0)
                pieces.append(self._content(entry)[start : byte_to - entry.byte_from])
        content = b"".join(pieces)
        if len(content) != byte_to - byte_from:
            raise TranscriptError(
                f"Bytes {byte_from} to {byte_to} of source {source_id} (generation {generation}) "
                f"are not in the archive at {self.root}. Restore the archive from a backup."
            )
        return content

    def lines(self, source_id: str, generation: int, from_line: int = 0) -> Iterator[Line]:
        """Yields the lines of all ranges that end after line `from_line`; one range at a time is in
        memory.

        Of a range that cannot be decompressed, the lines before the damage are yielded.
        """
        for entry in self.ranges(source_id):
            if entry.generation != generation or entry.line_to <= from_line:
                continue
            content = self._readable(entry)
            start = int(entry.starts_with_newline)
            offset = entry.byte_from
            for number in count(entry.line_from):
                if start >= len(content):
                    break
                end = content.find(b"\n", start) + 1 or len(content)
                yield Line(number, offset + start, offset + end, entry.id, content[start:end])
                start = end

    def find(self, resource_id: str) -> Range | None:
        """Returns the range with the id; None if there is none."""
        self._load()
        return self._by_id.get(resource_id)

    def damaged_lines(self) -> list[str]:
        """Returns the lines of the catalog that cannot be read, each with its number from 1 and the
        reason.
        """
        self._load()
        return self._damaged

    def place_of(self, entry: Range) -> str:
        """Returns the range's file, and the bytes of the transcript that it holds, for messages."""
        return (
            f"{self._file(entry).relative_to(self.root.parent)} ({entry.path}, bytes "
            f"{entry.byte_from} to {entry.byte_to})"
        )

    def is_as_written(self, file: str, content: bytes) -> bool:
        """Returns whether the compressed content, of a file below the archive's folder, has the
        hash that the catalog names for its range.
        """
        ranges = chain.from_iterable(self._load().values())
        entry = next((entry for entry in ranges if self._file(entry) == self.root / file), None)
        try:
            archived = zstandard.ZstdDecompressor().decompress(content)
        except zstandard.ZstdError:
            return False
        return entry is not None and hashlib.sha256(archived).hexdigest() == entry.sha256

    def verify(self, resource_id: str) -> bool:
        """Returns whether the archived bytes of the range still match their hash."""
        entry = self.find(resource_id)
        try:
            content = self._read_content(entry) if entry else b""
        except TranscriptError:
            return False
        return entry is not None and hashlib.sha256(content).hexdigest() == entry.sha256

    def seen(self) -> dict[str, list[int]]:
        """Returns size, modification time and inode of each file at the last scan, by path."""
        return self._read_json("seen.json")

    def remember_seen(self, seen: dict[str, list[int]]) -> None:
        """Stores the state of the files, so that the next scan can skip unchanged ones."""
        files.write_json(self.root / "seen.json", seen)

    def unreadable(self) -> dict[str, str]:
        """Returns the files that the last intake could not read, with the reason, by path."""
        return self._read_json("unreadable.json")

    def _read_json(self, name: str) -> dict[str, Any]:
        """Returns the object in the file; empty where it is missing or torn. Without it, every
        transcript is scanned again, but nothing is captured twice.
        """
        path = self.root / name
        try:
            return orjson.loads(path.read_bytes()) if path.is_file() else {}
        except orjson.JSONDecodeError:
            return {}

    def remember_unreadable(self, reasons: Mapping[str, str]) -> None:
        """Stores the files that could not be read."""
        if reasons != self.unreadable():
            files.write_json(self.root / "unreadable.json", dict(reasons))

    def _load(self) -> dict[str, list[Range]]:
        """Returns source → its ranges; reads the catalog again after any process changed it."""
        stamp = files.stamp_of(self._catalog)
        if self._stamp != stamp:
            self._stamp = stamp
            self._loaded, self._damaged = _read_catalog(self._catalog) if stamp else ({}, [])
            self._by_id = {entry.id: entry for entry in chain.from_iterable(self._loaded.values())}
        if self._damaged:
            count = len(self._damaged)
            announce(f"Lines of the archive's catalog that cannot be read: {count}. {HELP}")
        return self._loaded

    def _file(self, entry: Range) -> Path:
        name = f"{entry.generation:03d}-{entry.byte_from:012d}.zst"
        return self.root / "ranges" / entry.source_id / name

    def _content(self, entry: Range) -> bytes:
        """Returns the decompressed range; the last two are cached until a process changes their
        files.
        """
        return self._cached_content(entry.id, files.stamp_of(self._file(entry)))

    def _readable(self, entry: Range) -> bytes:
        """Returns the decompressed range; announces a damaged one, and returns its whole lines
        before the damage.
        """
        try:
            return self._content(entry)
        except TranscriptError:
            announce(
                f"A range of the archive is damaged: {self.place_of(entry)}. `memory doctor "
                "--deep` checks all of them."
            )
            return _salvaged(self._file(entry))

    def _read_content(self, entry: Range) -> bytes:
        try:
            return zstandard.ZstdDecompressor().decompress(self._file(entry).read_bytes())
        except (OSError, zstandard.ZstdError) as error:
            raise TranscriptError(
                f"Cannot read the archived range {self._file(entry)}: {error}. Restore the "
                "archive from a backup."
            ) from error


def merge_catalogs(mine: bytes, theirs: bytes) -> tuple[bytes, bool]:
    """Returns the catalog with the lines of both, and whether lines of `mine` were left out.

    Lines of `mine` are left out for conflicting sources (`_conflicting_sources`). If both have a
    range, the line that was masked last is kept.
    """
    my_rows = _rows_by_id(mine)
    their_rows = _rows_by_id(theirs)
    conflicting = _conflicting_sources(my_rows, their_rows)
    rows = dict(their_rows)
    has_left_out = False
    for id, row in my_rows.items():
        if row["source_id"] in conflicting:
            has_left_out |= rows.get(id) != row
        elif id not in their_rows or _restated_at(row) > _restated_at(their_rows[id]):
            rows[id] = row
    return b"".join(orjson.dumps(row) + b"\n" for row in rows.values()), has_left_out


def _conflicting_sources(
    my_rows: Mapping[str, Mapping[str, Any]], their_rows: Mapping[str, Mapping[str, Any]]
) -> set[str]:
    """Returns the sources where both sides have ranges that the other side lacks, or where a range
    ends at another byte on the other side.
    """
    common = my_rows.keys() & their_rows.keys()
    differing = {id for id in common if their_rows[id]["byte_to"] != my_rows[id]["byte_to"]}
    only_mine = {my_rows[id]["source_id"] for id in my_rows.keys() - common}
    only_theirs = {their_rows[id]["source_id"] for id in their_rows.keys() - common}
    return {their_rows[id]["source_id"] for id in differing} | (only_mine & only_theirs)


def _restated_at(row: Mapping[str, Any]) -> str:
    return row.get("restated_at") or ""


def _rows_by_id(catalog: bytes) -> dict[str, dict[str, Any]]:
    """Returns id of a range → its first row in the catalog."""
    rows_by_id: dict[str, dict[str, Any]] = {}
    for line in catalog.split(b"\n"):
        with suppress(ValueError, KeyError, TypeError):  # a torn line commits nothing
            row = orjson.loads(line)
            rows_by_id.setdefault(row["id"], row)
    return rows_by_id


def _catalog_line(entry: Range) -> bytes:
    return orjson.dumps({"v": VERSION, **entry.model_dump()})


def _salvaged(path: Path) -> bytes:
    """Returns the whole lines that can be decompressed before the damage."""
    content = b""
    decoder = zstandard.ZstdDecompressor().decompressobj()
    try:
        # One byte at a time: an error loses what the same call would have returned.
        for byte in path.read_bytes():
            content += decoder.decompress(bytes([byte]))
    except (OSError, zstandard.ZstdError):
        pass
    return content[: content.rfind(b"\n") + 1]


def _read_catalog(path: Path) -> tuple[dict[str, list[Range]], list[str]]:
    """Returns source → its ranges in order, and the lines that cannot be read, with the reason.

    Raises `StoreError` if a newer release wrote the catalog.
    """
    ranges_of_sources: dict[str, dict[tuple[int, int], Range]] = defaultdict(dict)
    damaged: list[str] = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
            version = row.pop("v")
            if version <= VERSION:
                entry = Range(**row)
                key = (entry.generation, entry.byte_from)
                ranges_of_sources[entry.source_id].setdefault(key, entry)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if not is_torn_line(line):  # by a killed process: its range is captured again
                damaged.append(f"{path.name}, line {number}: {str(error).splitlines()[0]}")
            continue
        if version > VERSION:
            raise StoreError(
                f"{path} was written by a newer release (archive version {version}); "
                "upgrade memory_assets."
            )
    sources = {
        source: [ranges[key] for key in sorted(ranges)]
        for source, ranges in ranges_of_sources.items()
    }
    return sources, damaged
