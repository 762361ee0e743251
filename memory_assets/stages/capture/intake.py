"""Archives new bytes of transcripts, secrets masked, exactly once.

Ranges of several files are masked together, because masking costs as much for a short text as for a
megabyte. Only whole lines are archived: a torn last line waits, unless the file has not changed for
ten minutes and the line is a whole JSON object (some writers omit the last newline; when it comes
later it belongs to the line before it). A file whose beginning changed is a new generation, read
from its start; messages that it repeats keep their ids. Two files of one session are one source
while one continues the other, and two sources where they differ. A file that cannot be read is
reported and does not stop others.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import zstandard

from memory_assets.errors import TranscriptError
from memory_assets.harnesses.readers import HEADER_LINES, session_id_of
from memory_assets.schema.progress import track
from memory_assets.schema.tables import version_of
from memory_assets.stages.capture.discover import CHUNK_BYTES, TranscriptFile, line_chunks, skip_to
from memory_assets.store.archive import Archive, Range, range_id
from memory_assets.store.projects import find_repository
from memory_assets.store.store import Store
from memory_assets.text.files import UTF8_BOM
from memory_assets.text.masking.redact import mask_all
from memory_assets.text.moments import event_time

COMPARED_BYTES = 4_000_000
"""Of an archived file that grew: bytes between its first and its last range that are compared with
the file at each append.
"""

QUIET = timedelta(minutes=10)
"""Time without a change after which a whole last line without its newline is archived."""

Mask = Callable[[Sequence[bytes]], Sequence[tuple[bytes, int]]]
"""Returns the chunks of lines with their secrets masked, and how many there were in each."""

WAITS_FOR_QUIET = 1
"""In the recorded state of a file: its last line is whole but for the newline."""

_TIMESTAMP = re.compile(
    rb'"timestamp":\s?"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d{1,6})?)Z"'
)
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True)
class Machine:
    """The machine on which transcripts are taken in: its home folder, and the folders of its
    harnesses' transcripts.
    """

    home: Path
    harness_folders: tuple[Path, ...] = ()

    def facts_of(self, path: str, lines: bytes) -> dict[str, Any]:
        """Returns whether the lines are the owner's (`is_own`), and the `repositories` of the
        working folders that they name.

        Both are stored, because worktrees are deleted and stores move to other machines. Folders
        that somebody else's transcript names are not looked up here.
        """
        folders = sorted(
            orjson.loads(written) for written in set(_CWD.findall(lines)) if _is_json(written)
        )
        is_here = any(Path(path).is_relative_to(folder) for folder in self.harness_folders)
        is_own = is_here or any(Path(folder).is_relative_to(self.home) for folder in folders)
        repositories = (
            {folder: find_repository(folder, str(self.home)) for folder in folders}
            if is_own
            else {}
        )
        return {
            "is_own": is_own,
            "repositories": {folder: name for folder, name in repositories.items() if name},
        }


@dataclass
class IntakeReport:
    """The result of one intake."""

    new_ranges: int = 0
    new_bytes: int = 0
    waiting: int = 0
    """Files whose last line is still being written."""
    rewritten: int = 0
    """Files whose beginning changed."""
    copies: int = 0
    """Files that are the beginning of another file of the same session."""
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Paths and reasons."""


@dataclass(frozen=True)
class _Intake:
    """What the intake of each file needs."""

    store: Store
    files: Mapping[str, TranscriptFile]
    """All files that exist now, by masked path."""
    names: Mapping[Path, str]
    """The masked path of each file."""
    now: datetime
    mask: Mask
    machine: Machine
    report: IntakeReport = field(default_factory=IntakeReport)
    waiting: list[tuple[Range, bytes]] = field(default_factory=list)
    """Ranges that are not masked yet, without the hash and count that masking gives, and their
    bytes.
    """


@dataclass
class _Position:
    """Where reading a source continues."""

    source: str
    generation: int = 0
    byte: int = 0
    line: int = 0
    is_mid_line: bool = False
    """The last archived line has no newline yet."""


def changed_files(
    files: Sequence[TranscriptFile], archive: Archive, now: datetime | None = None
) -> list[TranscriptFile]:
    """Returns the files whose size, time or inode changed since they were last read, without
    reading them.

    With `now`, also files whose last line waited for the file to be quiet, and that are quiet now.
    """
    seen, names = archive.seen(), masked_paths(files)
    return [file for file in files if _is_changed(file, seen.get(names[file.path], []), now)]


def masked_paths(files: Sequence[TranscriptFile]) -> dict[Path, str]:
    """Returns the paths as the store may hold them: a folder may be named after a token."""
    masked = mask_all([f"{file.path}\n".encode("utf-8", "surrogateescape") for file in files])
    return {
        file.path: content.removesuffix(b"\n").decode("utf-8", "surrogateescape")
        if count
        else str(file.path)
        for file, (content, count) in zip(files, masked, strict=True)
    }


def ingest_files(
    files: Sequence[TranscriptFile], store: Store, *, now: datetime, mask: Mask, machine: Machine
) -> IntakeReport:
    """Archives the new bytes of the files and returns a report."""
    _describe_older_ranges(store.archive, machine)
    names = masked_paths(files)
    intake = _Intake(store, {names[file.path]: file for file in files}, names, now, mask, machine)
    changed, seen, report = (
        changed_files(files, store.archive, now),
        store.archive.seen(),
        intake.report,
    )
    # The longest first, so that a shorter copy of a session is recognised as one.
    for file in track(
        sorted(changed, key=lambda file: (-file.size, str(file.path))), "Reading transcripts"
    ):
        try:
            seen[names[file.path]] = _ingest_file(file, intake)
        except (OSError, EOFError, zstandard.ZstdError, TranscriptError) as error:
            report.unreadable.append(
                (names[file.path], str(getattr(error, "strerror", None) or error))
            )
            seen.pop(names[file.path], None)
    _archive_waiting(intake)
    if changed:
        store.archive.remember_seen(seen)
    store.archive.remember_unreadable(dict(report.unreadable))
    return report


def _describe_older_ranges(archive: Archive, machine: Machine) -> None:
    """Adds what `Machine` finds to ranges that an earlier release archived."""
    older = [
        entry
        for ranges in archive.sources().values()
        for entry in ranges
        if entry.repositories is None
    ]
    facts: dict[str, dict[str, Any]] = {}
    for entry in older:
        try:
            content = archive.read(
                entry.source_id, entry.generation, entry.byte_from, entry.byte_to
            )
        except TranscriptError:
            content = b""  # the doctor reports missing bytes
        facts[entry.id] = machine.facts_of(entry.path, content)
    if facts:
        archive.describe(facts)


def source_id_of(file: TranscriptFile, session_id: str, apart: str = "") -> str:
    """Returns the id of the source: the session's, so that a moved, archived or compressed file
    stays the same source.
    """
    return hashlib.sha256(
        "\x1f".join([file.harness, session_id, *([apart] if apart else [])]).encode()
    ).hexdigest()[:20]


def _is_changed(file: TranscriptFile, recorded_state: list[int], now: datetime | None) -> bool:
    is_due = recorded_state[3:] == [WAITS_FOR_QUIET] and now is not None and _is_quiet(file, now)
    return is_due or recorded_state[:3] != _state_of(file)


def _state_of(file: TranscriptFile) -> list[int]:
    return [file.size, file.mtime_ns, file.inode]


def _is_quiet(file: TranscriptFile, now: datetime) -> bool:
    return now - datetime.fromtimestamp(file.mtime_ns / 1e9, UTC) > QUIET


def _ingest_file(file: TranscriptFile, intake: _Intake) -> list[int]:
    """Archives the new bytes of the file and returns its size, time and inode."""
    session = session_id_of(file.harness, str(file.path), file.first_lines(HEADER_LINES))
    position = _find_position(file, session, intake)
    if position is None:
        intake.report.copies += 1
        return _state_of(file)
    rest = b""
    with file.open() as stream:
        skip_to(stream, position.byte)
        for raw in line_chunks(stream):
            if raw.endswith(b"\n"):
                _queue_range(raw, file, session, position, intake)
            else:
                rest = raw
    is_whole = _is_whole_record(rest)
    if is_whole and _is_quiet(file, intake.now):
        _queue_range(rest, file, session, position, intake)
    elif rest:
        intake.report.waiting += 1
        return [*_state_of(file), WAITS_FOR_QUIET] if is_whole else _state_of(file)
    return _state_of(file)


def _find_position(file: TranscriptFile, session: str, intake: _Intake) -> _Position | None:
    """Returns where reading the file continues, or None where another file of the session begins
    with all of it.
    """
    if any(entry.conversation_id == session for entry, _ in intake.waiting):
        _archive_waiting(intake)
    apart = source_id_of(file, session, apart=str(file.path))
    source = apart if intake.store.archive.ranges(apart) else source_id_of(file, session)
    ranges = intake.store.archive.ranges(source)
    if not ranges:
        return _Position(source)
    ranges = [entry for entry in ranges if entry.generation == ranges[-1].generation]
    if _continues(file, ranges, intake.store.key):
        return _end_of(ranges, intake.store.archive)
    other = intake.files.get(ranges[-1].path)
    if other is None or other.path == file.path:
        intake.report.rewritten += 1
        return _Position(source, ranges[-1].generation + 1)
    return None if file.is_beginning_of(other) else _Position(apart)


def _end_of(ranges: Sequence[Range], archive: Archive) -> _Position:
    last = ranges[-1]
    ending = archive.read(last.source_id, last.generation, last.byte_to - 1, last.byte_to)
    return _Position(last.source_id, last.generation, last.byte_to, last.line_to, ending != b"\n")


def _continues(file: TranscriptFile, ranges: Sequence[Range], key: bytes) -> bool:
    with file.open() as stream:
        for entry in _compared(ranges):
            skip_to(stream, entry.byte_from)
            raw = stream.read(entry.byte_to - entry.byte_from)
            if not hmac.compare_digest(
                hmac.new(key, raw, hashlib.sha256).hexdigest(), entry.raw_hmac
            ):
                return False
    return True


def _compared(ranges: Sequence[Range]) -> list[Range]:
    """Returns the ranges to compare with the file, in order: the first, the last, and
    `COMPARED_BYTES` of the others.

    Reading a whole long file at each append would cost too much; others are compared each time.
    """
    chosen, size = {ranges[0].byte_from: ranges[0], ranges[-1].byte_from: ranges[-1]}, 0
    start = ranges[-1].byte_to % len(ranges)
    for entry in (*ranges[1:-1][start:], *ranges[1:-1][:start]):
        size += entry.byte_to - entry.byte_from
        if size > COMPARED_BYTES:
            break
        chosen[entry.byte_from] = entry
    return [chosen[byte] for byte in sorted(chosen)]


def _queue_range(
    raw: bytes, file: TranscriptFile, session: str, position: _Position, intake: _Intake
) -> None:
    """Adds the bytes at the position to the waiting ranges, and advances the position."""
    closes_a_line = position.is_mid_line and raw.startswith(b"\n")
    lines = raw[1:] if closes_a_line else raw
    taken = lines.count(b"\n") + (lines != b"" and not lines.endswith(b"\n"))
    first, last = times_of(lines)
    entry = Range(
        id=range_id(position.source, position.generation, position.byte),
        source_id=position.source,
        harness=file.harness,
        path=intake.names[file.path],
        generation=position.generation,
        byte_from=position.byte,
        byte_to=position.byte + len(raw),
        line_from=position.line,
        line_to=position.line + taken,
        sha256="",
        raw_hmac=hmac.new(intake.store.key, raw, hashlib.sha256).hexdigest(),
        content_at=first,
        content_until=last,
        conversation_id=session,
        created_at=intake.now,
        masked_count=0,
        masking_version=version_of("resources"),
        starts_with_newline=closes_a_line,
    )
    if sum(len(waiting) for _, waiting in intake.waiting) + len(raw) > CHUNK_BYTES:
        _archive_waiting(intake)
    intake.waiting.append((entry, raw))
    position.byte, position.line, position.is_mid_line = (
        entry.byte_to,
        entry.line_to,
        not raw.endswith(b"\n"),
    )


def _archive_waiting(intake: _Intake) -> None:
    """Masks and archives the waiting ranges in the order in which they were read."""
    masked = intake.mask([raw for _, raw in intake.waiting])
    for (entry, raw), (content, count) in zip(intake.waiting, masked, strict=True):
        update = {"sha256": hashlib.sha256(content).hexdigest(), "masked_count": count}
        facts = intake.machine.facts_of(entry.path, content)
        intake.store.archive.append(entry.model_copy(update={**update, **facts}), content)
        intake.report.new_ranges += 1
        intake.report.new_bytes += len(raw)
    intake.waiting.clear()


def _is_whole_record(line: bytes) -> bool:
    line = line.removeprefix(UTF8_BOM)
    return _is_json(line) and isinstance(orjson.loads(line), dict)


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def times_of(lines: bytes) -> tuple[datetime | None, datetime | None]:
    """Returns the first and the last time stamp; impossible ones, such as 30 February, do not
    count.
    """
    stamps = {stamp.decode() for stamp in _TIMESTAMP.findall(lines)}
    moments = list(filter(None, map(event_time, stamps)))
    return min(moments, default=None), max(moments, default=None)
