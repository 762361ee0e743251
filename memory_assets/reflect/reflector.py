"""Condenses what one day's sessions said about a project: one reflection for each project and person.

The rules reflector tells the 🔴 and 🟡 facts whole, repeats once, what was replaced or solved on the same day not at all,
grouped by category, each with the ids it rests on. Where that is more than the day has room for, level 1 keeps every 🔴 and
as many 🟡 as fit, the most important first, and level 2 the 🔴 alone, each cut to its first sentence. A small day passes
through, and where no pressure helps everything notable is kept: a check warns. What is left out is listed with the reason.
"""

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import polars as pl

from memory_assets import tables as schemas
from memory_assets.reflect import REFLECTOR
from memory_assets.reflect.background import Background, Dropped, Row
from memory_assets.reflect.bullets import ORDER, Bullet, heading, in_order, render
from memory_assets.reflect.gradient import DAY, SMALL_TOKENS, Span
from memory_assets.tokens import CHARS_A_TOKEN, count_tokens

NAMESPACE = uuid.UUID("5f0f8c1e-6a0f-4d55-9d0e-2a6b8f6f6b10")

_FIRST_SENTENCE = re.compile(r"^.{20,}?[.!?”](?=\s)", re.DOTALL)


@dataclass(frozen=True)
class Condensed:
    """What is told of one project and person, and the pressure that it took."""

    bullets: Sequence[Bullet]
    level: int

    @property
    def ids(self) -> list[str]:
        """The observations that it rests on."""
        return [id for bullet in self.bullets for id in bullet.ids]


def reflect_day(day: date, observations: pl.DataFrame, background: Background) -> pl.DataFrame:
    """Returns the day's reflections; those of a day without facts that may be told are none."""
    ordered = observations.sort("event_at", "id")
    share = _share_of(ordered)
    rows = []
    for (project, person), group in ordered.group_by("project", "person", maintain_order=True):
        told = _told(group)
        if told.is_empty():
            continue
        fact_tokens = int(told["tokens"].sum())
        room = None if share is None else int(share * fact_tokens)
        facts = group.filter(pl.col("kind") == "fact").to_dicts()
        dropped = background.set_aside(facts)
        bullets = merge([_bullet(row) for row in facts if row["id"] not in dropped], background)
        found = condense(bullets, room, DAY, background, owners_among(facts))
        row = {
            "reflection_id": str(uuid.uuid5(NAMESPACE, f"{day}\x1f{project}\x1f{person}")),
            "day": day,
            "until_on": day,
            "reflection_ids": [],
            "project": project,
            "person": person,
            "input_tokens": int(group["tokens"].sum()),
            "fact_tokens": fact_tokens,
            "reflector": REFLECTOR,
        }
        rows.append(row | told_columns(found, facts, dropped, background))
    return schemas.frame_of("reflections", rows).sort("reflection_id")


def _share_of(observations: pl.DataFrame) -> float | None:
    """Returns the share of the day's facts that may be told, or nothing where the day is small and all of them may."""
    observed_tokens, fact_tokens = int(observations["tokens"].sum()), int(_told(observations)["tokens"].sum())
    if observed_tokens <= SMALL_TOKENS:
        return None
    if fact_tokens <= SMALL_TOKENS:
        return DAY.limit * observed_tokens / max(fact_tokens, 1)
    return DAY.share_left(observed_tokens, fact_tokens)


def _told(observations: pl.DataFrame) -> pl.DataFrame:
    return observations.filter((pl.col("kind") == "fact") & (pl.col("gate") == "allow"))


def _bullet(row: Row) -> Bullet:
    return Bullet(row["category"], row["priority"], row["text"], (row["id"],))


def owners_among(facts: Iterable[Row]) -> frozenset[str]:
    """Returns the facts in the owner's words."""
    return frozenset(row["id"] for row in facts if row["author"] == "owner")


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


def condense(
    bullets: Sequence[Bullet], room: int | None, span: Span, background: Background, owners: frozenset[str]
) -> Condensed:
    """Returns what of the bullets there is room for, in tokens; without a limit, all of it."""
    ordered = in_order(bullets)
    if room is None or count_tokens(render(ordered)) <= room:
        return Condensed(ordered, 0)
    ranked = sorted(ordered, key=lambda bullet: background.rank(bullet, any(id in owners for id in bullet.ids)))
    fitting = _fit(ranked, room, keeps_high=span.keeps_high)
    if count_tokens(render(in_order(fitting))) <= room or not span.keeps_high:
        return Condensed(in_order(fitting), 1)
    cores = [replace(bullet, text=_core(bullet.text)) for bullet in ordered if bullet.priority == "high"]
    return Condensed(cores if count_tokens(render(cores)) <= room else ordered, 2)


def _fit(ranked: Sequence[Bullet], room: int, *, keeps_high: bool) -> list[Bullet]:
    """Returns the most important bullets as far as they fit, one at least; with `keeps_high` every 🔴."""
    left = room * CHARS_A_TOKEN
    kept: list[Bullet] = []
    for bullet in ranked:
        is_first = all(bullet.category != other.category for other in kept)
        weight = bullet.weight + (len(heading(bullet.category)) + 1 if is_first else 0)
        if weight <= left or not kept or (keeps_high and bullet.priority == "high"):
            kept.append(bullet)
            left -= weight
    return kept


def _core(text: str) -> str:
    found = _FIRST_SENTENCE.match(text)
    return found[0] if found else text


def told_columns(
    found: Condensed, facts: Sequence[Row], set_aside: Mapping[str, Dropped], background: Background
) -> dict[str, Any]:
    """Returns the columns that say what is told, and for every other fact why it is not and what still holds it."""
    text, cited = render(found.bullets), found.ids
    told = set(cited)
    dropped = {
        row["id"]: set_aside.get(row["id"]) or Dropped("no room", background.memory(row["id"]))
        for row in facts
        if row["id"] not in told
    }
    return {
        "text": text,
        "observation_ids": cited,
        "dropped_ids": list(dropped),
        "dropped_why": [one.reason for one in dropped.values()],
        "dropped_to": [one.kept_as for one in dropped.values()],
        "output_tokens": count_tokens(text),
        "level": found.level,
    }
