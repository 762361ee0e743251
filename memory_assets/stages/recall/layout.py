"""Scores the passages of a corpus by their words, by those of the passages around them, and by
those of their whole session.

Short messages say little alone: "yes, do that" is about the message before it. So BM25 is computed
over the term counts of a row, of the rows around it, and of its group (a session); all from the
postings, when the question is asked.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from memory_assets.schema.protocols import Texts
from memory_assets.stages.recall.passage_choice import ChosenTexts, widened
from memory_assets.text.terms import bm25, bm25_norms

REACH = 2
"""Passages on either side that a passage is read together with: about one exchange."""

MOST_TERMS = 1_000
"""Terms whose rows are counted once: a common term takes a millisecond in a corpus of a million
rows.
"""


class Layout:
    """The groups of a corpus, and which rows are around each row."""

    def __init__(self, texts: Texts | ChosenTexts, reach: int = REACH) -> None:
        self.texts = texts
        self.reach = reach
        rows = np.arange(len(texts))
        groups = texts.groups
        self.group_count = int(groups[-1]) + 1 if len(texts) else 0
        self.group_numbers = {id: number for number, id in enumerate(texts.group_ids)}
        self._starts = np.searchsorted(groups, np.arange(self.group_count + 1))
        self._low = np.maximum(rows - reach, self._starts[groups])
        self._high = np.minimum(rows + reach + 1, self._starts[groups + 1])
        self._counts: dict[str, int] = {}

    def around(self, values: np.ndarray) -> np.ndarray:
        """Returns for each row the sum of the values of the rows around it, its own included; shape
        (rows,).
        """
        sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
        return sums[self._high] - sums[self._low]

    def mean_around(self, values: np.ndarray) -> np.ndarray:
        """Returns for each row the mean of the values of the rows around it; shape (rows,)."""
        return self.around(values) / (self._high - self._low)

    def spread(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Returns the same as `around` of values that only these rows have, at the cost of these
        rows alone.
        """
        sums = np.zeros(len(self.texts))
        for step in range(-self.reach, self.reach + 1):
            beside = rows + step
            inside = (beside >= self._low[rows]) & (beside < self._high[rows])
            sums[beside[inside]] += values[inside]
        return sums

    def count_around(self, term: str) -> int:
        """Returns how many rows are around any that contains the term."""
        count = self._counts.get(term)
        if count is None:
            rows = self.texts.postings(term)[0]
            ends = self._high[rows]
            starts = np.maximum(self._low[rows], np.concatenate([[0], ends[:-1]]))
            count = int((ends - starts).sum())
            if len(self._counts) >= MOST_TERMS:
                self._counts.clear()
            self._counts[term] = count
        return count

    def beside(self, rows: np.ndarray, step: int) -> np.ndarray:
        """Returns the row so many steps from each, or the row itself where its group ends
        before.
        """
        moved = rows + step
        is_inside = (moved >= self._low[rows]) & (moved < self._high[rows])
        return np.where(is_inside, moved, rows)

    def rows_within(self, group: str, first: int, last: int) -> slice:
        """Returns the rows of the group whose places are from `first` to `last`."""
        number = self.group_numbers.get(group)
        if number is None:
            return slice(0, 0)
        start, end = self._starts[number : number + 2].tolist()
        order = self.texts.order
        return slice(bisect_left(order, first, start, end), bisect_right(order, last, start, end))

    @cached_property
    def lengths_around(self) -> np.ndarray:
        """Number of terms around each row."""
        return self.around(self.texts.lengths)

    @cached_property
    def mean_length_around(self) -> float:
        """Mean number of terms around a row."""
        return _mean(self.lengths_around)

    @cached_property
    def group_norms(self) -> np.ndarray:
        """The `bm25_norms` of each group."""
        lengths = np.bincount(self.texts.groups, self.texts.lengths, self.group_count)
        return bm25_norms(lengths, _mean(lengths))


def _mean(lengths: np.ndarray) -> float:
    return max(float(lengths.mean()), 1e-9) if len(lengths) else 1.0


def score_levels(layout: Layout, terms: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Returns the scores of all rows for the weighted terms, each of shape (rows,): `row`, `around`
    and `group`.
    """
    texts = layout.texts
    assert not isinstance(texts, ChosenTexts)  # words are scored among all rows
    group = score_groups(layout, terms)[texts.groups]
    around = score_around(layout, terms)
    return {"row": texts.score(terms), "around": around, "group": group}


def score_around(
    layout: Layout, terms: Mapping[str, float], rows: np.ndarray | None = None
) -> np.ndarray:
    """Returns the score around each row, or around each of these, ascending, for the weighted
    terms; shape (rows,).
    """
    if rows is None:
        return _score_around(layout, terms, layout)
    assert not isinstance(layout.texts, ChosenTexts)
    chosen = ChosenTexts(layout.texts, widened(rows, layout.reach, len(layout.texts)))
    scores = _score_around(Layout(chosen, layout.reach), terms, layout)
    return scores[np.searchsorted(chosen.rows, rows)]


def _score_around(part: Layout, terms: Mapping[str, float], whole: Layout) -> np.ndarray:
    """Returns the score around each row of the part, with the frequencies and mean lengths of the
    whole.
    """
    norms = bm25_norms(part.lengths_around, whole.mean_length_around)
    scores = np.zeros(len(part.texts))
    for term, weight in terms.items():
        rows, counts = part.texts.postings(term)
        if not len(rows):
            continue
        spread = part.spread(rows, counts)
        near = np.flatnonzero(spread > 0)
        matching = len(near) if part is whole else whole.count_around(term)
        of_term = bm25(spread[near], norms[near], len(whole.texts), matching)
        scores[near] += weight * of_term
    return scores


def score_groups(layout: Layout, terms: Mapping[str, float]) -> np.ndarray:
    """Returns the score of each group for the weighted terms, shape (groups,)."""
    scores = np.zeros(layout.group_count)
    for term, weight in terms.items():
        rows, counts = layout.texts.postings(term)
        sums = np.bincount(layout.texts.groups[rows], counts, layout.group_count)
        near = np.flatnonzero(sums > 0)
        norms = layout.group_norms[near]
        scores[near] += weight * bm25(sums[near], norms, layout.group_count)
    return scores
