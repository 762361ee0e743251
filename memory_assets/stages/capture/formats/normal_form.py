"""The normal form of a transcript line, whichever coding agent wrote it.

A reader takes one physical line at a time and gives one `Parsed`; it keeps the little it must remember between lines
(which tool a result belongs to) and can hand that over, so that reading goes on where it stopped. An `Identifier` gives
each message an id that forks and replays share. What a format's fields mean is said in `claude_code`, `codex` and `pi`;
which lines make a window is decided in `windows`.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Protocol

import orjson

from memory_assets.schema.records import Author, Harness, MessageKind, RecordStatus

REMEMBERED_CALLS = 500
"""Calls still waiting for a result that a reader remembers; parallel calls number a few dozen at most."""

_LONE_HIGH = re.compile(rb"(?<!\\)((?:\\\\)*)\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
_LONE_LOW = re.compile(rb"(?<!\\u[dD][89abAB][0-9a-fA-F]{2})(?<!\\)((?:\\\\)*)\\u[dD][c-fC-F][0-9a-fA-F]{2}")


@dataclass(slots=True)
class Parsed:
    """One line in normal form; `status` says whether it is a message at all."""

    record_type: str
    """The harness's own name of the record, such as `response_item/message`."""
    status: RecordStatus
    event_at: datetime | None = None
    author: Author | None = None
    kind: MessageKind | None = None
    text: str = ""
    """What was said, without reasoning, harness scaffolding and memories that were injected earlier."""
    identity: str | None = None
    """How the harness itself tells this message from others; None where only its place among the others tells."""
    content: str | None = None
    """The content as written, where `text` was made from it; ids hash this, so that better rules keep the ids."""
    is_turn: bool = False
    """Said in the user's role, by whomever: moves the chain of content-identified messages on."""
    tool_name: str | None = None
    call_id: str | None = None
    is_error: bool = False
    is_user_turn: bool = False
    image_count: int = 0
    boundary: str | None = None
    """`compaction` where the harness compacted the context."""
    kept_from: str | None = None
    """The `native_id` of the first entry that a compaction kept."""
    native_id: str | None = None
    """The harness's id of the line, else its number among the entries where the harness counts those."""
    parent_session_id: str | None = None
    session_id: str | None = None
    """The session that the record itself names; a sub-agent's records name their parent's."""
    cwd: str | None = None
    branch: str | None = None
    repository: str | None = None
    title: str | None = None
    version: str | None = None
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()


class Reader(Protocol):
    """Turns the lines of one transcript into normal form, in order."""

    harness: Harness

    def read(self, line: bytes) -> Parsed:
        """Returns the line in normal form; a line that cannot be understood says so in its status."""
        ...

    def state(self) -> dict[str, Any]:
        """Returns what a new reader needs to go on from here, as plain JSON values."""
        ...


class LineReader(ABC):
    """What the three readers share: tolerant JSON, pending calls and state."""

    harness: Harness

    def __init__(self, session_id: str, state: Mapping[str, Any] | None = None) -> None:
        self.session_id = session_id
        self._calls: dict[str, list[str]] = dict((state or {}).get("calls", {}))

    def read(self, line: bytes) -> Parsed:
        """Returns the line in normal form; never raises."""
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            record = _loads_with_lone_surrogates(line)
            if record is None:
                return Parsed("blank", "known") if not line.strip() else Parsed("broken", "broken")
        if type(record) is not dict:
            return Parsed(f"json/{type(record).__name__}", "unknown")
        try:
            return self.parse(record)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            # A known type with fields of another shape is as new to us as a new type, and is counted as one.
            return Parsed(f"{record.get('type')}/malformed", "unknown", event_time(record.get("timestamp")))

    @abstractmethod
    def parse(self, record: dict[str, Any]) -> Parsed:
        """Returns the record in normal form; may raise where a field has an unexpected shape."""

    def state(self) -> dict[str, Any]:
        """Returns what a new reader needs to go on from here."""
        return {"calls": self._calls}

    def remember_call(self, call_id: str, tool: str, author: str) -> None:
        """Keeps which tool was called, and whose words its result will be."""
        self._calls[call_id] = [tool, author]
        if len(self._calls) > REMEMBERED_CALLS:
            del self._calls[next(iter(self._calls))]

    def answer_call(self, call_id: str | None) -> tuple[str | None, Author]:
        """Returns the tool that was called and whose words its result is."""
        tool, author = self._calls.pop(call_id or "", (None, "tool"))
        return tool, author  # type: ignore[return-value]


class Identifier:
    """Gives each message an id that is the same in every fork and replay of it.

    A message with an identity of its own is hashed with its content. One without is told by the turns before it: the
    chain starts from the root session's id and moves on with each turn of the user's role, so that a fork that leaves
    out tool calls, or whose harness instructions differ, still agrees on the turns.
    """

    def __init__(self, seed: str, state: str | None = None) -> None:
        self._turn, _, self._aside = (state or f"{_hash(seed)} ").partition(" ")

    @property
    def state(self) -> str:
        """What a new identifier needs to go on from here."""
        return f"{self._turn} {self._aside}"

    def identify(self, parsed: Parsed) -> str:
        """Returns the id of the message: `msg_` and 20 hex digits."""
        content = parsed.text if parsed.content is None else parsed.content
        if parsed.identity is not None:
            return f"msg_{_hash(parsed.identity, content)}"
        if parsed.is_turn:
            self._turn, self._aside = _hash(self._turn, "turn", content), ""
            return f"msg_{self._turn}"
        self._aside = _hash(self._aside or self._turn, "aside", content)
        return f"msg_{self._aside}"


def event_time(value: Any) -> datetime | None:
    """Returns the moment in UTC that an ISO text or a number of (milli)seconds names, else None."""
    try:
        if type(value) is str:
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo is UTC else _in_utc(moment)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def text_of(value: Any) -> str | None:
    """Returns a text that says something, else None."""
    return value if type(value) is str and value else None


def repository_name(url: Any) -> str | None:
    """Returns `owner/name` of a remote's address, or the address where it has another form."""
    if not isinstance(url, str) or not url:
        return None
    found = re.search(r"[/:]([^/:\s]+/[^/\s]+?)(?:\.git)?/?$", url)
    return found[1] if found and ("://" in url or "@" in url) else url


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _hash(*parts: str) -> str:
    return sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:20]


def _loads_with_lone_surrogates(line: bytes) -> Any:
    r"""Returns the value of a line that only half an emoji (`\ud83d` alone) keeps from being JSON, else None."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return None
    try:
        return orjson.loads(_LONE_LOW.sub(rb"\1\\ufffd", _LONE_HIGH.sub(rb"\1\\ufffd", line)))
    except orjson.JSONDecodeError:
        return None
