"""Archives new bytes of transcripts, secrets masked, exactly once.

Ranges of several files are masked together, because masking costs as much for a short text as for a
megabyte. Only whole lines are archived. A last line without its newline waits, because it may still
be written. If the file has not changed for ten minutes, the whole records of that line are
archived, because some writers omit the last newline; a newline that comes later is added to that
line. A damaged line is cut into several ranges, so that its whole records are lines of their own.

A file whose beginning changed is a new generation of its source: it is read from its start, and
messages that it repeats keep their ids. Two files of one session are one source if one of them is
the beginning of the other, else two sources. A file that cannot be read is reported and does not
stop the others.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
import zstandard

from memory_assets.errors import TranscriptError
from memory_assets.harnesses.damaged_lines import records_in, split_damaged, whole_part
from memory_assets.harnesses.declaration import ArchivedLines, ReadNewLines
from memory_assets.harnesses.harness_list import HARNESSES
from memory_assets.harnesses.readers import HEADER_LINES, folder_of, session_id_of
from memory_assets.schema.progress import track
from memory_assets.schema.tables import version_of
from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.capture.discover import CHUNK_BYTES, TranscriptFile, line_chunks, skip_to
from memory_assets.store.archive import Archive, Range, count_lines, range_id
from memory_assets.store.projects import find_repository
from memory_assets.store.store import Store
from memory_assets.text.masking.redact import mask_all
from memory_assets.text.moments import event_time

COMPARED_BYTES = 4_000_000
"""Archived bytes, besides the first and the last range, that are compared with a file that grew."""

QUIET = timedelta(minutes=10)
"""Time without a change after which a whole last line without its newline is archived."""

Mask = Callable[[Sequence[bytes]], Sequence[tuple[bytes, int]]]
"""Returns each chunk of lines with its secrets masked, and the number of its secrets."""

WAITS_FOR_QUIET = 1
"""Mark in the recorded state of a file whose last line has a whole record and no newline yet."""

_TIMESTAMP = re.compile(r"20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z")
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True)
class Machine:
    """The machine that takes transcripts in: its owner's home, and its harnesses' folders."""

    home: Path
    harness_folders: tuple[Path, ...] = ()
    ignores_folder: Callable[[str], bool] = lambda _: False
    """Whether sessions of a database in the working folder are left out."""

    def facts_of(self, harness: Harness, path: str, lines: bytes) -> dict[str, Any]:
        """Returns whether the transcript is the owner's (`is_own`), its working `folder` where only
        its place names it, and the `repositories` of its working folders.

        They are stored, because worktrees are deleted and stores move to other machines. Working
        folders in somebody else's transcript are not looked up on this machine.
        """
        literals = set(_CWD.findall(lines))
        place = folder_of(harness, path)
        named = {orjson.loads(literal) for literal in literals if _is_json(literal)}
        folders = sorted(named | {place}) if place else sorted(named)
        is_here = any(Path(path).is_relative_to(folder) for folder in self.harness_folders)
        is_own = is_here or any(Path(folder).is_relative_to(self.home) for folder in folders)
        own_folders = folders if is_own else []
        repositories = {folder: find_repository(folder, str(self.home)) for folder in own_folders}
        return {
            "is_own": is_own,
            "folder": place,
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
    """The inputs that all files of one intake share, and the state of the intake."""

    store: Store
    files: Mapping[str, TranscriptFile]
    """All transcripts that exist now, by masked path."""
    names: Mapping[Path, str]
    """The masked path of each file."""
    now: datetime
    mask: Mask
    machine: Machine
    report: IntakeReport = field(default_factory=IntakeReport)
    queue: list[tuple[Range, bytes]] = field(default_factory=list)
    """Ranges to be masked and archived, with their raw bytes; masking sets their hash and count."""


@dataclass
class _Position:
    """Where reading a source continues."""

    source: str
    generation: int = 0
    byte: int = 0
    line: int = 0
    is_mid_line: bool = False
    """Whether the last archived line has no newline yet."""


def changed_files(
    files: Sequence[TranscriptFile], archive: Archive, now: datetime | None = None
) -> list[TranscriptFile]:
    """Returns the files whose size, time or inode changed since they were last read.

    With `now`, also files whose last line waits for its newline and that are quiet by now. No file
    is opened.
    """
    states = archive.seen()
    names = masked_paths(files)
    state_of = {path: states.get(name, []) for path, name in names.items()}
    return [file for file in files if _is_changed(file, state_of[file.path], now)]


def masked_paths(files: Sequence[TranscriptFile]) -> dict[Path, str]:
    """Returns the name of each path in the store: secrets in it are masked."""
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
    """Archives the bytes of the files that are not in the archive yet."""
    _describe_older_ranges(store.archive, machine)
    names = masked_paths(files)
    intake = _Intake(store, {names[file.path]: file for file in files}, names, now, mask, machine)
    changed = changed_files(files, store.archive, now)
    states = store.archive.seen()
    # The longest first, so that a shorter copy of a session is recognised as a copy.
    ordered_files = sorted(changed, key=lambda file: (-file.size, str(file.path)))
    for file in track(ordered_files, "Reading transcripts"):
        name = names[file.path]
        try:
            states[name] = _ingest_file(file, intake)
        except (OSError, EOFError, zstandard.ZstdError, TranscriptError) as error:
            reason = str(getattr(error, "strerror", None) or error)
            intake.report.unreadable.append((name, reason))
            states.pop(name, None)
    _archive_queue(intake)
    if changed:
        store.archive.remember_seen(states)
    store.archive.remember_unreadable(dict(intake.report.unreadable))
    return intake.report


def _describe_older_ranges(archive: Archive, machine: Machine) -> None:
    """Adds owner and repositories to ranges that an earlier release archived without them."""
    entries = (entry for ranges in archive.sources().values() for entry in ranges)
    facts: dict[str, dict[str, Any]] = {}
    for entry in [entry for entry in entries if entry.repositories is None]:
        try:
            content = archive.read(
                entry.source_id, entry.generation, entry.byte_from, entry.byte_to
            )
        except TranscriptError:
            content = b""  # the doctor reports missing bytes
        facts[entry.id] = machine.facts_of(entry.harness, entry.path, content)
    if facts:
        archive.describe(facts)


def source_id_of(file: TranscriptFile, session_id: str, apart: str = "") -> str:
    """Returns the id of the source that has the file's session.

    It does not depend on the path, so that a moved or compressed file stays the same source. A file
    that differs from the session's first file passes its path as `apart` and gets another id.
    """
    parts = [file.harness, session_id, apart] if apart else [file.harness, session_id]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:20]


def _is_changed(file: TranscriptFile, recorded_state: list[int], now: datetime | None) -> bool:
    is_waiting = recorded_state[3:] == [WAITS_FOR_QUIET]
    is_due = is_waiting and now is not None and _is_quiet(file, now)
    return is_due or recorded_state[:3] != _state_of(file)


def _state_of(file: TranscriptFile) -> list[int]:
    return [file.size, file.mtime_ns, file.inode]


def _is_quiet(file: TranscriptFile, now: datetime) -> bool:
    return now - file.changed_at > QUIET


def _ingest_file(file: TranscriptFile, intake: _Intake) -> list[int]:
    """Archives the new bytes of the file and returns its state, to be recorded."""
    read_new_lines = HARNESSES[file.harness].read_new_lines
    if read_new_lines:
        return _ingest_database(file, read_new_lines, intake)
    session = session_id_of(file.harness, str(file.path), file.first_lines(HEADER_LINES))
    position = _find_position(file, session, intake)
    if position is None:
        intake.report.copies += 1
        return _state_of(file)
    last_line = b""
    with file.open() as stream:
        skip_to(stream, position.byte)
        for raw in line_chunks(stream):
            _queue_lines(last_line, file, session, position, intake)
            last_line = b""
            if raw.endswith(b"\n"):
                _queue_lines(raw, file, session, position, intake)
            else:
                last_line = raw
    whole = whole_part(last_line)
    if whole and _is_quiet(file, intake.now):
        _queue_lines(whole, file, session, position, intake)
        last_line = last_line[len(whole) :]
        whole = b""
    intake.report.waiting += bool(last_line)
    return [*_state_of(file), WAITS_FOR_QUIET] if whole else _state_of(file)


def _ingest_database(
    file: TranscriptFile, read_new_lines: ReadNewLines, intake: _Intake
) -> list[int]:
    """Archives what the sessions of a database have new, each as a source of its own."""
    archive = intake.store.archive
    _archive_queue(intake)  # what is queued may be of the same sessions

    def archived(session: str) -> ArchivedLines:
        """Returns the lines of the session that were archived before."""
        return _archived_lines(archive, source_id_of(file, session))

    for session, lines in read_new_lines(file.path, archived, intake.machine.ignores_folder):
        source = source_id_of(file, session)
        ranges = archive.ranges(source)
        position = _end_of(ranges, archive) if ranges else _Position(source)
        _, changed_at = times_of(lines)
        changed_ns = int(changed_at.timestamp() * 1e9) if changed_at else file.mtime_ns
        as_of_session = replace(file, mtime_ns=changed_ns)
        for chunk in line_chunks(BytesIO(lines)):
            _queue_lines(chunk, as_of_session, session, position, intake)
    return _state_of(file)


def _archived_lines(archive: Archive, source: str) -> ArchivedLines:
    ranges = archive.ranges(source)
    times = (entry.content_until for entry in ranges)
    until = max(filter(None, times), default=datetime.min.replace(tzinfo=UTC))

    def read() -> list[Mapping[str, Any]]:
        """Returns their records."""
        lines = archive.lines(source, ranges[-1].generation) if ranges else ()
        return list(chain.from_iterable(records_in(line.content) for line in lines))

    return ArchivedLines(until, read)


def _find_position(file: TranscriptFile, session: str, intake: _Intake) -> _Position | None:
    """Returns where reading the file continues.

    Returns None if the file is a copy: another file of the session begins with all of its bytes.
    """
    if any(entry.conversation_id == session for entry, _ in intake.queue):
        _archive_queue(intake)
    source_apart = source_id_of(file, session, apart=str(file.path))
    is_apart = bool(intake.store.archive.ranges(source_apart))
    source = source_apart if is_apart else source_id_of(file, session)
    ranges = intake.store.archive.ranges(source)
    if not ranges:
        return _Position(source)
    ranges = [entry for entry in ranges if entry.generation == ranges[-1].generation]
    if _continues(file, ranges, intake.store.keys):
        return _end_of(ranges, intake.store.archive)
    archived_file = intake.files.get(ranges[-1].path)
    if archived_file is None or archived_file.path == file.path:
        intake.report.rewritten += 1
        return _Position(source, ranges[-1].generation + 1)
    return None if file.is_beginning_of(archived_file) else _Position(source_apart)


def _end_of(ranges: Sequence[Range], archive: Archive) -> _Position:
    last = ranges[-1]
    ending = archive.read(last.source_id, last.generation, last.byte_to - 1, last.byte_to)
    return _Position(last.source_id, last.generation, last.byte_to, last.line_to, ending != b"\n")


def _continues(file: TranscriptFile, ranges: Sequence[Range], keys: Sequence[bytes]) -> bool:
    """Returns whether the file still has the archived bytes, as far as they are compared.

    Another machine may have archived them, with its own key.
    """
    with file.open() as stream:
        for entry in _ranges_to_compare(ranges):
            skip_to(stream, entry.byte_from)
            raw = stream.read(entry.byte_to - entry.byte_from)
            hashes = (hmac.new(key, raw, hashlib.sha256).hexdigest() for key in keys)
            if entry.raw_hmac not in hashes:
                return False
    return True


def _ranges_to_compare(ranges: Sequence[Range]) -> list[Range]:
    """Returns the ranges to compare with the file: first, last, and `COMPARED_BYTES` of the others.

    Comparing all of a long file at each append would cost too much. The choice of the others
    depends on the file's length, so that it differs from append to append.
    """
    chosen = {entry.byte_from: entry for entry in (ranges[0], ranges[-1])}
    size = 0
    inner_ranges = ranges[1:-1]
    start = ranges[-1].byte_to % len(ranges)
    for entry in (*inner_ranges[start:], *inner_ranges[:start]):
        size += entry.byte_to - entry.byte_from
        if size > COMPARED_BYTES:
            break
        chosen[entry.byte_from] = entry
    return [chosen[byte] for byte in sorted(chosen)]


def _queue_lines(
    raw: bytes, file: TranscriptFile, session: str, position: _Position, intake: _Intake
) -> None:
    """Queues the bytes at the position, cut at the whole records of damaged lines."""
    for piece in split_damaged(raw):
        _queue_range(piece, file, session, position, intake)


def _queue_range(
    raw: bytes, file: TranscriptFile, session: str, position: _Position, intake: _Intake
) -> None:
    """Queues the bytes at the position as a range, and advances the position."""
    closes_a_line = position.is_mid_line and raw.startswith(b"\n")
    lines = raw[1:] if closes_a_line else raw
    first, last = (moment or file.changed_at for moment in times_of(lines))
    entry = Range(
        id=range_id(position.source, position.generation, position.byte),
        source_id=position.source,
        harness=file.harness,
        path=intake.names[file.path],
        generation=position.generation,
        byte_from=position.byte,
        byte_to=position.byte + len(raw),
        line_from=position.line,
        line_to=position.line + count_lines(raw, closes_a_line),
        sha256="",
        raw_hmac=hmac.new(intake.store.key, raw, hashlib.sha256).hexdigest(),
        content_at=first,
        content_until=last,
        conversation_id=session,
        created_at=intake.now,
        masked_count=0,
        masking_version=version_of("resources"),
        starts_with_newline=closes_a_line,
        changed_at=file.changed_at,
    )
    if sum(len(queued_raw) for _, queued_raw in intake.queue) + len(raw) > CHUNK_BYTES:
        _archive_queue(intake)
    intake.queue.append((entry, raw))
    position.byte = entry.byte_to
    position.line = entry.line_to
    position.is_mid_line = not raw.endswith(b"\n")


def _archive_queue(intake: _Intake) -> None:
    """Masks and archives the queued ranges in the order in which they were read."""
    masked = intake.mask([raw for _, raw in intake.queue])
    for (entry, raw), (content, count) in zip(intake.queue, masked, strict=True):
        update = {"sha256": hashlib.sha256(content).hexdigest(), "masked_count": count}
        facts = intake.machine.facts_of(entry.harness, entry.path, content)
        intake.store.archive.append(entry.model_copy(update={**update, **facts}), content)
        intake.report.new_ranges += 1
        intake.report.new_bytes += len(raw)
    intake.queue.clear()


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def times_of(lines: bytes) -> tuple[datetime | None, datetime | None]:
    """Returns the earliest and the latest time stamp of a record that is a possible time.

    A time stamp inside a record, such as one that a tool was given, says nothing about its time.
    """
    lines_with_any = (line for line in BytesIO(lines) if b'"timestamp"' in line)
    records = chain.from_iterable(map(records_in, lines_with_any))
    stamps = {str(record.get("timestamp")) for record in records}
    moments = list(filter(None, map(event_time, filter(_TIMESTAMP.fullmatch, stamps))))
    return min(moments, default=None), max(moments, default=None)
