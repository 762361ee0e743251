"""Decides whose memories a question may see: those of the named or present project and person, at the time asked about.

Takes the question, who asks, the filters and the memories' own columns; gives for each memory whether it is out, or of
another project. A person's preferences are returned only when that person asks or is named. Another project's memory stays a
candidate, and is left out beside what this project has (`relevance`).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.results import Asker

_OWN = re.compile(
    r"\b(?:my|mine|myself)\b|\b(?:do|did|should|am|would|can|may) i\b|\bi (?:like|want|prefer|use|need)\b|\bto me\b", re.I
)
_MINE, _I = re.compile(r"\b(?:my|mine)\b", re.I), re.compile(r"\b(?:i|me)\b", re.I)

GONE = ("superseded", "stale", "archived", "cold", "forgotten")
"""States whose memories are not returned as the messages behind them, either."""


@dataclass(frozen=True)
class Scope:
    """Where a question looks."""

    projects: frozenset[str]
    """Named in the question, else the one it is asked in."""
    is_project_named: bool
    persons: frozenset[str]
    """Whose preferences may be returned."""
    is_person_named: bool
    is_open: bool
    """Nothing is known of the asker, so nobody's preferences can be mistaken for theirs."""


def parse_scope(question: str, asker: Asker, filters: Filters, projects: Collection[str], persons: Collection[str]) -> Scope:
    """Returns where the question looks, of the projects and persons that the memory knows."""
    named, people = _named(question, projects), _named(question, persons)
    me = filters.person or asker.person
    return Scope(
        named or frozenset({asker.project} if asker.project else ()),
        bool(named),
        people or frozenset({me} if me else ()),
        bool(people),
        not people and (me is None or (me not in persons and not _OWN.search(question))),
    )


def is_out(scope: Scope) -> pl.Expr:
    """Returns whether a memory is the preference of a person who neither asks nor is named."""
    return pl.lit(False) if scope.is_open else (pl.col("scope") == "person") & ~pl.col("person").is_in(list(scope.persons))


def is_away(scope: Scope) -> pl.Expr:
    """Returns whether a memory belongs to another project than the question."""
    if not scope.projects:
        return pl.lit(False)
    return (pl.col("scope") == "project") & ~pl.col("project").is_in(list(scope.projects))


def states_as_of(memories: pl.DataFrame, filters: Filters) -> pl.DataFrame:
    """Returns the memories with their state at the end of the range asked about: replaced later means active then."""
    if filters.until is None:
        return memories
    later = memories.filter(pl.col("first_event_at") >= filters.until)["id"]
    was_active = (pl.col("state") == "superseded") & pl.col("superseded_by").is_in(later.to_list())
    return memories.with_columns(pl.when(was_active).then(pl.lit("active")).otherwise("state").alias("state"))


def hidden_lines(memories: pl.DataFrame, sessions: pl.Series, scope: Scope, filters: Filters) -> pl.DataFrame:
    """Returns the lines of these sessions that must not be returned: of replaced and stale memories, and another person's own.

    Lines of held memories may be returned: nobody has decided yet that these are wrong.
    """
    gone = pl.col("state").is_in([state for state in GONE if state not in filters.include])
    rows = memories.filter(pl.col("session_id").is_in(sessions.unique().implode()), gone | is_out(scope))
    return rows.select("session_id", pl.col("lines").alias("line")).explode("line").drop_nulls("line").unique()


def in_person(question: str, person: str | None) -> str:
    """Returns the question with the asker's name for "my" and "I", as memories call people by name."""
    if not person or not _OWN.search(question):
        return question
    name = person[:1].upper() + person[1:]
    return _I.sub(name, _MINE.sub(f"{name}'s", question))


def without_names(question: str, names: Collection[str]) -> str:
    """Returns the question without these names, unless nothing else would be left."""
    words = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    rest = " ".join(re.sub(rf"(?<![\w-])(?:{words})(?![\w-])(?:'s)?", " ", question, flags=re.I).split())
    return rest if re.search(r"\w{3}", rest) else question


def _named(question: str, names: Collection[str]) -> frozenset[str]:
    low = question.lower()
    return frozenset(name for name in names if name and re.search(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])", low))
