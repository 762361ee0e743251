"""Condenses what there is to tell of projects and people into reflections of a day and distillates of a week or month.

The rules tell facts whole, grouped by category, each with the ids it rests on. Where that is more than there is room for,
level 1 keeps the most important ones (of a day every 🔴), and level 2 of a day the 🔴 alone, each cut to its first sentence.
A small day passes through, and where no pressure helps everything notable is kept: a check warns. What a model wrote is told
in its words instead, where it has answered. What is left out is listed with the reason.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.reflect import DISTILLER, REFLECTOR
from memory_assets.stages.reflect.background import Background, Dropped
from memory_assets.stages.reflect.bullets import Bullet, heading, in_order, render
from memory_assets.stages.reflect.gradient import DAY, TABLE_OF, Span
from memory_assets.stages.reflect.matter import Matter
from memory_assets.text.tokens import CHARS_A_TOKEN, count_tokens

_FIRST_SENTENCE = re.compile(r"^.{20,}?[.!?”](?=\s)", re.DOTALL)


@dataclass(frozen=True)
class Told:
    """What is told of a matter, who wrote it, and the pressure that it took."""

    bullets: Sequence[Bullet]
    level: int
    reflector: str
    answers: tuple[str, ...] = ()
    """Names of the raw answers of a model."""
    prompt_hash: str | None = None
    cost_usd: float | None = None
    problem: str | None = None
    """Why a model's words are not used."""


def tell(
    span: Span, matters: Iterable[Matter], background: Background, written: Callable[[Matter], Told | None] = lambda _: None
) -> pl.DataFrame:
    """Returns the rows of the span's table; `written` gives what a model wrote of a matter, if it did."""
    rows = [_row(matter, written(matter) or condense(matter, background), background) for matter in matters]
    return schemas.frame_of(TABLE_OF[span.name], rows).sort("reflection_id")


def condense(matter: Matter, background: Background) -> Told:
    """Returns what the rules tell of the matter."""
    by = REFLECTOR if matter.span == DAY else DISTILLER
    bullets, room = matter.bullets, matter.room
    if room is None or weigh(bullets) <= room:
        return Told(bullets, 0, by)
    owners = matter.owners
    ranked = sorted(bullets, key=lambda bullet: background.rank(bullet, any(id in owners for id in bullet.ids)))
    fitting = in_order(_fit(ranked, room, keeps_high=matter.span.keeps_high))
    if weigh(fitting) <= room or not matter.span.keeps_high:
        return Told(fitting, 1, by)
    cores = [replace(bullet, text=_core(bullet.text)) for bullet in bullets if bullet.priority == "high"]
    return Told(cores if weigh(cores) <= room else bullets, 2, by)


def weigh(bullets: Sequence[Bullet]) -> int:
    """Returns about how many tokens the bullets take as they are written."""
    return count_tokens(render(bullets))


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


def _row(matter: Matter, told: Told, background: Background) -> dict[str, Any]:
    """Returns the row: what is told, and for every other fact why it is not and what still holds it."""
    text, cited = render(told.bullets), dict.fromkeys(id for bullet in told.bullets for id in bullet.ids)
    reason = "left out" if told.prompt_hash else "no room"
    dropped = {
        row["id"]: matter.set_aside.get(row["id"]) or Dropped(reason, background.memory(row["id"]))
        for row in matter.facts
        if row["id"] not in cited
    }
    return {
        "reflection_id": matter.id,
        "day": matter.first,
        "until_on": matter.span.last_day(matter.first),
        "project": matter.project,
        "person": matter.person,
        "text": text,
        "observation_ids": list(cited),
        "reflection_ids": list(matter.reflection_ids),
        "dropped_ids": list(dropped),
        "dropped_why": [one.reason for one in dropped.values()],
        "dropped_to": [one.kept_as for one in dropped.values()],
        "input_tokens": matter.observed_tokens,
        "fact_tokens": matter.fact_tokens,
        "output_tokens": count_tokens(text),
        "level": told.level,
        "reflector": told.reflector,
        "answers": list(told.answers),
        "prompt_hash": told.prompt_hash,
        "cost_usd": told.cost_usd,
        "problem": told.problem,
    }
