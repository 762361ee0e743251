"""Extends the two indexes by memories saved since they were built, so that new notes are found at once.

Both classes wrap a published index and add the few memories that it lacks. Their words are added in memory, so that they are
scored like the others; a vector is computed on first use. Both are cached while the process runs, until another generation is
published or another note is saved.
"""

from collections.abc import Iterable

import numpy as np
import polars as pl

from memory_assets.adapters.text_arrays import TextArrays, change_arrays, empty_arrays
from memory_assets.adapters.text_index import CORPORA
from memory_assets.schema.protocols import Embedder, Hit, TextIndex, Texts, VectorIndex
from memory_assets.stages.embed.project import memory_rows

MEMORIES = CORPORA[0]


class FreshTexts:
    """A text index extended by memories that it does not contain yet."""

    def __init__(self, index: TextIndex, memories: pl.DataFrame) -> None:
        self._index = index
        self._memories = memories
        self._open: tuple[Texts | None, Texts | None] | None = None

    def open(self, corpus: str) -> Texts | None:
        """Returns the published corpus, extended by the fresh memories."""
        published = self._index.open(corpus)
        if corpus != MEMORIES:
            return published
        if self._open is None or self._open[0] is not published:
            self._open = (published, self._with_fresh(published))
        return self._open[1]

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        return self._index.generation()

    def _with_fresh(self, published: Texts | None) -> Texts | None:
        missing = _missing(self._memories["id"], published)
        rows = memory_rows(self._memories.filter(pl.col("id").is_in(missing)))
        if rows.is_empty():
            return published
        arrays = published if isinstance(published, TextArrays) else empty_arrays()
        return change_arrays(arrays, rows, ())


class FreshVectors:
    """A vector index extended by memories that it does not contain yet."""

    def __init__(self, index: VectorIndex, texts: TextIndex, memories: pl.DataFrame, embedder: Embedder) -> None:
        self._index = index
        self._texts = texts
        self._memories = memories
        self._embedder = embedder
        self._made: dict[str, np.ndarray] = {}

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine."""
        found = {hit.id: hit for hit in self._index.find(vector, limit)}
        fresh = self._fresh()
        if fresh:
            scores = np.stack(list(fresh.values())) @ np.asarray(vector, dtype=np.float32)
            found |= {id: Hit(id, float(score)) for id, score in zip(fresh, scores, strict=True)}
        return sorted(found.values(), key=lambda hit: (-hit.score, hit.id))[:limit]

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        return self._index.generation()

    def _fresh(self) -> dict[str, np.ndarray]:
        """Returns the vectors of the memories that the published generation lacks."""
        rows = dict(self._memories.select("id", "text").iter_rows())
        for id in (missing := _missing(rows, self._texts.open(MEMORIES))):
            if id not in self._made:
                self._made[id] = self._embedder.encode_query(rows[id])
        return {id: self._made[id] for id in missing}


def _missing(ids: Iterable[str], published: Texts | None) -> list[str]:
    """Returns the ids that the published text index lacks; both indexes are built together, and this one is cheap to read."""
    return [id for id in ids if published is None or not len(published.rows_of([id]))]
