"""A recurring problem: where it happened, what it cost, and the change of one file that would end
it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from statistics import fmean

from memory_assets.schema.records import MEMORY_MD, FrictionKind
from memory_assets.stages.friction.week import SessionInfo

AGENTS_MD = "AGENTS.md"
RULES_SECTION, TROUBLE_SECTION = "Hard Rules", "Known Trouble"
PERMISSIONS = ("deny", "ask")
"""Lists of permission rules in the settings of Claude Code, which take the place of a section."""


LEAST_MINUTES, MOST_MINUTES = 1.0, 30.0
"""Estimated cost of one occurrence: reading and fixing takes at least a minute, and a gap of more
than half an hour belongs to something else."""


@dataclass(frozen=True)
class Occurrence:
    """One time that the problem happened, and the messages that show it."""

    session: SessionInfo
    message_ids: tuple[str, ...]
    at: datetime
    worked: timedelta = timedelta(0)
    """From its beginning to its end."""


@dataclass(frozen=True)
class RecurringProblem:
    """A problem of several sessions, and the exact change of one file that would end it."""

    kind: FrictionKind
    subject: str
    """Identifies the problem on another day."""
    title: str
    section: str
    new: str
    """Text to add; empty for a removal."""
    occurrences: tuple[Occurrence, ...]
    file: str = AGENTS_MD
    """`MEMORY.md`, or the path of another file, relative to the project's folder."""
    old: str = ""
    """Text to remove; empty for an addition."""

    @property
    def session(self) -> SessionInfo:
        """The latest session of the folder with the most occurrences."""
        folders = [one.session.folder for one in self.occurrences]
        return max(
            self.occurrences, key=lambda one: (folders.count(one.session.folder), one.at)
        ).session

    @property
    def projects(self) -> frozenset[str]:
        """The projects in which it happened."""
        return frozenset(one.session.project for one in self.occurrences)

    @property
    def target(self) -> str:
        """`MEMORY.md`, or the path of another file."""
        if self.file == MEMORY_MD:
            return self.file
        return str(PurePosixPath(self.session.folder or ".") / self.file)

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The affected sessions, in order of time."""
        return tuple(dict.fromkeys(one.session.id for one in self._in_order))

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The messages that show it, in order of time."""
        return tuple(dict.fromkeys(id for one in self._in_order for id in one.message_ids))

    @property
    def minutes(self) -> float:
        """The average cost of one occurrence."""
        minutes = (each.worked.total_seconds() / 60 for each in self.occurrences)
        return fmean(min(max(each, LEAST_MINUTES), MOST_MINUTES) for each in minutes)

    @property
    def severity(self) -> float:
        """The number of affected sessions, times the minutes that one occurrence costs."""
        return len(self.session_ids) * self.minutes

    @property
    def _in_order(self) -> list[Occurrence]:
        return sorted(self.occurrences, key=lambda one: (one.at, one.session.id))
