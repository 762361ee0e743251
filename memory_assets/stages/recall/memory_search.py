"""Finds memories, facts and narratives, by their words and by their meaning, and weighs them.

More candidates are fetched than needed, since filters act on them; where filters leave few, more
are fetched. Scores are fused, not ranks: scaled over the candidates of each retriever, half and
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
from functools import cache, cached_property

import numpy as np
import polars as pl

from memory_assets.schema.protocols import Hit, Row, Texts, VectorIndex
from memory_assets.stages.distill.items import sentiment_of
from memory_assets.stages.recall.lookups import fulfilling, places_of, rows_of
from memory_assets.stages.recall.message_search import SearchQuery
from memory_assets.stages.recall.results import Asker
from memory_assets.text.best_rows import best_rows

OVER_FETCHED = 60
"""Candidates of each retriever."""

ENOUGH = 20
"""Candidates of a retriever that should remain after filters."""

GROWTH = 6
LARGEST = OVER_FETCHED * GROWTH**3

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
    """Memories that passed the filters, as rows of the table, with their scores by id."""

    rows: pl.DataFrame
    fused: Mapping[str, float]
    keyword: Mapping[str, float]
    """BM25."""
    vector: Mapping[str, float]
    """Cosine."""

    def retrievers_of(self, id: str) -> tuple[str, ...]:
        """Returns the retrievers that found the memory."""
        return tuple(
            name
            for name, hits in (("keyword", self.keyword), ("vector", self.vector))
            if id in hits
        )


class Candidates:
    """The memories nearest to a query, by words and by meaning; each index is asked once for so
    many, whatever they are for.
    """

    def __init__(
        self,
        query: SearchQuery,
        memories: pl.DataFrame,
        texts: Texts | None,
        vectors: VectorIndex | None,
    ) -> None:
        self._query, self._memories, self._texts, self._vectors = query, memories, texts, vectors
        self._by_words, self._near = cache(self._find_by_words), cache(self._find_near)
        self.queries = 0
        """Number of queries to an index."""

    def fulfilling(self, condition: pl.Expr) -> MemoryHits:
        """Returns those of them that fulfil the condition."""
        fulfils, places = fulfilling(self._memories, condition), places_of(self._memories)
        words, near = (self._fetch(find, fulfils, places) for find in (self._by_words, self._near))
        fused = fuse(words, near)
        keyword, vector = ({hit.id: hit.score for hit in hits} for hits in (words, near))
        return MemoryHits(rows_of(self._memories, fused), fused, keyword, vector)

    def _fetch(
        self, find: Callable[[int], list[Hit]], fulfils: np.ndarray, places: Mapping[str, int]
    ) -> list[Hit]:
        """Returns the hits that pass, at most `OVER_FETCHED`; asks for more while few pass."""
        count = OVER_FETCHED
        while True:
            hits = find(count)
            kept = [hit for hit in hits if hit.id in places and fulfils[places[hit.id]]]
            if len(kept) >= ENOUGH or len(hits) < count or count >= LARGEST:
                return kept[:OVER_FETCHED]
            count *= GROWTH

    def _find_by_words(self, count: int) -> list[Hit]:
        if self._texts is None or not len(self._texts) or not self._query.terms:
            return []
        self.queries += 1
        return _best(self._texts, self._word_scores, count)

    def _find_near(self, count: int) -> list[Hit]:
        if self._vectors is None or self._query.vector is None:
            return []
        self.queries += 1
        return self._vectors.find(self._query.vector, count)

    @cached_property
    def _word_scores(self) -> np.ndarray:
        assert self._texts is not None
        return self._texts.score(self._query.terms)


def _best(texts: Texts, scores: np.ndarray, count: int) -> list[Hit]:
    """Returns the rows with the best scores above 0, best first."""
    hits = [
        Hit(texts.ids[int(row)], float(scores[row]))
        for row in best_rows(scores, count)
        if scores[row]
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def fuse(keywords: Sequence[Hit], vectors: Sequence[Hit]) -> dict[str, float]:
    """Returns a score from 0 to 1 for each candidate; where one retriever found nothing, the other
    counts whole.
    """
    found = [_scaled(hits) for hits in (keywords, vectors) if hits]
    ids = dict.fromkeys(id for scores in found for id in scores)
    return {id: sum(scores.get(id, 0.0) for scores in found) / len(found) for id in ids}


def decay(event_at: datetime, now: datetime, category: str = "") -> float:
    """Returns the factor of a memory of that moment: exp(-0.01 × days), by category; none for one
    in the future.
    """
    days = max((now - event_at).total_seconds() / 86_400, 0.0)
    return math.exp(-DECAY_OF.get(category, DECAY_PER_DAY) * days)


def _elsewhere(memory: Row, asker: Asker) -> float:
    elsewhere = (
        asker.project and memory["scope"] == "project" and memory["project"] != asker.project
    )
    another = asker.person and memory["scope"] == "person" and memory["person"] != asker.person
    return ELSEWHERE_FACTOR ** (bool(elsewhere) + bool(another))


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


def _scaled(hits: Sequence[Hit]) -> dict[str, float]:
    low, high = min(hit.score for hit in hits), max(hit.score for hit in hits)
    # The worst candidate keeps a tenth, so that a single hit, or one of equal ones, is not 0.
    return {
        hit.id: 0.1 + 0.9 * ((hit.score - low) / (high - low) if high > low else 1.0)
        for hit in hits
    }
