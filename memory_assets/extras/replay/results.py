"""The results of a replay: a session with its turns, and the state at one turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True)
class TurnSummary:
    """One turn in the list of a session's turns."""

    turn: int
    """Its number from 1; 0 stands for the messages before the first turn."""
    started_at: datetime
    ended_at: datetime
    said: str
    """The first message of the turn, usually the person's; shortened."""
    message_count: int
    result_count: int
    """Number of results of tools."""
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
    """The command that replays it."""


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
    """The path of the transcript."""
    started_at: datetime
    ended_at: datetime
    is_open: bool
    """No end was seen: it is running, or its process was killed."""
    linked: tuple[LinkedSession, ...]
    turns: tuple[TurnSummary, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class TurnMessage:
    """One message of a turn; its secrets are masked."""

    message_id: str
    at: datetime
    author: str
    kind: str
    """`text`, `tool_call`, `tool_result` or `summary`."""
    tool_name: str | None
    is_error: bool
    text: str
    text_chars: int
    """Length of the whole text; `text` lacks the middle of a long output of a tool."""
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
    """Whether it was put there before this turn."""
    text: str


@dataclass(frozen=True)
class RecalledInSession:
    """A recall that the session asked for, or that a hook made at one of its prompts."""

    at: datetime
    is_before: bool
    """Whether it was made before this turn."""
    question: str
    """Its words, if they are found in the session; the ledger keeps only their keyed hash."""
    memories: Mapping[str, str]
    """Id of a recalled memory → its present text, empty if it was forgotten since."""


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
    """The command that explains it."""


@dataclass(frozen=True)
class TurnReplay:
    """The state of a session at the end of one turn, with everything said and done in it."""

    session_id: str
    harness: str
    project: str
    turn: int
    turns: tuple[int, ...]
    """Numbers of the first and the last turn of the session so far."""
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
