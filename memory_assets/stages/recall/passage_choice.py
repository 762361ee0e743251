"""Chooses, of a large corpus, the passages that a question is compared with one by one.

Up to `MOST_COMPARED` passages all are compared. Beyond it the time would grow with the corpus, so
the candidates are found by what is cheap for every passage: the scores of its own words and of
those beside it, and the signs of its vector. A processor compares the signs of a million vectors in
less than ten milliseconds. The nearest by signs are compared exactly, and the best of both are
taken with the passages around them. The farthest are taken, too, so that scores are scaled as among
all passages.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from memory_assets.schema.protocols import Texts
from memory_assets.text.best_rows import best_rows
from memory_assets.text.vectors import count_differing, fewest, gather, products

MOST_COMPARED = 100_000
"""Passages that are all compared, in about 35 ms; of more, the chosen ones take less."""

BY_SIGNS = 8_000
"""Passages whose vectors are compared exactly."""

CHOSEN = 1_000
"""Best passages by words, and by vectors: up to 5,000 find no more of the first five of an exact
search, 97.5 of 100, and take 40 ms longer."""

FARTHEST = 300
"""Passages with the fewest equal signs: the least scores, from which scores are scaled."""


class ChosenTexts:
    """Some rows of a corpus, ascending; each stretch of neighbouring rows of a group is a group of
    its own.
    """

    def __init__(self, whole: Texts, rows: np.ndarray) -> None:
        self.whole = whole
        self.rows = rows
        self.group_ids = ()
        self.parents = whole.parents[rows]
        self.order = whole.order[rows]
        self.lengths = whole.lengths[rows]
        groups = whole.groups[rows]
        breaks = (np.diff(rows) != 1) | (np.diff(groups) != 0)
        self.groups = np.concatenate([[0], np.cumsum(breaks)]).astype(np.int32)[: len(rows)]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def vectors(self) -> np.ndarray:
        """The vectors of the rows."""
        return gather(self.whole.vectors, self.rows)

    def words_of(self, row: int) -> np.ndarray:
        """Returns the codes of the row's words."""
        return self.whole.words_of(int(self.rows[row]))

    def postings(self, term: str) -> tuple[np.ndarray, np.ndarray]:
        """Returns the rows that contain the term, ascending, and its counts."""
        rows, counts = self.whole.postings(term)
        places = self._places[rows]
        return places[places >= 0], counts[places >= 0]

    @cached_property
    def _places(self) -> np.ndarray:
        """Place of each row of the corpus among the chosen ones, -1 for others."""
        places = np.full(len(self.whole), -1, dtype=np.int32)
        places[self.rows] = np.arange(len(self.rows))
        return places


def choose_rows(
    texts: Texts,
    fits: np.ndarray,
    learnt: np.ndarray,
    vector: np.ndarray | None,
    allowed: np.ndarray | None,
    reach: int,
) -> np.ndarray:
    """Returns the rows to compare, ascending: the best and those around them.

    `fits` says how well the words of each row fit (`fit_of_words`), `learnt` where memories that
    fit were learnt, `allowed` which rows may be found.
    """
    chosen = [np.zeros(1, dtype=np.int64), learnt, *_by_vectors(texts, vector, allowed)]
    # Scores are scaled among all rows.
    for values in (fits,) if allowed is None else (fits, np.where(allowed, fits, 0.0)):
        best = best_rows(values, CHOSEN)
        chosen.append(best[values[best] > 0])
    return widened(np.concatenate(chosen), reach, len(texts))


def widened(rows: np.ndarray, reach: int, count: int) -> np.ndarray:
    """Returns the rows and those around them, of so many in all, ascending."""
    is_in = np.zeros(count, dtype=bool)
    for step in range(-reach, reach + 1):
        is_in[(rows + step).clip(0, count - 1)] = True
    return np.flatnonzero(is_in)


def fit_of_words(row: np.ndarray, group: np.ndarray, groups: np.ndarray, reach: int) -> np.ndarray:
    """Returns how well the words of each row, of the rows around it, and of its group fit: the sum
    of their shares of the best.

    Takes the scores of the rows, float32, those of the groups, and the group of each row. Scores
    around a row are added up even where a group ends, as this only chooses.
    """
    around = row.copy()
    for step in range(1, reach + 1):
        around[step:] += row[:-step]
        around[:-step] += row[step:]
    # Indices are not checked again.
    fits = np.take((group * _share_of_best(group)).astype(np.float32), groups, mode="clip")
    around *= _share_of_best(around)
    fits += around
    fits += np.multiply(row, _share_of_best(row), out=around)
    return fits


def _share_of_best(scores: np.ndarray) -> np.float32:
    """Returns the factor that makes shares of the best score of scores."""
    return np.float32(1 / max(float(scores.max(initial=0.0)), 1e-9))


def _by_vectors(
    texts: Texts, vector: np.ndarray | None, allowed: np.ndarray | None
) -> Iterator[np.ndarray]:
    """Yields the rows farthest from the vector, the nearest, and the nearest of those allowed."""
    if vector is None or texts.vectors.shape[1] != len(vector):
        return
    size = len(vector)
    differing = count_differing(texts.signs, vector)
    yield fewest(size - differing, size, FARTHEST)[:FARTHEST]
    yield _nearest(texts, vector, differing)
    if allowed is not None:
        differing[~allowed] = size + 1
        yield _nearest(texts, vector, differing)


def _nearest(texts: Texts, vector: np.ndarray, differing: np.ndarray) -> np.ndarray:
    near = fewest(differing, len(vector), BY_SIGNS)
    return near[best_rows(products(texts.vectors, near, vector), CHOSEN)]
