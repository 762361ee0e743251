"""Gathers what there is to tell of each project and person: of a day from what was observed, of weeks and months from days.

Plans and decides nothing but what is not told whatever room there is. What is told of a matter, by the rules or by a model,
becomes a row of its table.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

import polars as pl

from memory_assets.stages.reflect.background import Background, Dropped, Row
from memory_assets.stages.reflect.bullets import ORDER, Bullet, in_order, parse_bullets
from memory_assets.stages.reflect.gradient import DAY, SMALL_TOKENS, Span

NAMESPACE = uuid.UUID("5f0f8c1e-6a0f-4d55-9d0e-2a6b8f6f6b10")


@dataclass(frozen=True)
class Matter:
    """One project and person in a span."""

    span: Span
    first: date
    project: str
    person: str
    facts: Sequence[Row]
    """All that were read, in order of time."""
    narratives: Sequence[str]
    bullets: Sequence[Bullet]
    """What may be told, one for each memory, in their order on the page."""
    set_aside: dict[str, Dropped]
    room: int | None
    """Tokens; nothing where all may be told."""
    observed_tokens: int
    fact_tokens: int
    reflection_ids: Sequence[str] = ()

    @property
    def id(self) -> str:
        """The id of its reflection or distillate."""
        scope = "" if self.span == DAY else f"{self.span.name}\x1f"
        return str(uuid.uuid5(NAMESPACE, f"{scope}{self.first}\x1f{self.project}\x1f{self.person}"))

    @property
    def owners(self) -> frozenset[str]:
        """The facts in the owner's words."""
        return frozenset(row["id"] for row in self.facts if row["author"] == "owner")


def matters_of_day(day: date, observations: pl.DataFrame, background: Background) -> list[Matter]:
    """Returns what there is to tell of the day; a project without facts that may be told has no matter."""
    ordered = observations.sort("event_at", "id")
    share = _share_of(ordered)
    found = []
    for (project, person), group in ordered.group_by("project", "person", maintain_order=True):
        fact_tokens = _tokens(_may_be_told(group))
        if not fact_tokens:
            continue
        facts = group.filter(pl.col("kind") == "fact").to_dicts()
        aside = background.set_aside(facts)
        said = [Bullet(row["category"], row["priority"], row["text"], (row["id"],)) for row in facts if row["id"] not in aside]
        found.append(
            Matter(
                DAY,
                day,
                str(project),
                str(person),
                facts,
                group.filter(pl.col("kind") == "narrative")["text"].to_list(),
                in_order(merge(said, background)),
                aside,
                None if share is None else int(share * fact_tokens),
                _tokens(group),
                fact_tokens,
            )
        )
    return found


def matters_of_period(
    span: Span, first: date, reflections: pl.DataFrame, observations: pl.DataFrame, background: Background
) -> list[Matter]:
    """Returns what there is to tell of the week or month that begins on `first`; both frames hold its days alone."""
    share = span.share_left(int(reflections["input_tokens"].sum()), int(reflections["fact_tokens"].sum()))
    found = []
    for (project, person), group in reflections.sort("day").group_by("project", "person", maintain_order=True):
        said = [bullet for row in group.to_dicts() for bullet in parse_bullets(row["text"], row["observation_ids"])]
        cited = {id for bullet in said for id in bullet.ids}
        facts = observations.filter(pl.col("id").is_in(cited)).sort("event_at", "id").to_dicts()
        aside = background.set_aside(facts)
        standing = [bullet for bullet in said if not all(id in aside for id in bullet.ids)]
        fact_tokens = int(group["fact_tokens"].sum())
        found.append(
            Matter(
                span,
                first,
                str(project),
                str(person),
                facts,
                (),
                in_order(merge(standing, background)),
                aside,
                int(share * fact_tokens),
                int(group["input_tokens"].sum()),
                fact_tokens,
                group["reflection_id"].to_list(),
            )
        )
    return found


def _share_of(observations: pl.DataFrame) -> float | None:
    """Returns the share of the day's facts that may be told, or nothing where the day is small and all of them may."""
    observed_tokens, fact_tokens = _tokens(observations), _tokens(_may_be_told(observations))
    if observed_tokens <= SMALL_TOKENS:
        return None
    if fact_tokens <= SMALL_TOKENS:
        return DAY.limit * observed_tokens / max(fact_tokens, 1)
    return DAY.share_left(observed_tokens, fact_tokens)


def _may_be_told(observations: pl.DataFrame) -> pl.DataFrame:
    return observations.filter((pl.col("kind") == "fact") & (pl.col("gate") == "allow"))


def _tokens(observations: pl.DataFrame) -> int:
    return int(observations["tokens"].sum())


def merge(bullets: Iterable[Bullet], background: Background) -> list[Bullet]:
    """Returns one bullet for each memory, in its newest words and with all ids; the bullets are given in order of time."""
    groups: dict[str, list[Bullet]] = {}
    for bullet in bullets:
        groups.setdefault(background.memory(bullet.ids[0]), []).append(bullet)
    return [
        replace(
            members[-1],
            priority=min((bullet.priority for bullet in members), key=ORDER.__getitem__),
            ids=tuple(dict.fromkeys(id for bullet in members for id in bullet.ids)),
        )
        for members in groups.values()
    ]
