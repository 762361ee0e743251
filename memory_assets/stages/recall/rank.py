"""Fuses what was found by words and by meaning, and weighs it by what is known of a memory.

Each factor multiplies the fused score and can be switched off; `make bench ROWS=factors` prints what each is worth. Decay is
that of the category: what lives 90 days until it may be stale fades by a hundredth a day, what lives 180 by half of that, a
rule not at all.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memory_assets.schema.protocols import Hit
from memory_assets.stages.distill.items import sentiment_of
from memory_assets.stages.recall.results import Asker

DECAY_PER_DAY = 0.01
"""A fact of 70 days counts half, one of 180 days a sixth."""

DECAY_OF = {"rules-conventions": 0.0, "preferences": 0.005, "people": 0.005}
"""Categories that fade more slowly, or never."""

STALE_FACTOR = 0.5
ELSEWHERE_FACTOR = 0.8
"""What another project's or person's memory counts when the asker said where they are."""

TONE_FACTOR = 1.05
"""What a memory counts that was said in the tone of the question, where that tone is not neutral."""


def fuse(keywords: Sequence[Hit], vectors: Sequence[Hit]) -> dict[str, float]:
    """Returns a score from 0 to 1 for each candidate; with one arm empty, the other counts whole."""
    arms = [_scaled(arm) for arm in (keywords, vectors) if arm]
    ids = dict.fromkeys(id for arm in arms for id in arm)
    return {id: sum(arm.get(id, 0.0) for arm in arms) / len(arms) for id in ids}


def decay(event_at: datetime, now: datetime, category: str = "") -> float:
    """Returns what a memory last said at that moment still counts: exp(-0.01 × days), by category."""
    return math.exp(-DECAY_OF.get(category, DECAY_PER_DAY) * age_days(event_at, now))


def age_days(event_at: datetime, now: datetime) -> float:
    """Returns how many days ago the moment was; none for one in the future."""
    return max((now - event_at).total_seconds() / 86_400, 0.0)


def _decay(memory: Mapping[str, Any], asker: Asker, question: str) -> float:
    return decay(memory["event_at"], asker.now, memory["category"])


def _stale(memory: Mapping[str, Any], asker: Asker, question: str) -> float:
    return STALE_FACTOR if memory["state"] in ("stale", "archived", "cold") else 1.0


def _elsewhere(memory: Mapping[str, Any], asker: Asker, question: str) -> float:
    elsewhere = asker.project and memory["scope"] == "project" and memory["project"] != asker.project
    another = asker.person and memory["scope"] == "person" and memory["person"] != asker.person
    return ELSEWHERE_FACTOR ** (bool(elsewhere) + bool(another))


def _used(memory: Mapping[str, Any], asker: Asker, question: str) -> float:
    return 1.0 + (memory.get("boost") or 0.0)


def _tone(memory: Mapping[str, Any], asker: Asker, question: str) -> float:
    same = memory["sentiment"] != "neutral" and memory["sentiment"] == sentiment_of(question)
    return TONE_FACTOR if same else 1.0


FACTORS: dict[str, Callable[[Mapping[str, Any], Asker, str], float]] = {
    "decay": _decay,
    "stale": _stale,
    "elsewhere": _elsewhere,
    "used": _used,
    "tone": _tone,
}
"""used: what earlier answers made of the memory; tone: whether it was said as the question is asked."""


def weights_of(memory: Mapping[str, Any], asker: Asker, question: str, factors: Sequence[str]) -> dict[str, float]:
    """Returns what a candidate's score is multiplied with, by factor; those that change nothing are left out."""
    weights = {name: FACTORS[name](memory, asker, question) for name in factors}
    return {name: round(weight, 4) for name, weight in weights.items() if weight != 1.0}


def _scaled(hits: Sequence[Hit]) -> dict[str, float]:
    low, high = min(hit.score for hit in hits), max(hit.score for hit in hits)
    # The worst candidate keeps a tenth, so that a single hit, or one of equal ones, is not nothing.
    return {hit.id: 0.1 + 0.9 * ((hit.score - low) / (high - low) if high > low else 1.0) for hit in hits}
