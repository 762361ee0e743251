"""Takes new bytes of transcripts into the archive, secrets masked, once.

Only whole lines are taken: a torn last line waits, unless the file has been quiet for ten minutes and the line is a whole
JSON object (some writers leave the last newline out). A file that no longer begins as it did is a new generation, read from
its start; messages that it repeats keep their ids. One file that cannot be read is reported and stops no other.
"""

import hashlib
import hmac
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import BinaryIO

import orjson
import zstandard

from memory_assets.archive import Archive, Range, range_id
from memory_assets.capture.discover import TranscriptFile
from memory_assets.capture.readers import HEADER_LINES, session_id_of
from memory_assets.progress import track

CHUNK_BYTES = 8_000_000
"""Bytes in one range, so that a transcript of any size needs the memory of one range; a longer line makes a longer one."""

QUIET = timedelta(minutes=10)
"""How long a file must rest before a whole last line without its newline is taken."""

_TIMESTAMP = re.compile(rb'"timestamp":\s?"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d{1,6})?)Z"')


@dataclass
class IntakeReport:
    """What one intake did."""

    files: int = 0
    unchanged: int = 0
    new_ranges: int = 0
    new_bytes: int = 0
    masked: int = 0
    waiting: int = 0
    """Files whose last line is still being written."""
    rewritten: int = 0
    """Files that no longer begin as they did."""
    copies: int = 0
    """Files that hold a session of which a longer file exists."""
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Paths and reasons."""


def changed_files(files: Sequence[TranscriptFile], archive: Archive) -> list[TranscriptFile]:
    """Returns the files that look different from when they were last looked at, without reading them."""
    seen = archive.seen()
    return [file for file in files if seen.get(str(file.path)) != _look(file)]


def has_changes(files: Sequence[TranscriptFile], archive: Archive) -> bool:
    """Returns whether a file looks different from when it was last looked at."""
    return bool(changed_files(files, archive))


def take_in(
    files: Sequence[TranscriptFile],
    archive: Archive,
    *,
    now: datetime,
    mask: Callable[[bytes], tuple[bytes, int]],
    masking_version: str,
    key: bytes,
) -> IntakeReport:
    """Archives what is new in the files and returns what was done."""
    report = IntakeReport(files=len(files))
    changed = changed_files(files, archive)
    report.unchanged = len(files) - len(changed)
    seen = archive.seen()
    for file in track(_longest_of_each_session(changed, report), "capture"):
        try:
            _take_in_file(file, archive, report, now=now, mask=mask, masking_version=masking_version, key=key)
        except (OSError, EOFError, zstandard.ZstdError) as error:
            report.unreadable.append((str(file.path), str(getattr(error, "strerror", None) or error)))
            continue
        seen[str(file.path)] = _look(file)
    for file in changed:
        seen.setdefault(str(file.path), _look(file))
    if changed:
        archive.remember_seen({path: look for path, look in seen.items() if path not in dict(report.unreadable)})
    return report


def _look(file: TranscriptFile) -> list[int]:
    return [file.size, file.mtime_ns, file.inode]


def source_id_of(file: TranscriptFile, session_id: str) -> str:
    """Returns the id of the source: the session's, so that a moved, archived or compressed file stays the same source."""
    return hashlib.sha256(f"{file.harness}\x1f{session_id}".encode()).hexdigest()[:20]


def _longest_of_each_session(files: Iterable[TranscriptFile], report: IntakeReport) -> list[TranscriptFile]:
    best: dict[str, TranscriptFile] = {}
    for file in files:
        session = session_id_of(file.harness, str(file.path), ())
        other = best.get(session)
        if other is not None:
            report.copies += 1
        if other is None or file.size > other.size:
            best[session] = file
    return sorted(best.values(), key=lambda file: str(file.path))


def _take_in_file(
    file: TranscriptFile,
    archive: Archive,
    report: IntakeReport,
    *,
    now: datetime,
    mask: Callable[[bytes], tuple[bytes, int]],
    masking_version: str,
    key: bytes,
) -> None:
    session = session_id_of(file.harness, str(file.path), _first_lines(file))
    source = source_id_of(file, session)
    ranges = archive.sources().get(source, [])
    latest = ranges[-1].generation if ranges else 0
    ranges = [entry for entry in ranges if entry.generation == latest]
    if ranges and not _continues(file, ranges, key):
        report.rewritten += 1
        latest, ranges = latest + 1, []
    position = ranges[-1].byte_to if ranges else 0
    line = ranges[-1].line_to if ranges else 0
    joins = bool(ranges) and not archive.read(source, latest, position - 1, position).endswith(b"\n")
    with _open(file) as stream:
        _skip(stream, position)
        for raw in _whole_lines(stream, quiet=_is_quiet(file, now), report=report):
            masked, count = mask(raw)
            starts_with_newline = joins and raw.startswith(b"\n")
            lines = raw[1:] if starts_with_newline else raw
            taken = lines.count(b"\n") + (not lines.endswith(b"\n") and bool(lines))
            first, last = _times(lines)
            archive.append(
                Range(
                    id=range_id(source, latest, position),
                    source_id=source,
                    harness=file.harness,
                    path=str(file.path),
                    generation=latest,
                    byte_from=position,
                    byte_to=position + len(raw),
                    line_from=line,
                    line_to=line + taken,
                    sha256=hashlib.sha256(masked).hexdigest(),
                    raw_hmac=hmac.new(key, raw, hashlib.sha256).hexdigest(),
                    content_at=first,
                    content_until=last,
                    conversation_id=session,
                    created_at=now.isoformat(),
                    masked_count=count,
                    masking_version=masking_version,
                    starts_with_newline=starts_with_newline,
                ),
                masked,
            )
            position, line, joins = position + len(raw), line + taken, False
            report.new_ranges += 1
            report.new_bytes += len(raw)
            report.masked += count


def _open(file: TranscriptFile) -> BinaryIO:
    stream = file.path.open("rb")
    if not file.compressed:
        return stream
    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True, closefd=True))  # type: ignore[arg-type]


def _skip(stream: BinaryIO, count: int) -> None:
    if stream.seekable():
        try:
            stream.seek(count)
            return
        except (OSError, io.UnsupportedOperation):
            pass
    while count > 0:
        count -= len(stream.read(min(count, CHUNK_BYTES))) or count


def _first_lines(file: TranscriptFile) -> list[bytes]:
    with _open(file) as stream:
        return list(islice(stream, HEADER_LINES))


def _continues(file: TranscriptFile, ranges: Sequence[Range], key: bytes) -> bool:
    # The first and the last range are compared, not all: an editor that rewrites a transcript changes its size or its
    # beginning, and re-reading a whole long file at each append would make the cost follow what is old.
    with _open(file) as stream:
        position = 0
        for entry in {0: ranges[0], ranges[-1].byte_from: ranges[-1]}.values():
            _skip(stream, entry.byte_from if stream.seekable() else entry.byte_from - position)
            raw = stream.read(entry.byte_to - entry.byte_from)
            position = entry.byte_to
            if not hmac.compare_digest(hmac.new(key, raw, hashlib.sha256).hexdigest(), entry.raw_hmac):
                return False
    return True


def _is_quiet(file: TranscriptFile, now: datetime) -> bool:
    return now - datetime.fromtimestamp(file.mtime_ns / 1e9, UTC) > QUIET


def _whole_lines(stream: BinaryIO, *, quiet: bool, report: IntakeReport) -> Iterator[bytes]:
    rest = b""
    while chunk := stream.read(CHUNK_BYTES):
        chunk = rest + chunk
        end = chunk.rfind(b"\n") + 1
        if end:
            yield chunk[:end]
        rest = chunk[end:]
    if not rest:
        return
    if quiet and _is_whole_record(rest):
        yield rest
    else:
        report.waiting += 1


def _is_whole_record(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def _times(lines: bytes) -> tuple[str | None, str | None]:
    found = _TIMESTAMP.findall(lines)
    return (_iso(min(found)), _iso(max(found))) if found else (None, None)


def _iso(stamp: bytes) -> str:
    return datetime.fromisoformat(stamp.decode()).replace(tzinfo=UTC).isoformat()
