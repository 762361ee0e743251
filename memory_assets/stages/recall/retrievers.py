"""Opens what is searched for a question, once: texts, vectors, and the memories nearest to it.

Without vectors the words answer alone, without words the vectors. Which of them failed, why, and
what the search cost is collected for the answer.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
import polars as pl

from memory_assets.errors import IndexFailedError, ModelError
from memory_assets.schema.protocols import Embedder, Hit, Read, TextReader, Texts, VectorIndex
from memory_assets.schema.requests import Filters
from memory_assets.stages.embed.corrections import UNKNOWN
from memory_assets.stages.recall.lookups import fulfilling, places_of
from memory_assets.stages.recall.memory_search import (
    FACTORS,
    MemoryHits,
    best_hits,
    fuse,
    scores_of,
)
from memory_assets.stages.recall.message_search import SearchQuery
from memory_assets.text.terms import idf, text_terms

OVER_FETCHED = 60
"""Candidates of each retriever."""

ENOUGH = 20
"""Candidates of a retriever that should remain after filters."""

GROWTH = 6
LARGEST = OVER_FETCHED * GROWTH**3

MISSING = "The {} index is missing. `memory data rebuild --indexes` builds it from the tables."


@dataclass(frozen=True)
class Corpus:
    """What is searched."""

    memories: pl.DataFrame
    texts: TextReader
    vectors: VectorIndex | None = None
    embedder: Embedder | None = None
    read_passages: Callable[[Sequence[str]], pl.DataFrame] | None = None
    """Ids → rows with passage, whole (the message's text), char_from, char_to, author, role and the
    columns of a result.
    """
    select_passages: Callable[[Filters], Sequence[str]] | None = None
    """Filters → ids of the passages that pass."""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The owner's names of things, beside the well-known ones."""
    factors: Sequence[str] = tuple(FACTORS)
    """The factors of the fused scores."""
    unmerged: Collection[str] = ()
    """Ids of notes that no merge has compared with other memories yet."""


class Retrievers:
    """The texts and vectors of a corpus, opened for one question."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.failed: set[str] = set()
        """Those of `keyword` and `vector` that did not answer."""
        self.notes: list[str] = []
        self.embeddings = 0
        self.queries = 0
        """Number of queries to an index."""
        self.texts = cache(self._open_texts)
        self._vector = cache(lambda text: getattr(self._embed(text), "vector", None))
        self._word_scores = cache(self._score_words)
        self._by_words = cache(self._find_by_words)
        self._by_meaning = cache(self._find_by_meaning)

    @property
    def working(self) -> str | None:
        """The only retriever that worked, or `nothing`; None where all did."""
        working = {"keyword", "vector"} - self.failed
        return next(iter(working), "nothing") if self.failed else None

    def _open_texts(self, name: str) -> Texts | None:
        """Returns the texts of a corpus; None where there are none, or where that failed."""
        try:
            self._expect_index("text", self.corpus.texts)
            return self.corpus.texts.open(name)
        except IndexFailedError as error:
            return self._fail("keyword", error)

    def _fail(self, retriever: str, error: Exception) -> None:
        self.failed.add(retriever)
        self.notes.append(str(error))

    def _expect_index(self, name: str, index: TextReader | VectorIndex) -> None:
        # Notes that are not merged yet need no index.
        are_all_new = self.corpus.memories.height <= len(self.corpus.unmerged)
        if index.generation() is None and not are_all_new:
            raise IndexFailedError(MISSING.format(name))

    def query(self, text: str, terms: Mapping[str, float]) -> SearchQuery:
        """Returns the query for these terms and for the meaning of the text."""
        read = self._embed(text)
        if read is None:
            return SearchQuery(text, terms)
        weights = self._word_weights(read.spellings)
        return SearchQuery(text, terms, read.vector, read.words, weights)

    def _embed(self, text: str) -> Read | None:
        corpus = self.corpus
        if corpus.vectors is None or corpus.embedder is None:
            self.failed.add("vector")
            return None
        try:
            self._expect_index("vector", corpus.vectors)
            self.embeddings += 1
            return corpus.embedder.read_query(text)
        except (IndexFailedError, ModelError) as error:
            return self._fail("vector", error)

    def likeness(self, text: str, other: str) -> float:
        """Returns the cosine of two texts; without vectors, what is assumed."""
        vectors = [vector for vector in map(self._vector, (text, other)) if vector is not None]
        return float(np.dot(*vectors)) if len(vectors) == 2 else UNKNOWN

    def _word_weights(self, spellings: Sequence[str]) -> np.ndarray | None:
        """Returns the weight of each word of the question: more if it is rare in messages; its
        pieces share the weight.
        """
        texts = self.texts("messages")
        if not spellings or texts is None or not len(texts):
            return None
        weights: dict[str, float] = {}
        for word, count in Counter(spellings).items():
            frequencies = (len(texts.postings(term)[0]) for term in text_terms(word))
            weights[word] = idf(len(texts), max(frequencies, default=0)) / count
        return np.array([weights[word] for word in spellings])

    def near_memories(self, query: SearchQuery, condition: pl.Expr) -> MemoryHits:
        """Returns the memories nearest to the query that fulfil the condition; each index is asked
        once for so many, whatever they are for.
        """
        memories = self.corpus.memories
        fulfils = fulfilling(memories, condition)
        words = self._fetch(partial(self._by_words, query), fulfils)
        near = self._fetch(partial(self._by_meaning, query), fulfils)
        fused = fuse(words, near)
        return MemoryHits(memories, fused, scores_of(words), scores_of(near))

    def _fetch(self, find: Callable[[int], list[Hit]], mask: np.ndarray) -> list[Hit]:
        """Returns the hits that the mask lets pass, at most `OVER_FETCHED`; asks for more while few
        pass.
        """
        places = places_of(self.corpus.memories)
        count = OVER_FETCHED
        while True:
            hits = find(count)
            passing = [hit for hit in hits if hit.id in places and mask[places[hit.id]]]
            if len(passing) >= ENOUGH or len(hits) < count or count >= LARGEST:
                return passing[:OVER_FETCHED]
            count *= GROWTH

    def _find_by_words(self, query: SearchQuery, count: int) -> list[Hit]:
        texts = self.texts("memories")
        if not texts or not query.terms:
            return []
        self.queries += 1
        return best_hits(texts, self._word_scores(query), count)

    def _score_words(self, query: SearchQuery) -> np.ndarray:
        texts = self.texts("memories")
        return texts.score(query.terms) if texts else np.zeros(0)

    def _find_by_meaning(self, query: SearchQuery, count: int) -> list[Hit]:
        if self.corpus.vectors is None or query.vector is None:
            return []
        try:
            hits = self.corpus.vectors.find(query.vector, count)
        except IndexFailedError as error:
            self._fail("vector", error)
            return []
        self.queries += 1
        return hits
