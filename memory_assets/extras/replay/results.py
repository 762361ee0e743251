"""What a replay returns: a session with its turns, and the state at one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True)
class TurnSummary:
    """One turn in the list of a session's turns."""

    turn: int
    """From 1; 0 is what comes before the first turn."""
    started_at: datetime
    ended_at: datetime
    said: str
    """The first words of the person, or of whoever began; shortened."""
    message_count: int
    result_count: int
    """Results of tools."""
    files_modified: tuple[str, ...]
    is_compacted: bool
    """The harness compacted the context during the turn."""
    is_open: bool
    """The session is open and this is its last turn so far: it may go on."""


@dataclass(frozen=True)
class LinkedSession:
    """A sub-agent or fork of a session, or the session that it came from."""

    session_id: str
    relation: str
    """`sub-agent`, `fork` or `parent`."""
    started_at: datetime | None
    command: str
    """Replays it."""


@dataclass(frozen=True)
class SessionReplay:
    """A session and its turns."""

    session_id: str
    harness: str
    name: str
    """The title that the harness gave it, else the first words of its first turn, else its id."""
    project: str
    folder: str
    person: str
    path: str
    """The transcript."""
    started_at: datetime
    ended_at: datetime
    is_open: bool
    """No end was seen: it is running, or its process was killed."""
    linked: tuple[LinkedSession, ...]
    turns: tuple[TurnSummary, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class TurnMessage:
    """One message of a turn, secrets masked."""

    message_id: str
    at: datetime
    author: str
    kind: str
    """`text`, `tool_call`, `tool_result` or `summary`."""
    tool_name: str | None
    is_error: bool
    text: str
    text_chars: int
    """Length of the whole text; the middle of long tool output is left out here."""
    image_count: int
    model: str | None
    line: int
    """Record number in the transcript, from 0."""


@dataclass(frozen=True)
class InjectedMemory:
    """Memory that the harness put into the context."""

    line: int
    """Record number in the transcript, from 0."""
    is_before: bool
    """It was given before this turn."""
    text: str


@dataclass(frozen=True)
class RecalledInSession:
    """A recall that the session asked for, or that was made at a prompt of it."""

    at: datetime
    is_before: bool
    """It was made before this turn."""
    question: str
    """Its words as the session has them; empty where it does not, because the ledger keeps only a
    keyed hash.
    """
    memories: Mapping[str, str]
    """Id → present text; empty for a memory that was forgotten since."""


@dataclass(frozen=True)
class LearntFact:
    """An observation with evidence in the turn."""

    id: str
    text: str
    category: str
    priority: str
    gate: str
    """`allow`, or `hold`: stored, but recalled on request only."""
    quote: str
    command: str
    """Explains it."""


@dataclass(frozen=True)
class TurnReplay:
    """The state of a session at the end of one turn, with everything said and done in it."""

    session_id: str
    harness: str
    project: str
    turn: int
    turns: tuple[int, ...]
    """The first and the last turn of the session so far."""
    started_at: datetime
    ended_at: datetime
    is_open: bool
    """The session is open and this is its last turn so far: it may go on."""
    folder: str
    branch: str | None
    model: str | None
    version: str | None
    path: str
    line_from: int
    line_to: int
    is_compacted: bool
    messages: tuple[TurnMessage, ...]
    files_read: tuple[str, ...]
    files_modified: tuple[str, ...]
    injected: tuple[InjectedMemory, ...]
    recalled: tuple[RecalledInSession, ...]
    learnt: tuple[LearntFact, ...]
    linked: tuple[LinkedSession, ...]
    """Sub-agents and forks that began in the turn."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReplayPage:
    """A page of HTML that was written."""

    session_id: str
    path: Path
    turn_count: int
