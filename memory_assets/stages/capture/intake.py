"""Takes new bytes of transcripts into the archive, secrets masked, once.

Ranges of several files are masked together, because masking costs as much for a short text as for a megabyte. Only whole
lines are taken: a torn last line waits, unless the file has been quiet for ten minutes and the line is a whole
JSON object (some writers leave the last newline out; when it comes later it belongs to the line before it). A file that no
longer begins as it did is a new generation, read from its start; messages that it repeats keep their ids. Two files of one
session are one source while one continues the other, and two sources where they went different ways. One file that cannot
be read is reported and stops no other.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import orjson
import zstandard

from memory_assets.errors import TranscriptError
from memory_assets.schema.progress import track
from memory_assets.stages.capture.discover import TranscriptFile
from memory_assets.stages.capture.formats.readers import HEADER_LINES, session_id_of
from memory_assets.stages.capture.raw_files import CHUNK_BYTES, WholeLines, first_lines, is_beginning_of, open_file, skip_to
from memory_assets.store.archive import Archive, Range, range_id

QUIET = timedelta(minutes=10)
"""How long a file must rest before a whole last line without its newline is taken."""

Mask = Callable[[Sequence[bytes]], Sequence[tuple[bytes, int]]]
"""Returns the chunks of lines with their secrets masked, and how many there were in each."""

WAITS_FOR_QUIET = 1
"""Marks, in what a file looked like, that its last line is whole but for the newline."""

_TIMESTAMP = re.compile(rb'"timestamp":\s?"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d{1,6})?)Z"')


@dataclass
class IntakeReport:
    """What one intake did."""

    files: int = 0
    unchanged: int = 0
    new_ranges: int = 0
    new_bytes: int = 0
    waiting: int = 0
    """Files whose last line is still being written."""
    rewritten: int = 0
    """Files that no longer begin as they did."""
    copies: int = 0
    """Files that hold nothing but the beginning of another file of the same session."""
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Paths and reasons."""


@dataclass(frozen=True)
class _Intake:
    """What taking in any file needs."""

    archive: Archive
    report: IntakeReport
    files: Mapping[str, TranscriptFile]
    """All files that exist now, by path."""
    now: datetime
    mask: Mask
    masking_version: str
    key: bytes
    waiting: list[tuple[Range, bytes]] = field(default_factory=list)
    """Ranges that are not masked yet, without what masking will say of them, and their bytes."""


@dataclass
class _Position:
    """Where reading a source goes on."""

    source: str
    generation: int = 0
    byte: int = 0
    line: int = 0
    is_mid_line: bool = False
    """The last archived line still waits for its newline."""


def changed_files(files: Sequence[TranscriptFile], archive: Archive, now: datetime | None = None) -> list[TranscriptFile]:
    """Returns the files that look different from when they were last looked at, without reading them.

    With `now`, also those whose last line only waited for the file to become quiet, and it has.
    """
    seen = archive.seen()
    return [file for file in files if _is_changed(file, seen.get(str(file.path)), now)]


def has_changes(files: Sequence[TranscriptFile], archive: Archive, now: datetime | None = None) -> bool:
    """Returns whether there is a file to look at again."""
    return bool(changed_files(files, archive, now))


def take_in(
    files: Sequence[TranscriptFile],
    archive: Archive,
    *,
    now: datetime,
    mask: Mask,
    masking_version: str,
    key: bytes,
) -> IntakeReport:
    """Archives what is new in the files and returns what was done."""
    report = IntakeReport(files=len(files))
    intake = _Intake(archive, report, {str(file.path): file for file in files}, now, mask, masking_version, key)
    changed = changed_files(files, archive, now)
    report.unchanged = len(files) - len(changed)
    seen = archive.seen()
    # The longest first, so that a shorter copy of a session finds what it repeats already there.
    for file in track(sorted(changed, key=lambda file: (-file.size, str(file.path))), "Reading transcripts"):
        try:
            seen[str(file.path)] = _take_in_file(file, intake)
        except (OSError, EOFError, zstandard.ZstdError, TranscriptError) as error:
            report.unreadable.append((str(file.path), str(getattr(error, "strerror", None) or error)))
            seen.pop(str(file.path), None)
    _archive_waiting(intake)
    if changed:
        archive.remember_seen(seen)
    return report


def source_id_of(file: TranscriptFile, session_id: str, apart: str = "") -> str:
    """Returns the id of the source: the session's, so that a moved, archived or compressed file stays the same source."""
    return hashlib.sha256("\x1f".join([file.harness, session_id, *([apart] if apart else [])]).encode()).hexdigest()[:20]


def _is_changed(file: TranscriptFile, known: list[int] | None, now: datetime | None) -> bool:
    if known is None or known[:3] != _look(file):
        return True
    return known[3:] == [WAITS_FOR_QUIET] and now is not None and _is_quiet(file, now)


def _look(file: TranscriptFile) -> list[int]:
    return [file.size, file.mtime_ns, file.inode]


def _is_quiet(file: TranscriptFile, now: datetime) -> bool:
    return now - datetime.fromtimestamp(file.mtime_ns / 1e9, UTC) > QUIET


def _take_in_file(file: TranscriptFile, intake: _Intake) -> list[int]:
    """Archives what is new in the file and returns what it looked like."""
    session = session_id_of(file.harness, str(file.path), first_lines(file, HEADER_LINES))
    position = _find_position(file, session, intake)
    if position is None:
        intake.report.copies += 1
        return _look(file)
    with open_file(file) as stream:
        skip_to(stream, position.byte)
        lines = WholeLines(stream)
        for raw in lines:
            _take_range(raw, file, session, position, intake)
    rest = lines.unfinished
    if not rest:
        return _look(file)
    if _is_whole_record(rest):
        if not _is_quiet(file, intake.now):
            intake.report.waiting += 1
            return [*_look(file), WAITS_FOR_QUIET]
        _take_range(rest, file, session, position, intake)
        return _look(file)
    intake.report.waiting += 1
    return _look(file)


def _find_position(file: TranscriptFile, session: str, intake: _Intake) -> _Position | None:
    """Returns where reading the file goes on, or None for a copy of what another file of the session holds."""
    if any(entry.conversation_id == session for entry, _ in intake.waiting):
        _archive_waiting(intake)
    apart = source_id_of(file, session, apart=str(file.path))
    source = apart if intake.archive.ranges(apart) else source_id_of(file, session)
    ranges = _latest_generation(intake.archive.ranges(source))
    if not ranges:
        return _Position(source)
    if _continues(file, ranges, intake.key):
        return _end_of(ranges, intake.archive)
    other = intake.files.get(ranges[-1].path)
    if other is None or other.path == file.path:
        intake.report.rewritten += 1
        return _Position(source, ranges[-1].generation + 1)
    return None if is_beginning_of(file, other) else _Position(apart)


def _latest_generation(ranges: Sequence[Range]) -> list[Range]:
    return [entry for entry in ranges if entry.generation == ranges[-1].generation]


def _end_of(ranges: Sequence[Range], archive: Archive) -> _Position:
    last = ranges[-1]
    ending = archive.read(last.source_id, last.generation, last.byte_to - 1, last.byte_to)
    return _Position(last.source_id, last.generation, last.byte_to, last.line_to, ending != b"\n")


def _continues(file: TranscriptFile, ranges: Sequence[Range], key: bytes) -> bool:
    # The first and the last range are compared, not all: an editor that rewrites a transcript changes its size or its
    # beginning, and re-reading a whole long file at each append would make the cost follow what is old.
    with open_file(file) as stream:
        for entry in {0: ranges[0], ranges[-1].byte_from: ranges[-1]}.values():
            skip_to(stream, entry.byte_from)
            raw = stream.read(entry.byte_to - entry.byte_from)
            if not hmac.compare_digest(hmac.new(key, raw, hashlib.sha256).hexdigest(), entry.raw_hmac):
                return False
    return True


def _take_range(raw: bytes, file: TranscriptFile, session: str, position: _Position, intake: _Intake) -> None:
    """Puts the bytes at the position among what waits to be archived, and moves the position behind them."""
    closes_a_line = position.is_mid_line and raw.startswith(b"\n")
    lines = raw[1:] if closes_a_line else raw
    taken = lines.count(b"\n") + (lines != b"" and not lines.endswith(b"\n"))
    first, last = _times(lines)
    entry = Range(
        id=range_id(position.source, position.generation, position.byte),
        source_id=position.source,
        harness=file.harness,
        path=str(file.path),
        generation=position.generation,
        byte_from=position.byte,
        byte_to=position.byte + len(raw),
        line_from=position.line,
        line_to=position.line + taken,
        sha256="",
        raw_hmac=hmac.new(intake.key, raw, hashlib.sha256).hexdigest(),
        content_at=first,
        content_until=last,
        conversation_id=session,
        created_at=intake.now.isoformat(),
        masked_count=0,
        masking_version=intake.masking_version,
        starts_with_newline=closes_a_line,
    )
    if sum(len(waiting) for _, waiting in intake.waiting) + len(raw) > CHUNK_BYTES:
        _archive_waiting(intake)
    intake.waiting.append((entry, raw))
    position.byte, position.line, position.is_mid_line = entry.byte_to, entry.line_to, not raw.endswith(b"\n")


def _archive_waiting(intake: _Intake) -> None:
    """Masks and archives the ranges that wait, in the order in which they were read."""
    masked = intake.mask([raw for _, raw in intake.waiting])
    for (entry, raw), (content, count) in zip(intake.waiting, masked, strict=True):
        intake.archive.append(replace(entry, sha256=hashlib.sha256(content).hexdigest(), masked_count=count), content)
        intake.report.new_ranges += 1
        intake.report.new_bytes += len(raw)
    intake.waiting.clear()


def _is_whole_record(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def _times(lines: bytes) -> tuple[str | None, str | None]:
    stamps = sorted(set(_TIMESTAMP.findall(lines)))
    return _first_moment(stamps), _first_moment(stamps[::-1])


def _first_moment(stamps: Sequence[bytes]) -> str | None:
    for stamp in stamps:
        try:
            return datetime.fromisoformat(stamp.decode()).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue  # the thirtieth of February: whatever wrote it, the range is archived all the same
    return None
