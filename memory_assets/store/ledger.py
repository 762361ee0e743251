"""What happened to memories, appended; state is folded from it. Only forgetting changes a line, which it masks.

One JSONL segment per process and day below `ledger/`, what must be read at every recall in segments of its own
(`.notes.jsonl`). A line is `{v, id, at, actor, kind, target, payload}`; the fold order is (at, id). Ids begin with the line's
number in the ledger, so that lines of the same moment keep their order; an event that a rule plans brings an id made from its
content, and is written once.

Kinds written so far, with their targets:

    proposal.numbered   proposal id      payload: key (the memory, or the change of a line, that the number was given for), day;
                                         amends (the row of the table), where it would change a line; friction (its kind) and
                                         message_ids, where it is about one
    proposal.approved   proposal id      payload: text and section where a person changed them, surface
    proposal.rejected   proposal id      payload: reason, surface
    proposal.edited     proposal id      payload: text, surface
    proposal.decided    proposal id      payload: state, tier, reason (rules, or the clock: expired); version of the rules;
                                         entry that says the same
    task.sent           proposal id      payload: task_id, project_id, text (as sent), content (as it stood there then)
    task.closed         proposal id      payload: task_id
    friction.patched    proposal id      payload: target, patch (its path), line, section, evidence
    entry.promoted      proposal id      payload: path, section, line, commit, evidence (ranges, hashes, quotes); replaces: the
                                         line that was there before
    entry.retired       proposal id      payload: path, section, replaces (the line that went), commit
    entry.moved         proposal id      payload: path (its project's), section, replaces (the line that left MEMORY.md), commit
    memory.recalled     query hash       payload: memory_ids, in the order shown (one line an answer); profile, tier, is_known,
                                         results, uses, is_budget, degraded, cost; session, where one was shown them
    memory.used         any name         payload: memory_ids that informed an answer of a model, at (when it answered); with
                                         session: that a session which had been shown them took up in its own words
    memory.ignored      session id       payload: memory_ids that the session was shown and did not take up, session
    memory.feedback     any name         payload: memory_ids, used (yes or no), session
    memory.noted        all              payload: text, category, priority, sentiment, scope, project, person, session
    memory.corrected    memory id        payload: as noted, and observation_ids, text_hashes, message_ids of what it replaces
    memory.forgotten    memory id        payload: observation_ids, text_hashes, message_ids of it, and what is hidden with it
    words.forgotten     all              payload: tombstones (keyed hashes), with_history; from here on the words are masked
    words.erased        event id         payload: what was erased, in counts; a words.forgotten without one is unfinished
    memory.confirmed    observation id   payload: observation_ids, text_hashes, message_ids, sources, said_at (older, newer);
    memory.contradicted observation id            similarity, reason; the target is the older one
    sessions.flushed    all              a person ended every open session

What was sent through the spool, with sent_at (when) and the other fields of the event in the payload (see `deliver.events`):

    session.ended, session.compaction.pending            session id
    observations.accumulated, observations.reflected     day
    proposal.approved, proposal.rejected                 proposal id
    friction.requested                                   all
    event.put_aside     hash of the line   payload: reason, name, bytes, file (below `spool/aside/`), spooled_in, start
"""

import json
import os
import threading
import uuid
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_assets.errors import LedgerError
from memory_assets.text.files import append_line, overwrite

VERSION = 1
CONFIRMED, CONTRADICTED = "memory.confirmed", "memory.contradicted"
RECALLED, USED, IGNORED, FEEDBACK = "memory.recalled", "memory.used", "memory.ignored", "memory.feedback"
NOTED, CORRECTED, FORGOTTEN = "memory.noted", "memory.corrected", "memory.forgotten"
WORDS_FORGOTTEN, WORDS_ERASED = "words.forgotten", "words.erased"

NOTES = frozenset({NOTED, CORRECTED, FORGOTTEN})
"""Kinds that change what is known at once: every recall lays them over the tables."""

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
        """Its place in the order of the fold."""
        return self.at, self.id


@dataclass(frozen=True)
class Planned:
    """An event that a rule asks for; its id is made from its content."""

    id: str
    kind: str
    target: str
    payload: dict[str, Any] = field(default_factory=dict)


class Ledger:
    """Appends events and reads them back in fold order; several threads may share one."""

    def __init__(self, root: Path, clock: Callable[[], datetime]) -> None:
        self._root = root
        self._clock = clock
        self._segment = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._segments: dict[Path, _Segment] = {}
        self._guard = threading.Lock()

    def append(self, kind: str, target: str, payload: dict[str, Any] | None = None, *, actor: str) -> Event:
        """Writes one event to disk and returns it."""
        number = sum(len(segment.events) for segment in self._read("*.jsonl"))
        event = Event(f"{number:09d}-{uuid.uuid4().hex[:8]}", self._clock(), actor, kind, target, payload or {})
        self._write([event])
        return event

    def append_once(self, planned: Iterable[Planned], *, actor: str) -> list[Event]:
        """Writes the events whose ids the ledger does not hold, at one moment and in one flush, and returns them."""
        known = {event.id for segment in self._read("*.jsonl") for event in segment.events}
        at = self._clock()
        distinct = {one.id: one for one in planned if one.id not in known}
        events = [Event(one.id, at, actor, one.kind, one.target, one.payload) for one in distinct.values()]
        self._write([event for event in events if event.kind not in NOTES])
        self._write([event for event in events if event.kind in NOTES])
        return events

    def overwrite(self, change: Callable[[bytes], bytes]) -> int:
        """Changes what stands in the segments to something as long, and returns how many segments that were.

        The one way in which a line is ever changed: what is forgotten is masked, and ids and hashes that masking moved follow.
        """
        with self._guard:
            self._segments.clear()
            return sum(overwrite(path, change) for path in sorted(self._root.glob("*.jsonl")))

    def _write(self, events: list[Event]) -> None:
        if not events:
            return
        lines = ({"v": VERSION, **asdict(event), "at": event.at.isoformat()} for event in events)
        content = "\n".join(json.dumps(line, ensure_ascii=False, sort_keys=True) for line in lines)
        suffix = _NOTES_SUFFIX if events[0].kind in NOTES else ".jsonl"
        append_line(self._root / f"{events[0].at:%Y-%m-%d}-{self._segment}{suffix}", content.encode())

    def events(self, kinds: Collection[str] | None = None) -> list[Event]:
        """Returns the events of the given kinds (all by default) in fold order; raises `LedgerError` on a broken line."""
        of_notes = kinds is not None and NOTES.issuperset(kinds)
        segments = self._read(f"*{_NOTES_SUFFIX}" if of_notes else "*.jsonl")
        found = [event for segment in segments for event in segment.events if kinds is None or event.kind in kinds]
        return sorted(found, key=lambda event: event.moment)

    def _read(self, pattern: str) -> "list[_Segment]":
        """Returns the segments as they stand now; of one that grew only what was added is read."""
        with self._guard:
            paths = sorted(self._root.glob(pattern))
            for path in paths:
                size = path.stat().st_size
                known = self._segments.get(path, _NOTHING_READ)
                if known.size != size:
                    self._segments[path] = _read_on(path, known if known.size < size else _NOTHING_READ)
            return [self._segments.get(path, _NOTHING_READ) for path in paths]


@dataclass(frozen=True)
class _Segment:
    """What was read of a file: its whole lines, up to the byte where the next one begins."""

    size: int
    end: int
    events: tuple[Event, ...]


_NOTHING_READ = _Segment(0, 0, ())


def _read_on(path: Path, known: _Segment) -> _Segment:
    """Returns the segment with the lines behind what is known of it."""
    with path.open("rb") as file:
        file.seek(known.end)
        content = file.read()
    whole = content.rfind(b"\n") + 1  # what follows the last newline is being written, or was torn
    events = _parse_lines(path, content[:whole], len(known.events))
    return _Segment(known.end + len(content), known.end + whole, (*known.events, *events))


def _parse_lines(path: Path, content: bytes, first: int) -> list[Event]:
    events = []
    lines = content.split(b"\n")[:-1]
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            if number + 1 == len(lines) or _is_torn(error):
                continue  # a line torn by a killed process, closed by the next append: its event never happened
            raise LedgerError(f"Cannot read line {first + number} of {path}: {error}. Restore it from a backup.") from error
        if row["v"] > VERSION:
            raise LedgerError(f"{path} was written by a newer release (ledger version {row['v']}); upgrade memory_assets.")
        at = datetime.fromisoformat(row["at"]).astimezone(UTC)
        events.append(Event(row["id"], at, row["actor"], row["kind"], row["target"], row["payload"]))
    return events


def _is_torn(error: ValueError) -> bool:
    """Returns whether a line that cannot be read is the beginning of one that could."""
    if isinstance(error, UnicodeDecodeError):
        return error.reason == "unexpected end of data"
    if not isinstance(error, json.JSONDecodeError):
        return False
    rest = error.doc[error.pos :]
    return error.msg.startswith("Unterminated string") or any(word.startswith(rest) for word in ("true", "false", "null", "-"))
