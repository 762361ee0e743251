"""BM25 of texts at three distances: the text itself, its surroundings, and the whole group (a session) that it stands in.

Short messages say little alone: "yes, do that" is about whatever stands before it. So the same formula is computed over the
term counts of a row, of the rows around it, and of its group; all from the postings, at the time of the question.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memory_assets.schema.protocols import Texts
from memory_assets.text.bm25 import bm25


class Layout:
    """How the rows of a corpus stand to each other."""

    def __init__(self, texts: Texts, reach: int) -> None:
        self.texts, self.reach = texts, reach
        rows, groups = np.arange(len(texts)), texts.groups
        starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]]) if len(texts) else np.zeros(0, np.int64)
        sizes = np.diff(np.r_[starts, len(texts)])
        first, last = np.repeat(starts, sizes), np.repeat(starts + sizes, sizes)
        self._low, self._high = np.maximum(rows - reach, first), np.minimum(rows + reach + 1, last)
        self.group_count = int(groups[-1]) + 1 if len(texts) else 0

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
    def _starts(self) -> np.ndarray:
        """Row at which each group begins, and the number of rows."""
        return np.searchsorted(self.texts.groups, np.arange(self.group_count + 1))

    @cached_property
    def group_numbers(self) -> dict[str, int]:
        """Number of each group, by its name."""
        return {name: number for number, name in enumerate(self.texts.group_ids)}

    @cached_property
    def lengths_around(self) -> np.ndarray:
        """Terms around each row."""
        return self.around(self.texts.lengths)

    @cached_property
    def group_lengths(self) -> np.ndarray:
        """Terms of each group."""
        return np.bincount(self.texts.groups, self.texts.lengths, self.group_count)

    @cached_property
    def means(self) -> tuple[float, float]:
        """Mean length of what is around a row, and of a group."""
        around, group = (max(float(one.mean()), 1e-9) if len(one) else 1.0 for one in (self.lengths_around, self.group_lengths))
        return around, group


@dataclass(frozen=True)
class Levels:
    """BM25 of each row, by distance; arrays of shape (rows,)."""

    row: np.ndarray
    around: np.ndarray
    group: np.ndarray


def score_levels(layout: Layout, terms: Mapping[str, float]) -> Levels:
    """Returns the scores of all rows for the weighted terms."""
    texts, (around_mean, group_mean) = layout.texts, layout.means
    around, group = np.zeros(len(texts)), np.zeros(layout.group_count)
    for term, weight in terms.items():
        rows, counts = texts.postings(term)
        if not len(rows):
            continue
        spread = layout.spread(rows, counts)
        near = np.flatnonzero(spread)
        around[near] += weight * bm25(spread[near], layout.lengths_around[near], around_mean, len(around))
        sums = np.bincount(texts.groups[rows], counts, layout.group_count)
        held = np.flatnonzero(sums)
        group[held] += weight * bm25(sums[held], layout.group_lengths[held], group_mean, len(group))
    return Levels(texts.score(terms), around, group[texts.groups] if len(texts) else group)
