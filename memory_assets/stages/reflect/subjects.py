"""Collects the facts about each project and person in a day, week or month, and the room for them.

Such a subject becomes one row of its span's table, which the rules or a model write (`reflector`,
`questions`). The facts of a day come from observations, those of weeks and months from reflections.
The room is a share of the facts: smaller for a week than for a day, and smallest for a month. It is
also limited to a share of everything that was observed, with narratives and held facts.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain
from typing import Any

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import SpanName
from memory_assets.stages.reflect.background import Background, Exclusion
from memory_assets.stages.reflect.bullets import (
    Bullet,
    bullet_of,
    ids_of,
    in_order,
    merged,
    parse_bullets,
)

SMALL_TOKENS = 500
"""A day with fewer tokens is not condensed: its ids alone take as much as could be saved."""

NAMESPACE = uuid.UUID("5f0f8c1e-6a0f-4d55-9d0e-2a6b8f6f6b10")


@dataclass(frozen=True)
class Span:
    """A length of time that is condensed as a whole."""

    name: SpanName
    share: float
    """Room for facts, as a share of the tokens of the allowed facts."""
    limit: float
    """Most room, as a share of the tokens of everything that was observed."""
    keeps_high: bool
    """Whether every 🔴 fact is written, however little room there is."""

    def share_of_facts(
        self, observed_tokens: int, fact_tokens: int, *, is_small: bool = False
    ) -> float:
        """Returns the room for facts, as a share of their tokens; with `is_small` only the limit
        counts.
        """
        limit = self.limit * observed_tokens / max(fact_tokens, 1)
        return limit if is_small else min(self.share, limit)

    def first_day(self, day: date) -> date:
        """Returns the first day of the span that the day lies in; weeks begin on Monday."""
        if self.name == "day":
            return day
        return day - timedelta(days=day.weekday()) if self.name == "week" else day.replace(day=1)

    def last_day(self, first: date) -> date:
        """Returns the last day of the span that begins on `first`."""
        if self.name == "day":
            return first
        if self.name == "week":
            return first + timedelta(days=6)
        return (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)


DAY = Span("day", share=0.9, limit=0.7, keeps_high=True)
WEEK = Span("week", share=0.7, limit=0.4, keeps_high=False)
MONTH = Span("month", share=0.5, limit=0.2, keeps_high=False)
"""On thirteen labelled sessions these shares kept 0.89, 0.80 and 0.66 of the 🔴 labels. Facts are
written whole or not at all: cutting sentences to make room for more facts kept fewer labels."""
SPANS = (DAY, WEEK, MONTH)
TABLE_OF: dict[SpanName, str] = {
    "day": "reflections",
    "week": "weekly_distillates",
    "month": "monthly_distillates",
}


@dataclass(frozen=True)
class Subject:
    """One project and person in a span of time."""

    span: Span
    first: date
    project: str
    person: str
    facts: Sequence[Row]
    """All facts of the period, in order of time."""
    bullets: Sequence[Bullet]
    """The facts that may be written, one for each memory, in order of the page."""
    excluded: dict[str, Exclusion]
    """The facts that are not written whatever the room, by id."""
    room: int | None
    """Room in tokens; None if everything is written."""
    observed_tokens: int
    fact_tokens: int
    narratives: Sequence[str] = ()
    reflection_ids: Sequence[str] = ()

    @property
    def id(self) -> str:
        """The id of its reflection or distillate."""
        scope = "" if self.span == DAY else f"{self.span.name}\x1f"
        return str(uuid.uuid5(NAMESPACE, f"{scope}{self.first}\x1f{self.project}\x1f{self.person}"))


def subjects_of_day(day: date, observations: pl.DataFrame, background: Background) -> list[Subject]:
    """Returns the subjects of the day; a project without allowed facts has none."""
    allowed = (pl.col("kind") == "fact") & (pl.col("gate") == "allow")
    ordered = observations.sort("event_at", "id")
    observed_tokens = _tokens(ordered)
    fact_tokens = _tokens(ordered.filter(allowed))
    share = DAY.share_of_facts(observed_tokens, fact_tokens, is_small=fact_tokens <= SMALL_TOKENS)
    subjects = []
    for key, group in ordered.group_by("project", "person", maintain_order=True):
        group_tokens = _tokens(group.filter(allowed))
        if group_tokens:
            facts = group.filter(kind="fact").to_dicts()
            subject = _subject(
                DAY,
                day,
                key,
                facts,
                [*map(bullet_of, facts)],
                background,
                narratives=group.filter(kind="narrative")["text"].to_list(),
                room=int(share * group_tokens) if observed_tokens > SMALL_TOKENS else None,
                observed_tokens=_tokens(group),
                fact_tokens=group_tokens,
            )
            subjects.append(subject)
    return subjects


def subjects_of_period(
    span: Span,
    first: date,
    reflections: pl.DataFrame,
    observations: pl.DataFrame,
    background: Background,
) -> list[Subject]:
    """Returns the subjects of the week or month that begins on `first`.

    Both frames must have only days of that period.
    """
    observed_tokens = int(reflections["input_tokens"].sum())
    share = span.share_of_facts(observed_tokens, int(reflections["fact_tokens"].sum()))
    facts = {row["id"]: row for row in observations.sort("event_at", "id").to_dicts()}
    subjects = []
    for key, group in reflections.sort("day").group_by("project", "person", maintain_order=True):
        bullets = list(chain.from_iterable(bullets_of(row, facts) for row in group.to_dicts()))
        cited = pl.col("id").is_in(ids_of(bullets))
        fact_tokens = int(group["fact_tokens"].sum())
        subject = _subject(
            span,
            first,
            key,
            observations.filter(cited).sort("event_at", "id").to_dicts(),
            bullets,
            background,
            reflection_ids=group["reflection_id"].to_list(),
            room=int(share * fact_tokens),
            observed_tokens=int(group["input_tokens"].sum()),
            fact_tokens=fact_tokens,
        )
        subjects.append(subject)
    return subjects


def bullets_of(reflection: Row, facts: Mapping[str, Row]) -> Iterable[Bullet]:
    """Returns the lines of a reflection; the facts that it cites if it has no text.

    `facts` are observations by id, in order of time.
    """
    ids = reflection["observation_ids"]
    if reflection["text"]:
        return parse_bullets(reflection["text"], ids)
    wanted = frozenset(ids)
    return [bullet_of(row) for id, row in facts.items() if id in wanted]


def _subject(
    span: Span,
    day: date,
    key: Sequence[Any],
    facts: Sequence[Row],
    bullets: list[Bullet],
    background: Background,
    **fields: Any,
) -> Subject:
    project, person = map(str, key)
    excluded = background.excluded(facts)
    remaining = [bullet for bullet in bullets if not excluded.keys() >= {*bullet.ids}]
    merged_bullets = in_order(merge(remaining, background))
    return Subject(span, day, project, person, facts, merged_bullets, excluded, **fields)


def _tokens(observations: pl.DataFrame) -> int:
    return int(observations["tokens"].sum())


def merge(bullets: Iterable[Bullet], background: Background) -> list[Bullet]:
    """Returns one bullet for each memory, with its newest text and all ids.

    The given bullets must be in order of time.
    """
    groups: dict[str, list[Bullet]] = {}
    for bullet in bullets:
        groups.setdefault(background.memory(bullet.ids[0]), []).append(bullet)
    return [merged(members) for members in groups.values()]
