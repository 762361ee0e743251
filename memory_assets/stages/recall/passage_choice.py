"""Chooses, of a large corpus, the passages that a question is compared with one by one.

Up to `MOST_COMPARED` passages all are compared. Beyond it the time would grow with the corpus, so the candidates are found by
what is cheap for every passage: the scores of its words, and the signs of its vector. A processor compares the signs of a
million vectors in some tens of milliseconds. The nearest by signs are compared exactly, and the best of both are taken with the
passages around them. The farthest are taken, too, so that scores are scaled as among all passages.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from memory_assets.schema.protocols import Texts
from memory_assets.text.signs import count_differing, fewest

MOST_COMPARED = 100_000
"""Passages that are all compared, in about 35 ms; of more, the chosen ones take less."""

BY_SIGNS = 8_000
"""Passages whose vectors are compared exactly."""

CHOSEN = 1_500
"""Best passages by words, and by vectors: 1,000 to 5,000 find the same first five in 97.5 of 100, and take 24 to 65 ms."""

FARTHEST = 300
"""Passages with the fewest equal signs: the least scores, from which scores are scaled."""


@dataclass(frozen=True)
class _Picked(Sequence[str]):
    """The names of some rows."""

    names: Sequence[str]
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        return [self.names[int(row)] for row in self.rows[at]] if isinstance(at, slice) else self.names[int(self.rows[at])]


class ChosenTexts:
    """Some rows of a corpus, ascending; each stretch of neighbouring rows of a group is a group of its own."""

    def __init__(self, whole: Texts, rows: np.ndarray) -> None:
        self.whole, self.rows = whole, rows
        self.ids, self.group_ids = _Picked(whole.ids, rows), ()
        self.parents, self.order, self.lengths = whole.parents[rows], whole.order[rows], whole.lengths[rows]
        groups = whole.groups[rows]
        breaks = (np.diff(rows) != 1) | (np.diff(groups) != 0)
        self.groups = np.concatenate([[0], np.cumsum(breaks)]).astype(np.int32)[: len(rows)]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def vectors(self) -> np.ndarray:
        """The vectors of the rows."""
        return self.whole.vectors[self.rows]

    def words_of(self, row: int) -> np.ndarray:
        """Returns the codes of the row's words."""
        return self.whole.words_of(int(self.rows[row]))


def choose_rows(
    texts: Texts, scores: Mapping[str, np.ndarray], vector: np.ndarray | None, allowed: np.ndarray | None, reach: int
) -> np.ndarray:
    """Returns the rows to compare, ascending; `scores` are those of words and of memories.

    `allowed` says which rows may be found.
    """
    chosen = [np.zeros(1, dtype=np.int64)]
    for mask in (None,) if allowed is None else (None, allowed):  # scores are scaled among all rows
        chosen += _promising(texts, scores, vector, mask)
    best = np.concatenate(chosen)
    around = np.concatenate([best + step for step in range(-reach, reach + 1)])
    return np.unique(around[(around >= 0) & (around < len(texts))])


def _promising(
    texts: Texts, scores: Mapping[str, np.ndarray], vector: np.ndarray | None, allowed: np.ndarray | None
) -> Iterator[np.ndarray]:
    """Yields the best rows by words, those where memories were learnt, and the best by vectors."""
    near_words = np.flatnonzero(scores["around"] if allowed is None else np.where(allowed, scores["around"], 0.0))
    fused = sum(_shares(scores[name], near_words) for name in ("row", "around", "group"))
    yield near_words[_best(np.asarray(fused), CHOSEN)]
    of_memories = np.flatnonzero(scores["near"])
    yield of_memories if allowed is None else of_memories[allowed[of_memories]]
    if vector is not None and texts.vectors.shape[1] == len(vector):
        differing, size = count_differing(texts.signs, vector), len(vector)
        if allowed is None:
            yield fewest(size - differing, size, FARTHEST)[:FARTHEST]
        else:
            differing[~allowed] = size + 1
        near = fewest(differing, size, BY_SIGNS)
        yield near[_best(texts.vectors[near].astype(np.float32, copy=False) @ vector, CHOSEN)]


def _best(scores: np.ndarray, most: int) -> np.ndarray:
    """Returns the places of the best scores."""
    return np.argpartition(-scores, most - 1)[:most] if len(scores) > most else np.arange(len(scores))


def _shares(scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Returns the scores of the rows as shares of the best."""
    own = scores[rows]
    return own / max(float(own.max(initial=0.0)), 1e-9)
