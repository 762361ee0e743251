"""Fuses the scores of words and of vectors, and multiplies them with the factors of each memory.

Each factor can be switched off; `make bench ROWS=factors` prints the gain of each. Decay depends on the category: what becomes
stale after 90 days loses a hundredth a day, what becomes stale after 180 half of that, a rule nothing.
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
"""Categories that decay more slowly, or never."""

STALE_FACTOR = 0.5
ELSEWHERE_FACTOR = 0.8
"""Of another project's or person's memory when the asker's own is known."""

TONE_FACTOR = 1.05
"""Of a memory with the sentiment of the question, where that is not neutral."""


def fuse(keywords: Sequence[Hit], vectors: Sequence[Hit]) -> dict[str, float]:
    """Returns a score from 0 to 1 for each candidate; where one retriever found nothing, the other counts whole."""
    found = [_scaled(hits) for hits in (keywords, vectors) if hits]
    ids = dict.fromkeys(id for scores in found for id in scores)
    return {id: sum(scores.get(id, 0.0) for scores in found) / len(found) for id in ids}


def decay(event_at: datetime, now: datetime, category: str = "") -> float:
    """Returns the factor of a memory of that moment: exp(-0.01 × days), by category; none for one in the future."""
    days = max((now - event_at).total_seconds() / 86_400, 0.0)
    return math.exp(-DECAY_OF.get(category, DECAY_PER_DAY) * days)


def _elsewhere(memory: Mapping[str, Any], asker: Asker) -> float:
    elsewhere = asker.project and memory["scope"] == "project" and memory["project"] != asker.project
    another = asker.person and memory["scope"] == "person" and memory["person"] != asker.person
    return ELSEWHERE_FACTOR ** (bool(elsewhere) + bool(another))


FACTORS: dict[str, Callable[[Mapping[str, Any], Asker, str], float]] = {
    "decay": lambda memory, asker, _: decay(memory["event_at"], asker.now, memory["category"]),
    "stale": lambda memory, *_: STALE_FACTOR if memory["state"] in ("stale", "archived", "cold") else 1.0,
    "elsewhere": lambda memory, asker, _: _elsewhere(memory, asker),
    "used": lambda memory, *_: 1.0 + (memory.get("boost") or 0.0),
    "tone": lambda memory, _, question: (
        TONE_FACTOR if memory["sentiment"] != "neutral" and memory["sentiment"] == sentiment_of(question) else 1.0
    ),
}
"""used: how earlier answers used the memory; tone: whether it has the sentiment of the question."""


def weights_of(memory: Mapping[str, Any], asker: Asker, question: str, factors: Sequence[str]) -> dict[str, float]:
    """Returns the factors of a candidate's score by name; those of 1 are left out."""
    weights = {name: FACTORS[name](memory, asker, question) for name in factors}
    return {name: round(weight, 4) for name, weight in weights.items() if weight != 1.0}


def _scaled(hits: Sequence[Hit]) -> dict[str, float]:
    low, high = min(hit.score for hit in hits), max(hit.score for hit in hits)
    # The worst candidate keeps a tenth, so that a single hit, or one of equal ones, is not 0.
    return {hit.id: 0.1 + 0.9 * ((hit.score - low) / (high - low) if high > low else 1.0) for hit in hits}
