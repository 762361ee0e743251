"""Finds memories: facts and narratives that were distilled, by their words and by their meaning.

Candidates of both arms are over-fetched, since filters act on them; where filters leave few, more are fetched. Scores are
fused, not ranks: scaled over the candidates of each arm, half and half (on LoCoMo's turns this beats reciprocal ranks by four
to eight points of recall@10 and is the best fusion that was not tuned on the same questions).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from memory_assets.schema.protocols import Hit, Texts, VectorIndex
from memory_assets.stages.recall.lookups import rows_of
from memory_assets.stages.recall.rank import fuse
from memory_assets.stages.recall.said import Sought

OVER_FETCHED = 60
"""Candidates of each arm."""

ENOUGH = 20
"""Candidates of an arm that should remain after filters."""

GROWTH = 6
LARGEST = OVER_FETCHED * GROWTH**3

Fetch = Callable[[int], list[Hit]]


@dataclass(frozen=True)
class Candidates:
    """Memories that passed the filters, as rows of the table, with what the arms say of them by id."""

    rows: pl.DataFrame
    fused: Mapping[str, float]
    keyword: Mapping[str, float]
    """BM25."""
    vector: Mapping[str, float]
    """Cosine."""
    queries: int
    """How often an index was asked."""

    def arms_of(self, id: str) -> tuple[str, ...]:
        """Returns the arms that found the memory."""
        return tuple(name for name, hits in (("keyword", self.keyword), ("vector", self.vector)) if id in hits)


def find_facts(
    sought: Sought, memories: pl.DataFrame, texts: Texts | None, vectors: VectorIndex | None, condition: pl.Expr
) -> Candidates:
    """Returns the candidates among the memories that fulfil the condition."""
    queries = 0
    words: list[Hit] = []
    if texts is not None and len(texts) and sought.terms:
        scores = texts.score(sought.terms)
        words, asked = _fetch(lambda count: _best(texts, scores, count), memories, condition)
        queries += asked
    near: list[Hit] = []
    if vectors is not None and sought.vector is not None:
        vector = sought.vector
        near, asked = _fetch(lambda count: vectors.find(vector, count), memories, condition)
        queries += asked
    fused = fuse(words, near)
    rows = rows_of(memories, fused)
    return Candidates(rows, fused, {hit.id: hit.score for hit in words}, {hit.id: hit.score for hit in near}, queries)


def _best(texts: Texts, scores: np.ndarray, count: int) -> list[Hit]:
    """Returns the rows with the best scores above none, best first."""
    found = np.flatnonzero(scores)
    if len(found) > count:
        found = found[np.argpartition(-scores[found], count - 1)[:count]]
    hits = [Hit(texts.ids[int(row)], float(scores[row])) for row in found]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def _fetch(fetch: Fetch, memories: pl.DataFrame, condition: pl.Expr) -> tuple[list[Hit], int]:
    """Returns the hits that pass, at most `OVER_FETCHED`, and how often was asked; asks for more while few pass."""
    count, asked = OVER_FETCHED, 0
    while True:
        hits, asked = fetch(count), asked + 1
        found = rows_of(memories, (hit.id for hit in hits))
        passing = set(found.filter(condition)["id"])
        kept = [hit for hit in hits if hit.id in passing]
        if len(kept) >= ENOUGH or len(hits) < count or count >= LARGEST:
            return kept[:OVER_FETCHED], asked
        count *= GROWTH
