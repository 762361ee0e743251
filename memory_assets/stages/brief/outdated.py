"""Finds lines of a briefing that a later fact says no longer hold."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from memory_assets.stages.brief.fitting import BriefingSection
from memory_assets.stages.embed.conflicts import supersedes
from memory_assets.stages.embed.corrections import states_news

_DAY = re.compile(r"\s*[-*•] (?:\W )?\((\d{4}-\d\d-\d\d)[^)]*\) ")
"""The beginning of a line with the day on which it was said."""


@dataclass(frozen=True)
class Changes:
    """The facts about a project that say that something ends, or holds from now on."""

    project: str
    texts: Sequence[tuple[date, str]]
    """Each with its day."""

    @classmethod
    def among(cls, facts: pl.DataFrame, project: str | None) -> "Changes":
        """Returns the changes that the facts state."""
        rows = facts.select(pl.col("event_at").dt.date(), "text").iter_rows()
        return cls(project or "", [(day, text) for day, text in rows if states_news(text)])

    def without_ended(self, lines: Iterable[str]) -> list[str]:
        """Returns the lines that still hold."""
        return [line for line in lines if not self._ended_on(line)]

    def mark_ended(self, sections: Iterable[BriefingSection]) -> None:
        """Marks the lines of the sections that were ended with the day of that."""
        for section in sections:
            section.lines[:] = map(self._with_mark, section.lines)

    def _with_mark(self, line: str) -> str:
        day = self._ended_on(line)
        return f"{line} [replaced on {day}]" if day else line

    def _ended_on(self, line: str) -> date | None:
        """Returns the day on which what the line says was ended; None where it has no day, or
        holds.
        """
        beginning = _DAY.match(line)
        if beginning is None:
            return None
        said_on = date.fromisoformat(beginning[1])
        statement = line[beginning.end() :]
        later = (change for change in self.texts if change[0] > said_on)
        days = (day for day, text in later if supersedes(text, statement, self.project))
        return min(days, default=None)
