"""Condenses what one day's sessions said about a project: one reflection for each project and person.

The rules reflector keeps the 🔴 and notable 🟡 facts, repeats once, problems solved on the same day not at all, grouped by
category, each with the ids it rests on. What it leaves out is listed, so nothing vanishes unseen. The reflection must be
smaller than the facts and narratives it was made from; where it is not, level 1 keeps every 🔴 and as many 🟡 as fit, and
level 2 the 🔴 alone, each cut to its first sentence. A day too small to shrink passes through, and where no pressure helps,
everything notable is kept: a check warns.
"""

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import polars as pl

from memory_assets import tables as schemas
from memory_assets.distill.rows import short_id
from memory_assets.reflect.resolved import find_resolved
from memory_assets.tokens import CHARS_A_TOKEN, count_tokens

REFLECTOR = "rules/2"
NAMESPACE = uuid.UUID("5f0f8c1e-6a0f-4d55-9d0e-2a6b8f6f6b10")
MARKS = {"high": "🔴", "medium": "🟡", "low": "🟢"}
NOTABLE = ("high", "medium")
_ORDER = {"high": 0, "medium": 1, "low": 2}
SMALL_TOKENS = 500
"""A smaller input passes through: its ids alone weigh as much as the facts."""

DETAIL = 0.8
"""Share of its input that a reflection under pressure may weigh."""

_FIRST_SENTENCE = re.compile(r"^.{20,}?[.!?”](?=\s)", re.DOTALL)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Bullet:
    """One fact of the reflection with all observations that say it; `rank` orders bullets by importance."""

    category: str
    priority: str
    text: str
    ids: tuple[str, ...]
    rank: tuple[Any, ...]

    @property
    def line(self) -> str:
        """The bullet as it is written."""
        return f"- {MARKS[self.priority]} {self.text} [{', '.join(map(short_id, self.ids))}]"

    @property
    def weight(self) -> int:
        """Characters that it adds, its line ending included."""
        return len(self.line) + 1


def reflect_day(day: date, observations: pl.DataFrame, memory_of: Mapping[str, str]) -> pl.DataFrame:
    """Returns the day's reflections; `memory_of` maps an observation to the memory it is part of, so that repeats are one."""
    allowed = observations.filter(pl.col("gate") == "allow").sort("event_at", "id")
    rows = [
        _reflection(day, str(project), str(person), group.to_dicts(), memory_of)
        for (project, person), group in allowed.group_by("project", "person", maintain_order=True)
        if group.filter(pl.col("kind") == "fact").height
    ]
    return schemas.frame_of("reflections", rows).sort("reflection_id")


def _reflection(day: date, project: str, person: str, rows: Sequence[Row], memory_of: Mapping[str, str]) -> dict[str, Any]:
    facts = [row for row in rows if row["kind"] == "fact"]
    input_tokens = sum(row["tokens"] for row in rows)
    resolved = find_resolved(facts)
    level, bullets = _condense(_bullets([row for row in facts if row["id"] not in resolved], memory_of), input_tokens)
    text, cited = _render(bullets), [id for bullet in bullets for id in bullet.ids]
    return {
        "reflection_id": str(uuid.uuid5(NAMESPACE, f"{day}\x1f{project}\x1f{person}")),
        "day": day,
        "project": project,
        "person": person,
        "text": text,
        "observation_ids": cited,
        "dropped_ids": [row["id"] for row in facts if row["id"] not in set(cited)],
        "input_tokens": input_tokens,
        "output_tokens": count_tokens(text),
        "level": level,
        "reflector": REFLECTOR,
    }


def _bullets(facts: Sequence[Row], memory_of: Mapping[str, str]) -> list[Bullet]:
    """Returns the notable facts, given in order of time, one bullet for each memory, in their order on the page."""
    groups: dict[str, list[Row]] = {}
    for row in facts:
        groups.setdefault(memory_of.get(row["id"], row["id"]), []).append(row)
    bullets = []
    for place, members in enumerate(groups.values()):
        last = members[-1]
        is_owners = any(row["author"] == "owner" for row in members)
        priority = min((row["priority"] for row in members), key=_ORDER.__getitem__)
        rank = (_ORDER[priority], not is_owners, -len(members), -last["confidence"], place)
        bullets.append(Bullet(last["category"], priority, last["text"], tuple(row["id"] for row in members), rank))
    notable = [bullet for bullet in bullets if bullet.priority in NOTABLE]
    return sorted(notable, key=lambda bullet: (bullet.category, _ORDER[bullet.priority]))


def _condense(bullets: list[Bullet], input_tokens: int) -> tuple[int, list[Bullet]]:
    """Returns the pressure that was needed and the bullets that it left."""
    if input_tokens <= SMALL_TOKENS:
        return 0, bullets
    high = [bullet for bullet in bullets if bullet.priority == "high"]
    tried = bullets, _fit(bullets, input_tokens), [replace(bullet, text=_core(bullet.text)) for bullet in high]
    for level, left in enumerate(tried):
        if count_tokens(_render(left)) < input_tokens:
            return level, left
    return len(tried) - 1, bullets


def _fit(bullets: Sequence[Bullet], input_tokens: int) -> list[Bullet]:
    """Returns every 🔴 bullet and the most important others, as far as they fit."""
    left = int(input_tokens * DETAIL) * CHARS_A_TOKEN - sum(len(name) + 5 for name in {bullet.category for bullet in bullets})
    kept: set[tuple[str, ...]] = set()
    for bullet in sorted(bullets, key=lambda bullet: bullet.rank):
        if bullet.priority == "high" or bullet.weight <= left:
            kept.add(bullet.ids)
            left -= bullet.weight
    return [bullet for bullet in bullets if bullet.ids in kept]


def _core(text: str) -> str:
    found = _FIRST_SENTENCE.match(text)
    return found[0] if found else text


def _render(bullets: Sequence[Bullet]) -> str:
    """Returns Markdown: the bullets under their categories."""
    lines: list[str] = []
    for before, bullet in zip([None, *bullets], bullets, strict=False):
        if before is None or before.category != bullet.category:
            lines.append(f"**{bullet.category}**")
        lines.append(bullet.line)
    return "\n".join(lines)
