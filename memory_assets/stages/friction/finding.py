"""What a friction is: where it happened, what it cost, and the change that would end it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from memory_assets.schema.records import FrictionKind
from memory_assets.stages.friction.week import Session

AGENTS_MD = "AGENTS.md"
RULES_SECTION, TROUBLE_SECTION = "Hard Rules", "Known Trouble"

LEAST_MINUTES, MOST_MINUTES = 1.0, 30.0
"""What one occurrence is taken to have cost: reading and mending it takes a minute, and nobody stays at it for longer than
half an hour without a break that belongs to something else."""


@dataclass(frozen=True)
class Occurrence:
    """One time that it happened, and the messages that show it."""

    session: Session
    message_ids: tuple[str, ...]
    at: datetime
    minutes: float = LEAST_MINUTES


@dataclass(frozen=True)
class Finding:
    """A friction, and the exact change of one file that would end it."""

    kind: FrictionKind
    subject: str
    """What makes it the same friction on another day."""
    title: str
    target: str
    """`MEMORY.md`, or the path of another file."""
    section: str
    new: str
    """Text that comes; empty where something only goes."""
    occurrences: tuple[Occurrence, ...]
    old: str = ""
    """Text that goes; empty where something is only added."""

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The sessions that it happened in, in order of time."""
        ordered = sorted(self.occurrences, key=lambda one: (one.at, one.session.id))
        return tuple(dict.fromkeys(one.session.id for one in ordered))

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The messages that show it, in order of time."""
        ordered = sorted(self.occurrences, key=lambda one: (one.at, one.session.id))
        return tuple(dict.fromkeys(id for one in ordered for id in one.message_ids))

    @property
    def minutes(self) -> float:
        """What one occurrence costs on average."""
        return sum(one.minutes for one in self.occurrences) / len(self.occurrences)

    @property
    def severity(self) -> float:
        """Frequency times impact: the sessions affected, times the minutes that one occurrence costs."""
        return len(self.session_ids) * self.minutes


def minutes_between(start: datetime, end: datetime) -> float:
    """Returns the minutes from one moment to the other, at least one and at most thirty."""
    return min(max((end - start).total_seconds() / 60, LEAST_MINUTES), MOST_MINUTES)


def most_common_session(occurrences: Iterable[Occurrence]) -> Session:
    """Returns the latest session of the folder in which most of it happened."""
    found = list(occurrences)
    counts = {one.session.folder: sum(other.session.folder == one.session.folder for other in found) for one in found}
    return max(found, key=lambda one: (counts[one.session.folder], one.at)).session


def agents_md(session: Session) -> str:
    """Returns the path of the file that tells agents how to work in the session's project."""
    return str(PurePosixPath(session.folder or ".") / AGENTS_MD)


def skill_md(session: Session, name: str) -> str:
    """Returns the path of a skill of the session's project."""
    return str(PurePosixPath(session.folder or ".") / ".claude" / "skills" / name / "SKILL.md")


def sessions_in(occurrences: Iterable[Occurrence]) -> int:
    """Returns in how many sessions it happened."""
    return len({one.session.id for one in occurrences})
