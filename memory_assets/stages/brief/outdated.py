"""Finds lines of a briefing that a later fact says no longer hold."""

import re
from collections.abc import Sequence
from datetime import date

import polars as pl

from memory_assets.stages.embed.conflicts import supersedes
from memory_assets.stages.embed.corrections import states_news

_DAY = re.compile(r"\s*[-*•] (?:\W )?\((\d{4}-\d\d-\d\d)[^)]*\) ")
"""The beginning of a line with the day on which it was said."""

Change = tuple[date, str]
"""The day and the text of a fact that states a change."""


def changes_in(facts: pl.DataFrame) -> list[Change]:
    """Returns the facts that say that something ends, or holds from now on."""
    rows = facts.select(pl.col("event_at").dt.date(), "text").iter_rows()
    return [(day, text) for day, text in rows if states_news(text)]


def ended_on(line: str, changes: Sequence[Change], project: str) -> date | None:
    """Returns the day on which what the line says was ended; None where it has no day, or holds."""
    beginning = _DAY.match(line)
    if beginning is None:
        return None
    said_on = date.fromisoformat(beginning[1])
    statement = line[beginning.end() :]
    later = (change for change in changes if change[0] > said_on)
    return min((day for day, text in later if supersedes(text, statement, project)), default=None)


def with_mark(line: str, changes: Sequence[Change], project: str) -> str:
    """Returns the line, marked with the day on which it was ended."""
    day = ended_on(line, changes, project)
    return f"{line} [replaced on {day}]" if day else line
