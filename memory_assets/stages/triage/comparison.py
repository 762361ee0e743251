"""Compares statements with each other: whether two say the same, and whether one contradicts the
other.

Words decide (`embed/claims.py`, `embed/conflicts.py`); with an embedder the same is also found in
other words. Without one, two statements are the same only in nearly the same words.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from memory_assets.english.claims import read_claim
from memory_assets.stages.embed.claims import same_claim
from memory_assets.stages.embed.conflicts import CONSIDERED_FROM, find_conflict

SIMILAR_WORDS = 0.8
"""Share of common words from which two statements are compared without vectors."""

Encode = Callable[[Sequence[str]], np.ndarray | None]
"""Gives unit-length vectors of texts; None where there is no embedder."""


def says_the_same(newer: str, older: str) -> bool:
    """Returns whether the two make the same claim in nearly the same words."""
    words = read_claim(newer).words
    older_words = read_claim(older).words
    overlap = len(words & older_words) / max(len(words | older_words), 1)
    return overlap >= SIMILAR_WORDS and same_claim(newer, older, 1.0) is not None


@dataclass(frozen=True)
class StatementComparison:
    """Compares statements by their words and, where there is an embedder, by their vectors."""

    encode: Encode = lambda _: None
    _vectors: dict[str, np.ndarray | None] = field(default_factory=dict)

    def says_the_same(self, newer: str, older: str) -> bool:
        """Returns whether the two make the same claim, in whatever words."""
        if says_the_same(newer, older):
            return True
        common_words = read_claim(newer).words & read_claim(older).words
        cosine = self._cosine(newer, older) if common_words else None
        return cosine is not None and same_claim(newer, older, cosine) is not None

    def contradicts(self, newer: str, older: str) -> bool:
        """Returns whether the newer statement contradicts or replaces the older one."""
        if find_conflict(newer, older) is None:
            return False
        cosine = self._cosine(newer, older)
        return cosine is None or cosine >= CONSIDERED_FROM

    def _cosine(self, newer: str, older: str) -> float | None:
        vectors = [self._vector(newer), self._vector(older)]
        known_vectors = [vector for vector in vectors if vector is not None]
        return float(np.dot(*known_vectors)) if len(known_vectors) == len(vectors) else None

    def _vector(self, text: str) -> np.ndarray | None:
        if text not in self._vectors:
            vectors = self.encode([text])
            self._vectors[text] = None if vectors is None else vectors[0]
        return self._vectors[text]
