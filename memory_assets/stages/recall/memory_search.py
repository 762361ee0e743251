"""Finds memories, facts and narratives, by their words and by their meaning, and weighs them.

Scores are fused, not ranks: scaled over the candidates of each retriever, half and
half (on LoCoMo's turns this beats reciprocal ranks by four to eight points of recall@10 and is the
best fusion that was not tuned on the same questions).

The fused score is multiplied with factors. Each can be switched off; `make bench ROWS=factors`
prints the gain of each. Decay depends on the category: what becomes stale after 90 days loses a
hundredth a day, what becomes stale after 180 half of that, a rule nothing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain

import numpy as np
import polars as pl

from memory_assets.schema.protocols import Hit, Row, Texts
from memory_assets.stages.distill.items import sentiment_of
from memory_assets.stages.recall.lookups import rows_of
from memory_assets.stages.recall.results import Asker
from memory_assets.text.best_rows import best_rows

DECAY_PER_DAY = 0.01
"""A fact of 70 days counts half, one of 180 days a sixth."""

DECAY_OF = {"rules-conventions": 0.0, "preferences": 0.005, "people-relationships": 0.005}
"""Categories that decay more slowly, or never."""

STALE_FACTOR = 0.5
"""Of a memory that is stale, archived or cold."""

ELSEWHERE_FACTOR = 0.8
"""Of another project's or person's memory when the asker's own is known."""

TONE_FACTOR = 1.05
"""Of a memory with the sentiment of the question, where that is not neutral."""


@dataclass(frozen=True)
class MemoryHits:
    """Memories that passed the filters, with their scores by id."""

    memories: pl.DataFrame
    """All memories."""
    fused: Mapping[str, float]
    keyword: Mapping[str, float]
    """BM25."""
    vector: Mapping[str, float]
    """Cosine."""

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The rows of those that passed."""
        return rows_of(self.memories, self.fused)

    def retrievers_of(self, id: str) -> tuple[str, ...]:
        """Returns the retrievers that found the memory."""
        scores = {"keyword": self.keyword, "vector": self.vector}
        return tuple(name for name, hits in scores.items() if id in hits)


def best_hits(texts: Texts, scores: np.ndarray, count: int) -> list[Hit]:
    """Returns the rows with the best scores above 0, best first."""
    rows = [int(row) for row in best_rows(scores, count) if scores[row]]
    hits = [Hit(texts.ids[row], float(scores[row])) for row in rows]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def fuse(keywords: Sequence[Hit], vectors: Sequence[Hit]) -> dict[str, float]:
    """Returns a score from 0 to 1 for each candidate; where one retriever found nothing, the other
    counts whole.
    """
    shares = [_scaled(hits) for hits in (keywords, vectors) if hits]
    fused = dict.fromkeys(chain.from_iterable(shares), 0.0)
    for id in fused:
        fused[id] = sum(scores.get(id, 0.0) for scores in shares) / len(shares)
    return fused


def decay(event_at: datetime, now: datetime, category: str = "") -> float:
    """Returns the factor of a memory of that moment: exp(-0.01 × days), by category; none for one
    in the future.
    """
    days = max((now - event_at).total_seconds() / 86_400, 0.0)
    return math.exp(-DECAY_OF.get(category, DECAY_PER_DAY) * days)


def _elsewhere(memory: Row, asker: Asker) -> float:
    scope = memory["scope"]
    present = {"project": asker.project, "person": asker.person}.get(scope)
    return ELSEWHERE_FACTOR if present and memory[scope] != present else 1.0


FACTORS: dict[str, Callable[[Row, Asker, str], float]] = {
    "decay": lambda memory, asker, _: decay(memory["event_at"], asker.now, memory["category"]),
    "stale": lambda memory, *_: (
        STALE_FACTOR if memory["state"] in ("stale", "archived", "cold") else 1.0
    ),
    "elsewhere": lambda memory, asker, _: _elsewhere(memory, asker),
    "used": lambda memory, *_: 1.0 + (memory.get("boost") or 0.0),
    "tone": lambda memory, _, question: (
        TONE_FACTOR
        if memory["sentiment"] != "neutral" and memory["sentiment"] == sentiment_of(question)
        else 1.0
    ),
}
"""used: how earlier answers used the memory; tone: whether it has the sentiment of the question."""


def weights_of(
    memory: Row, asker: Asker, question: str, factors: Sequence[str]
) -> dict[str, float]:
    """Returns the factors of a candidate's score by name; those of 1 are left out."""
    weights = {name: FACTORS[name](memory, asker, question) for name in factors}
    return {name: round(weight, 4) for name, weight in weights.items() if weight != 1.0}


def scores_of(hits: Sequence[Hit]) -> dict[str, float]:
    """Returns the scores by id."""
    return {hit.id: hit.score for hit in hits}


def _scaled(hits: Sequence[Hit]) -> dict[str, float]:
    scores = scores_of(hits)
    low = min(scores.values())
    size = max(scores.values()) - low
    if size == 0:
        return dict.fromkeys(scores, 1.0)
    # The worst candidate keeps a tenth, so that it is not 0.
    return {id: 0.1 + 0.9 * ((score - low) / size) for id, score in scores.items()}
