"""Finds transcript files in the harnesses' usual folders and in configured folders, and reads their
raw bytes.

A transcript is recognised by its first records (`harnesses.recognisers`), not by its name, so that
copies, backups and exports are found, too. A file is listed with the reason why it is not taken in
if its name is that of a transcript, if it was configured by its own path, or if it is no file that
can be looked into. Files of harnesses that have no reader are counted. Only regular files are
opened. Which bytes of a file are new is decided in `intake`. All offsets count decompressed bytes.
Files are read in chunks of whole lines, one in memory at a time; a line longer than a chunk makes
that chunk longer.
"""

import gzip
import io
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, cast

import zstandard

from memory_assets.harnesses.damaged_lines import records_in
from memory_assets.harnesses.declaration import HarnessDeclaration, ReadHarness, open_database
from memory_assets.harnesses.recognisers import recognise, recognise_name, recognise_tables
from memory_assets.schema.vocabulary import HARNESS_NAMES, Harness
from memory_assets.stages.capture.folders import FolderWalk
from memory_assets.text.files import is_utf8
from memory_assets.text.visible import printable

JUDGED_RECORDS = 50
"""First records by which a file is judged. Claude Code writes a prompt or a snapshot of files
before the conversation, and a fork of forks in Codex repeats one header per generation."""

CHUNK_BYTES = 8_000_000

LONGEST_LINE = 256_000_000
"""Bytes of a line that are held in memory; a longer line is read in parts, as damaged."""

_NOT_TRANSCRIPTS = frozenset({"journal.jsonl", "history.jsonl", "session_index.jsonl"})

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_JSON_LINES = re.compile(r"\.(?:jsonl|ndjson)(?![A-Za-z0-9])", re.IGNORECASE)
"""The ending of a file of JSON Lines; further endings may follow, as in `x.jsonl.bak`."""

_SESSION_NAME = re.compile(
    rf"rollout-\d{{4}}-|\d{{4}}-\d\d-\d\dT[\d.:-]+Z?_|{_UUID}|\bagent-[0-9a-f]{{6,}}"
)
"""The part of a file name by which harnesses tell sessions apart: of Codex, of pi, and of sessions
and sub-agents of Claude Code.
"""

_RENAMED = (".json", ".txt", ".log", ".bak", ".old", ".orig", ".gz", ".zst")
"""Endings of renamed copies. Such a file is taken in if its name has a session's id and its records
are those of a harness.
"""

_UNFINISHED = (".lock", ".tmp", ".swp", ".part", ".crdownload")

_TWINS = (".gz", ".zst")
"""Endings that a compressed copy adds to the name of the file beside it."""

_DATABASES = (".db", ".sqlite", ".vscdb")
_SQLITE = b"SQLite format 3\0"

_COMPRESSED: dict[bytes, str] = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7z",
}
"""First bytes of compressed files. Files of the first two kinds are read."""


class _NotTakenInError(Exception):
    """A file is not taken in; the message is the reason, as the owner reads it."""


class _NoReaderError(_NotTakenInError):
    """A file was written by a harness without a reader; the message is the harness's name."""


@dataclass(frozen=True)
class TranscriptFile:
    """A transcript on disk, with the size, time and inode that its folder lists."""

    path: Path
    harness: Harness
    size: int
    mtime_ns: int
    inode: int
    compression: str = ""
    """`zstd`, `gzip` or empty."""

    @property
    def changed_at(self) -> datetime:
        """When it last changed."""
        return datetime.fromtimestamp(self.mtime_ns / 1e9, UTC)

    def open(self) -> BinaryIO:
        """Opens the file for reading its decompressed bytes."""
        return _open(self.path, self.compression)

    def first_lines(self, count: int) -> list[bytes]:
        """Returns the file's first lines."""
        with self.open() as stream:
            return list(islice(stream, count))

    def is_beginning_of(self, longer: "TranscriptFile") -> bool:
        """Returns whether the longer file begins with all bytes of this one."""
        with self.open() as own_stream, longer.open() as longer_stream:
            return all(longer_stream.read(len(chunk)) == chunk for chunk in _chunks(own_stream))


@dataclass(frozen=True)
class LeftOutFile:
    """A file that looks like a transcript and is not taken in."""

    path: str
    reason: str

    @classmethod
    def at(cls, path: Path, reason: str) -> "LeftOutFile":
        """Returns the file with a path that can be shown, whatever bytes its name has."""
        text = os.fsencode(path).decode("utf-8", "backslashreplace")
        return cls(printable(text), reason)


@dataclass(frozen=True)
class FoundFiles:
    """The files that a search of folders found; each list is sorted by path."""

    transcripts: list[TranscriptFile] = field(default_factory=list)
    left_out: list[LeftOutFile] = field(default_factory=list)
    older: list[TranscriptFile] = field(default_factory=list)
    """Transcripts that last changed before the moment `since`, and are not taken in."""
    unread: Mapping[str, int] = field(default_factory=dict)
    """The number of files of each harness that has no reader yet."""
    ignored: list[LeftOutFile] = field(default_factory=list)
    """Transcripts left out on purpose, by the owner's `.memoryignore` or by a harness's mark.

    `find_files` reads neither and leaves the list empty; `services.sources.transcripts` fills it.
    """


def find_transcripts(
    folders: Sequence[Path], *, since: datetime | None = None
) -> list[TranscriptFile]:
    """Returns the transcripts in and below the folders, sorted by path.

    With `since`, only those that changed from that moment on. Raises `TranscriptError` if one of
    the folders itself cannot be read.
    """
    return find_files(folders, since=since).transcripts


def find_files(folders: Sequence[Path], *, since: datetime | None = None) -> FoundFiles:
    """Returns the same transcripts as `find_transcripts`, and the files that are not taken in."""
    transcripts: dict[Path, TranscriptFile] = {}
    unread: dict[Path, str] = {}
    configured_paths = [folder.expanduser().absolute() for folder in folders]
    walk = FolderWalk(configured_paths, _is_candidate)
    left_out: dict[Path, str] = {}
    paths = chain.from_iterable(map(walk.files, configured_paths))
    for path in dict.fromkeys(paths):
        try:
            file = _inspect(path, is_configured=path in configured_paths)
        except _NoReaderError as error:
            unread[path] = str(error)
        except (_NotTakenInError, OSError, EOFError, zstandard.ZstdError) as error:
            reason = _reason_of(error)
            if reason:
                left_out[path] = reason
        else:
            if file:
                transcripts[path] = file
    recent, older, recent_left_out = _split(transcripts, left_out, since)
    # What is not searched may hide new sessions, however old it is itself.
    not_read = walk.skipped | {path: left_out[path] for path in recent_left_out}
    return FoundFiles(
        transcripts=[transcripts[path] for path in _without_twins(recent)],
        left_out=[LeftOutFile.at(path, not_read[path]) for path in sorted(not_read, key=str)],
        older=[transcripts[path] for path in _without_twins(older)],
        unread=Counter(unread[path] for path in _without_twins(unread)),
    )


def _split(
    transcripts: Mapping[Path, TranscriptFile], left_out: Iterable[Path], since: datetime | None
) -> tuple[set[Path], set[Path], list[Path]]:
    """Returns the recent transcripts, the older ones, and the recent files that are left out.

    A recent file changed at `since` or later; without `since`, all files are recent.
    """
    since_ns = since.timestamp() * 1e9 if since else 0
    recent = {path for path, file in transcripts.items() if file.mtime_ns >= since_ns}
    recent_left_out = [path for path in left_out if _modified_ns(path) >= since_ns]
    return recent, transcripts.keys() - recent, recent_left_out


def _reason_of(error: Exception) -> str | None:
    """Returns why the file is left out; None if it was deleted after the folder was listed."""
    if isinstance(error, _NotTakenInError):
        return str(error)
    if isinstance(error, FileNotFoundError):
        return None
    return f"it cannot be read: {getattr(error, 'strerror', None) or error}"


def _without_twins(paths: Collection[Path]) -> list[Path]:
    """Returns the sorted paths, without compressed copies whose original is among the paths."""
    compressed = {path for path in paths if path.suffix in _TWINS}
    twins = {path for path in compressed if path.with_suffix("") in paths}
    return sorted(set(paths) - twins, key=str)


def harness_of(path: Path) -> Harness | None:
    """Returns the harness of a transcript; None if the file is not a transcript."""
    try:
        file = _inspect(path)
    except (OSError, EOFError, zstandard.ZstdError, _NotTakenInError):
        return None
    return file.harness if file else None


def _modified_ns(path: Path) -> float:
    """Returns the modification time in nanoseconds; infinite if it cannot be read."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return float("inf")


def _is_candidate(path: str) -> bool:
    """Returns whether a file at that path may be a transcript."""
    name = path.rpartition(os.sep)[2]
    if name in _NOT_TRANSCRIPTS or name.startswith(".") or name.endswith(_UNFINISHED):
        return False
    is_renamed = name.endswith(_RENAMED) and _SESSION_NAME.search(name)
    is_usual = _JSON_LINES.search(name) or name.endswith(_DATABASES) or is_renamed
    return bool(is_usual or recognise_name(path))


def _inspect(path: Path, *, is_configured: bool = False) -> TranscriptFile | None:
    """Returns the transcript at the path, or None if the file is not a transcript.

    Raises `_NotTakenInError` instead of returning None for a file that the owner expects to be
    taken in: its path is configured, or its name is that of a transcript; and for what cannot be
    looked into.
    """
    if not (is_configured or _is_candidate(str(path))):
        return None
    status = path.stat()
    if not S_ISREG(status.st_mode):
        raise _NotTakenInError("it is not a regular file")
    has_session_name = _JSON_LINES.search(path.name) and _SESSION_NAME.search(path.name)
    try:
        state = _state_of(path, status)
        harness, compression = _recognise_file(str(path), *state)
    except _NotTakenInError:
        # Nobody expects the other files to be taken in, so no reason is shown for them.
        if is_configured or has_session_name:
            raise
        return None
    # Raised outside of the `try`: such files are counted whatever their name.
    if not isinstance(harness, ReadHarness):
        raise _NoReaderError(harness.title)
    if not is_utf8(path):
        raise _NotTakenInError("its path is not UTF-8; rename it")
    return TranscriptFile(path, harness.name, *state, compression)


def _state_of(path: Path, status: os.stat_result) -> tuple[int, int, int]:
    """Returns size, time of change and inode; of a database with those of its write-ahead log."""
    size = status.st_size
    changed_ns = status.st_mtime_ns
    log = Path(f"{path}-wal")
    if path.suffix in _DATABASES and log.exists():
        log_status = log.stat()
        size += log_status.st_size
        changed_ns = max(changed_ns, log_status.st_mtime_ns)
    return size, changed_ns, status.st_ino


@lru_cache(maxsize=100_000)
def _recognise_file(path: str, size: int, *_: int) -> tuple[HarnessDeclaration, str]:
    """Returns the file's harness, and the compression of the file.

    Reads the first records, unless the name is one harness's alone. The result is cached; size,
    time and inode are part of the cache's key.
    """
    if not size:
        raise _NotTakenInError("it is empty")
    named = recognise_name(path)
    if named:
        return named, ""
    with Path(path).open("rb") as stream:
        first_bytes = stream.read(len(_SQLITE))
    if first_bytes == _SQLITE:
        return _recognise_database(Path(path)), ""
    kinds = (name for magic, name in _COMPRESSED.items() if first_bytes.startswith(magic))
    compression = next(kinds, "")
    if compression not in ("", "zstd", "gzip"):
        raise _NotTakenInError(f"it is compressed with {compression}; unpack it")
    count = 0
    line = b""
    with _open(Path(path), compression) as stream:
        lines = iter(lambda: stream.readline(CHUNK_BYTES), b"")
        for line in islice(lines, JUDGED_RECORDS):
            count += 1
            harness = next(filter(None, map(recognise, records_in(line))), None)
            if harness is not None:
                return harness, compression
    if count == 1 and not line.endswith(b"\n"):
        raise _NotTakenInError("its first line is not complete yet")
    beginning = "its only line is not" if count == 1 else f"none of its first {count} lines is"
    raise _NotTakenInError(f"{beginning} a record of {HARNESS_NAMES}")


def _recognise_database(path: Path) -> HarnessDeclaration:
    """Returns the harness that has the tables of the SQLite file.

    The file and its folder are not changed.
    """
    try:
        with closing(open_database(path)) as database:
            query = "SELECT name FROM sqlite_schema WHERE type = 'table'"
            names = [name for (name,) in database.execute(query)]
    except sqlite3.Error as error:
        raise _NotTakenInError(f"it is an SQLite file that cannot be opened: {error}") from error
    harness = recognise_tables(names)
    if harness is None:
        raise _NotTakenInError("it is an SQLite file without the tables of a harness")
    return harness


def _open(path: Path, compression: str) -> BinaryIO:
    if compression == "gzip":
        return cast(BinaryIO, gzip.open(path, "rb"))
    stream = path.open("rb")
    if not compression:
        return stream
    decompressor = zstandard.ZstdDecompressor()
    reader = decompressor.stream_reader(stream, read_across_frames=True, closefd=True)
    return io.BufferedReader(cast(io.RawIOBase, reader))


def skip_to(stream: BinaryIO, position: int) -> None:
    """Moves a stream forward to the byte position; compressed streams are read up to it."""
    if stream.seekable():
        stream.seek(position)
        return
    while stream.tell() < position:
        if not stream.read(min(position - stream.tell(), CHUNK_BYTES)):
            return


def line_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the rest of a stream in chunks of whole lines.

    The last chunk has the bytes after the last newline, if there are any. A chunk with a part of a
    line that is too long has no newline either.
    """
    pieces: list[bytes] = []
    for chunk in _chunks(stream):
        end = chunk.rfind(b"\n") + 1
        if end or sum(map(len, pieces)) > LONGEST_LINE:
            yield b"".join([*pieces, chunk[:end]])
            pieces.clear()
        pieces.append(chunk[end:])
    unfinished_line = b"".join(pieces)
    if unfinished_line:
        yield unfinished_line


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the rest of a stream, a chunk at a time."""
    return iter(partial(stream.read, CHUNK_BYTES), b"")
