"""BM25 of texts at three distances: the text itself, its surroundings, and its whole group (a session).

Short messages say little alone: "yes, do that" is about the message before it. So the same formula is computed over the term
counts of a row, of the rows around it, and of its group; all from the postings, when the question is asked.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from memory_assets.schema.protocols import Texts
from memory_assets.text.bm25 import bm25


class Layout:
    """The groups of a corpus, and which rows are around each row."""

    def __init__(self, texts: Texts, reach: int) -> None:
        self.texts, self.reach = texts, reach
        rows, groups = np.arange(len(texts)), texts.groups
        self.group_count = int(groups[-1]) + 1 if len(texts) else 0
        self.group_numbers = {name: number for number, name in enumerate(texts.group_ids)}
        self._starts = np.searchsorted(groups, np.arange(self.group_count + 1))
        self._low = np.maximum(rows - reach, self._starts[groups])
        self._high = np.minimum(rows + reach + 1, self._starts[groups + 1])

    def around(self, values: np.ndarray) -> np.ndarray:
        """Returns for each row the sum of the values of the rows around it, its own included; shape (rows,)."""
        sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
        return sums[self._high] - sums[self._low]

    def mean_around(self, values: np.ndarray) -> np.ndarray:
        """Returns for each row the mean of the values of the rows around it; shape (rows,)."""
        return self.around(values) / (self._high - self._low)

    def spread(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Returns the same as `around` of values that only these rows have, at the cost of these rows alone."""
        sums = np.zeros(len(self.texts))
        for step in range(-self.reach, self.reach + 1):
            beside = rows + step
            inside = (beside >= self._low[rows]) & (beside < self._high[rows])
            sums[beside[inside]] += values[inside]
        return sums

    def rows_within(self, group: str, first: int, last: int) -> slice:
        """Returns the rows of the group whose places are from `first` to `last`."""
        number = self.group_numbers.get(group)
        if number is None:
            return slice(0, 0)
        start, end = int(self._starts[number]), int(self._starts[number + 1])
        order = self.texts.order
        return slice(bisect_left(order, first, start, end), bisect_right(order, last, start, end))

    @cached_property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Number of terms around each row, and of each group."""
        return self.around(self.texts.lengths), np.bincount(self.texts.groups, self.texts.lengths, self.group_count)


def score_levels(layout: Layout, terms: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Returns the scores of all rows for the weighted terms, each of shape (rows,): `row`, `around` and `group`."""
    texts, (around_lengths, group_lengths) = layout.texts, layout.lengths
    around_mean, group_mean = (max(float(one.mean()), 1e-9) if len(one) else 1.0 for one in layout.lengths)
    around, group = np.zeros(len(texts)), np.zeros(layout.group_count)
    for term, weight in terms.items():
        rows, counts = texts.postings(term)
        if not len(rows):
            continue
        spread = layout.spread(rows, counts)
        near = np.flatnonzero(spread)
        around[near] += weight * bm25(spread[near], around_lengths[near], around_mean, len(around))
        sums = np.bincount(texts.groups[rows], counts, layout.group_count)
        held = np.flatnonzero(sums)
        group[held] += weight * bm25(sums[held], group_lengths[held], group_mean, len(group))
    return {"row": texts.score(terms), "around": around, "group": group[texts.groups] if len(texts) else group}
