"""The append-only event log of memories, from which their state is derived. Only forgetting changes
lines: it masks words in them.

Secrets in targets and payloads are masked here, so that no caller has to do it.

There is one JSONL segment per process and day below `ledger/`. Events that every recall needs have
segments of their own (`.notes.jsonl`). A line is `{v, id, at, actor, kind, target, payload}`, and
events are ordered by (at, id). Ids begin with the number of the line in the ledger, so that lines
of the same moment keep their order. An event that a rule planned has an id derived from its
content, and is written once.

Event kinds, with their targets and the fields of their payload:

    proposal.numbered    proposal id: key (the memory, or the change of a line, that has the
                         number), day, claim (keyed hash of what the memory says: a later id of the
                         same claim gets the same number); amends (the row of the table) if it
                         changes a line; friction (its kind) and message_ids if it is about one
    proposal.approved    proposal id: text and section if a person changed them, reason, surface
    proposal.rejected    proposal id: reason, surface
    proposal.edited      proposal id: text, surface
    proposal.decided     proposal id: state, tier, reason (of a rule, or expired), version of the
                         rules, entry with the same content
    task.sent            proposal id: task_id, project_id, text (as sent), content (in the list at
                         that time)
    task.closed          proposal id: task_id
    friction.patched     proposal id: target, patch (its path), line, section, evidence
    entry.promoted       proposal id: path, section, line, commit, evidence (ranges, hashes,
                         quotes), replaces (the previous line)
    entry.retired        proposal id: path, section, replaces (the removed line), commit
    entry.moved          proposal id: path (its project's), section, replaces (the line that left
                         MEMORY.md), commit
    entry.taken_back     proposal id: path, section, replaces (the line of the edit that was
                         undone), commit
    memory.recalled      query hash: memory_ids in the order shown (one event per answer), profile,
                         tier, is_known, results, uses, is_budget, degraded, cost; session, if the
                         results were shown to one
    memory.used          any name: memory_ids that a model's answer used, at (its time); session, if
                         they were shown to it and it used them
    memory.ignored       session id: memory_ids shown to the session and not used, session
    memory.boosted       day: memory_ids (observations of the day), day; by the nightly run
    memory.feedback      any name: memory_ids, used (yes or no), session
    memory.noted         all: text, category, priority, sentiment, scope, project, person, session
    memory.corrected     memory id: the fields of memory.noted, and the observation_ids,
                         text_hashes, message_ids that it replaces
    memory.forgotten     memory id: its observation_ids, text_hashes, message_ids, and what is
                         hidden with it
    words.forgotten      all: tombstones (keyed hashes), with_history; the words are masked from now
                         on
    words.erased         event id of a words.forgotten: counts of erased items; without this event,
                         the forgetting is unfinished
    memory.confirmed     id of the older observation: observation_ids, text_hashes, message_ids,
    memory.contradicted  sources, said_at (each of the older and the newer), similarity, reason
    memory.archived      name of the job: memory_ids, reason; recalled only if asked for (weekly)
    memory.cold          name of the job: memory_ids, reason; archived for long (monthly)
    memory.restored      memory id: memory_ids; active again, and the TTL starts again
    sessions.flushed     all: a person ended every open session

Events from the spool, with sent_at and the other fields of the event in the payload (see
`deliver.events`):

    session.ended, session.compaction.pending            session id
    observations.accumulated, observations.reflected     day
    proposal.approved, proposal.rejected                 proposal id
    friction.requested                                   all
    event.put_aside      hash of the line: reason, name, bytes, file (below `spool/aside/`),
                         spooled_in, start
"""

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_assets.errors import LedgerError
from memory_assets.schema.announcements import announce
from memory_assets.text.checksums import is_intact, with_checksum
from memory_assets.text.files import append_line, overwrite_records
from memory_assets.text.masking.records import mask_record

VERSION = 1
CONFIRMED = "memory.confirmed"
CONTRADICTED = "memory.contradicted"
RECALLED = "memory.recalled"
USED = "memory.used"
IGNORED = "memory.ignored"
FEEDBACK = "memory.feedback"
BOOSTED = "memory.boosted"
NOTED = "memory.noted"
CORRECTED = "memory.corrected"
FORGOTTEN = "memory.forgotten"
ARCHIVED = "memory.archived"
COLD = "memory.cold"
RESTORED = "memory.restored"
WORDS_FORGOTTEN = "words.forgotten"
WORDS_ERASED = "words.erased"

NOTES = frozenset({NOTED, CORRECTED, FORGOTTEN})
"""Kinds that take effect at once: every recall applies these events on top of the tables."""

HELP = "`memory doctor` names them."
"""End of messages about lines that cannot be read."""

_NOTES_SUFFIX = ".notes.jsonl"


@dataclass(frozen=True)
class Event:
    """One line of the ledger."""

    id: str
    at: datetime
    actor: str
    kind: str
    target: str
    payload: dict[str, Any] = field(default_factory=dict)

    @property
    def moment(self) -> tuple[datetime, str]:
        """The key by which events are sorted."""
        return self.at, self.id


@dataclass(frozen=True)
class Planned:
    """An event that a rule planned; its id is derived from its content."""

    id: str
    kind: str
    target: str
    payload: dict[str, Any] = field(default_factory=dict)


class Ledger:
    """Appends events and reads them in order; thread-safe."""

    def __init__(self, root: Path, clock: Callable[[], datetime]) -> None:
        self._root = root
        self._clock = clock
        self._segment = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._segments: dict[Path, _Segment] = {}
        self._folder_time = 0
        self._guard = threading.Lock()

    def append(
        self, kind: str, target: str, payload: dict[str, Any] | None = None, *, actor: str
    ) -> Event:
        """Writes one event to disk and returns it."""
        number = sum(len(segment.events) for segment in self._read("*.jsonl"))
        id = f"{number:09d}-{uuid.uuid4().hex[:8]}"
        events = _masked([Event(id, self._clock(), actor, kind, target, payload or {})])
        self._write(events)
        return events[0]

    def append_once(self, planned: Iterable[Planned], *, actor: str) -> list[Event]:
        """Writes the events whose ids are new, at one moment and in one flush, and returns them."""
        written = {event.id for segment in self._read("*.jsonl") for event in segment.events}
        at = self._clock()
        new = {plan.id: plan for plan in planned if plan.id not in written}
        events = _masked([Event(at=at, actor=actor, **vars(plan)) for plan in new.values()])
        self._write([event for event in events if event.kind not in NOTES])
        self._write([event for event in events if event.kind in NOTES])
        return events

    def take_in(self, events: Iterable[Event]) -> list[Event]:
        """Writes the events of another machine whose ids are new, as they are, and returns them."""
        present = {event.id for segment in self._read("*.jsonl") for event in segment.events}
        by_id = {event.id: event for event in events if event.id not in present}
        new_events = _masked([*by_id.values()])
        self._write([event for event in new_events if event.kind not in NOTES])
        self._write([event for event in new_events if event.kind in NOTES])
        return new_events

    def overwrite(self, change: Callable[[bytes], bytes]) -> int:
        """Replaces the content of each segment with content of the same length; returns the number
        of segments that changed.

        Only forgetting uses it, to mask words and to update ids and hashes that depend on them.
        """
        paths = sorted(self._root.glob("*.jsonl"))
        changed = sum(overwrite_records(path, change) for path in paths)
        if changed:
            now = time.time_ns()
            # Tells every process to read the segments again, although their sizes are the same.
            os.utime(self._root, ns=(now, now))
        return changed

    def _write(self, events: list[Event]) -> None:
        if not events:
            return
        lines = ({"v": VERSION, **asdict(event), "at": event.at.isoformat()} for event in events)
        content = b"\n".join(
            with_checksum(json.dumps(line, ensure_ascii=False, sort_keys=True).encode())
            for line in lines
        )
        suffix = _NOTES_SUFFIX if events[0].kind in NOTES else ".jsonl"
        append_line(self._root / f"{events[0].at:%Y-%m-%d}-{self._segment}{suffix}", content)

    def events(self, kinds: Collection[str] | None = None) -> list[Event]:
        """Returns the events of these kinds (all by default) in order, without lines that cannot be
        read (`damaged`).

        A planned event that two machines wrote before they synchronised is returned once.
        """
        has_only_notes = kinds is not None and NOTES.issuperset(kinds)
        segments = self._read(f"*{_NOTES_SUFFIX}" if has_only_notes else "*.jsonl")
        events = [
            event
            for segment in segments
            for event in segment.events
            if kinds is None or event.kind in kinds
        ]
        unique: dict[tuple[str, str], Event] = {}
        for event in sorted(events, key=lambda event: event.moment):
            unique.setdefault((event.id, event.target), event)
        return list(unique.values())

    def damaged(self) -> list[str]:
        """Returns the lines that cannot be read, each with its file, its number from 1, and the
        reason.
        """
        return [line for segment in self._read("*.jsonl") for line in segment.damaged]

    def _read(self, pattern: str) -> "list[_Segment]":
        """Returns the current segments whose files match the pattern.

        Only the new part of a segment that grew is read; after a change of the folder's time, all
        of each segment.
        """
        with self._guard:
            folder_time = self._root.stat().st_mtime_ns if self._root.is_dir() else 0
            if folder_time != self._folder_time:
                self._folder_time = folder_time
                self._segments.clear()
            paths = sorted(self._root.glob(pattern))
            for path in paths:
                size = path.stat().st_size
                segment = self._segments.get(path, _Segment())
                if segment.size != size:
                    start = segment if segment.size < size else _Segment()
                    self._segments[path] = _read_rest(path, start)
            segments = [self._segments.get(path, _Segment()) for path in paths]
        count = sum(len(segment.damaged) for segment in segments)
        if count:
            announce(
                f"Lines of the ledger that cannot be read: {count}. They count as not "
                f"written; {HELP}",
                about=str(self._root),
            )
        return segments


def _masked(events: list[Event]) -> list[Event]:
    """Returns the events with their secrets masked."""
    records = mask_record([(event.target, event.payload) for event in events])
    return [
        replace(event, target=target, payload=payload)
        for event, (target, payload) in zip(events, records, strict=True)
    ]


@dataclass(frozen=True)
class _Segment:
    """The complete lines that were read from a file."""

    size: int = 0
    """Size of the file."""
    end: int = 0
    """Offset after the last complete line."""
    events: tuple[Event, ...] = ()
    lines: int = 0
    """Number of complete lines."""
    damaged: tuple[str, ...] = ()


def _read_rest(path: Path, start: _Segment) -> _Segment:
    """Returns the segment with the lines that follow those of `start`."""
    with path.open("rb") as file:
        file.seek(start.end)
        content = file.read()
    whole = content.rfind(b"\n") + 1  # bytes after it are being written, or were torn
    events, damaged = _parse_lines(path, content[:whole], start.lines)
    return _Segment(
        size=start.end + len(content),
        end=start.end + whole,
        events=(*start.events, *events),
        lines=start.lines + content.count(b"\n", 0, whole),
        damaged=(*start.damaged, *damaged),
    )


def _parse_lines(path: Path, content: bytes, first: int) -> tuple[list[Event], list[str]]:
    """Returns the events, and the lines that cannot be read, with the reason; the lines are
    numbered after `first`.
    """
    events = []
    damaged = []
    for number, line in enumerate(content.split(b"\n")[:-1], first + 1):
        try:
            if line.strip():
                events.append(_parse_line(path, line))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            reason = error if isinstance(error, ValueError) else f"not an event ({error})"
            # A line that a killed process tore, and the next append ended, counts as not written.
            if not _is_torn(error):
                damaged.append(f"{path.parent.name}/{path.name}, line {number}: {reason}")
    return events, damaged


def _parse_line(path: Path, line: bytes) -> Event:
    row = json.loads(line.decode())
    if not is_intact(line):
        raise ValueError("its bytes do not fit its checksum")
    if row["v"] > VERSION:
        raise LedgerError(
            f"{path} was written by a newer release (ledger version {row['v']}); upgrade "
            "memory_assets."
        )
    at = datetime.fromisoformat(row["at"]).astimezone(UTC)
    return Event(row["id"], at, row["actor"], row["kind"], row["target"], dict(row["payload"]))


def is_torn_line(line: bytes) -> bool:
    """Returns whether the line is only the beginning of a JSON value: a killed process leaves such
    lines.
    """
    try:
        json.loads(line.decode())
    except ValueError as error:
        return _is_torn(error)
    return False


def _is_torn(error: Exception) -> bool:
    """Returns whether the error is that of a line that ends too early."""
    if isinstance(error, UnicodeDecodeError):
        return error.reason == "unexpected end of data"
    if not isinstance(error, json.JSONDecodeError):
        return False
    unparsed = error.doc[error.pos :]
    return error.msg.startswith("Unterminated string") or any(
        word.startswith(unparsed) for word in ("true", "false", "null", "-")
    )
