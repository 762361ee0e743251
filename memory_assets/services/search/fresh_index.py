"""Published indexes extended by the memories that they lack, so that these are found at once.

Memories are saved before an index contains them, or before there is one. Their words are added in
memory, so that they are scored like the others; a vector is computed by the first process that
needs it, and kept in `index/notes` until an index contains it.
"""

import numpy as np
import polars as pl

from memory_assets.adapters.text_arrays import TextArrays, change_arrays, empty_arrays
from memory_assets.adapters.text_index import CORPORA, TextIndex
from memory_assets.adapters.vector_files import VectorFiles
from memory_assets.schema.protocols import Embedder, Hit, Texts, VectorIndex
from memory_assets.stages.embed.project import memory_rows
from memory_assets.stages.recall.lookups import remembered

MEMORIES = CORPORA[0]


class FreshTexts:
    """A text index extended by memories that it does not contain yet."""

    def __init__(self, index: TextIndex, memories: pl.DataFrame) -> None:
        self._memories = memories
        self._published = index.open
        self._extended = remembered(self._extend)
        self.generation = index.generation

    def open(self, corpus: str) -> Texts | None:
        """Returns the published corpus, extended by the fresh memories."""
        published = self._published(corpus)
        return self._extended(published) if corpus == MEMORIES else published

    def _extend(self, published: Texts | None) -> Texts | None:
        rows = memory_rows(_missing(self._memories, published))
        if rows.is_empty():
            return published
        arrays = published if isinstance(published, TextArrays) else empty_arrays()
        return change_arrays(arrays, rows, ())


class FreshVectors:
    """A vector index extended by memories that it does not contain yet."""

    def __init__(
        self,
        index: VectorIndex,
        texts: TextIndex,
        memories: pl.DataFrame,
        embedder: Embedder,
        files: VectorFiles,
    ) -> None:
        self._index = index
        self._texts = texts
        self._memories = memories
        self._embedder = embedder
        self._files = files
        self._vectors: dict[str, np.ndarray] = {}
        self.generation = index.generation

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine."""
        hits = {hit.id: hit for hit in self._index.find(vector, limit)}
        # Both indexes are built together, and that of texts is cheap to read.
        missing = _missing(self._memories, self._texts.open(MEMORIES))
        if not missing.is_empty():
            texts = zip(missing["text"], missing["text_hash"], strict=True)
            vectors = [self._vector_of(*text, len(vector)) for text in texts]
            scores = (np.stack(vectors) @ np.asarray(vector, dtype=np.float32)).tolist()
            pairs = zip(missing["id"], scores, strict=True)
            hits |= {id: Hit(id, score) for id, score in pairs}
        return sorted(hits.values(), key=lambda hit: (-hit.score, hit.id))[:limit]

    def _vector_of(self, text: str, text_hash: str, dimension: int) -> np.ndarray:
        if text_hash not in self._vectors:
            model = self._embedder.name
            vector = self._files.read(model, text_hash)
            if vector is None or len(vector) != dimension:
                vector = self._embedder.encode_query(text)
                self._files.write(model, text_hash, vector)
            self._vectors[text_hash] = vector
        return self._vectors[text_hash]


def _missing(memories: pl.DataFrame, published: Texts | None) -> pl.DataFrame:
    """Returns the memories that the published text index lacks."""
    if published is None:
        return memories
    missing = [id for id in memories["id"] if not len(published.rows_of([id]))]
    return memories.filter(pl.col("id").is_in(missing))
