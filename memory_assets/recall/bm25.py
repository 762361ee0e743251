"""BM25 of texts at three distances: the text itself, its surroundings, and the whole group (a session) that it stands in.

Short messages say little alone: "yes, do that" is about whatever stands before it. So the same formula is computed over the
term counts of a row, of the rows around it, and of its group; all from the postings, at the time of the question.

k1 and b are those of Robertson and Zaragoza 2009 for short texts (1.2, 0.4): b at the usual 0.75 loses two points of recall@10
on dialogue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memory_assets.protocols import Texts

K1, B = 1.2, 0.4


class Layout:
    """How the rows of a corpus stand to each other."""

    def __init__(self, texts: Texts, reach: int) -> None:
        self.texts = texts
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

    def by_group(self, values: np.ndarray) -> np.ndarray:
        """Returns the sum of the values of each group; shape (groups,)."""
        return np.bincount(self.texts.groups, values, self.group_count)

    @cached_property
    def lengths_around(self) -> np.ndarray:
        """Terms around each row."""
        return self.around(self.texts.lengths)

    @cached_property
    def group_lengths(self) -> np.ndarray:
        """Terms of each group."""
        return self.by_group(self.texts.lengths)


@dataclass(frozen=True)
class Levels:
    """BM25 of each row, by distance; arrays of shape (rows,)."""

    row: np.ndarray
    around: np.ndarray
    group: np.ndarray


def score_levels(layout: Layout, terms: Mapping[str, float]) -> Levels:
    """Returns the scores of all rows for the weighted terms."""
    texts = layout.texts
    row, around, group = np.zeros(len(texts)), np.zeros(len(texts)), np.zeros(layout.group_count)
    for term, weight in terms.items():
        rows, counts = texts.postings(term)
        if not len(rows):
            continue
        found = np.zeros(len(texts))
        found[rows] = counts
        row += weight * bm25(found, texts.lengths)
        around += weight * bm25(layout.around(found), layout.lengths_around)
        group += weight * bm25(layout.by_group(found), layout.group_lengths)
    return Levels(row, around, group[texts.groups] if len(texts) else group)


def bm25(counts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Returns what one term adds to the score of each text, from how often it occurs in each."""
    total = len(counts)
    held = np.count_nonzero(counts > 0)
    rarity = np.log1p((total - held + 0.5) / (held + 0.5))
    return rarity * counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / max(lengths.mean(), 1e-9)))
