"""Selects the rows with the best scores, without sorting the many others of a large corpus."""

import numpy as np

GROUP_ROWS = 64
"""Rows in a group; a first pass looks at the best score of each group only."""


def best_rows(scores: np.ndarray, most: int) -> np.ndarray:
    """Returns the `most` rows with the best scores, ascending.

    Where several rows have the least of these scores, the first of them are returned.
    """
    if most >= len(scores):
        return np.arange(len(scores))
    group_count = len(scores) // GROUP_ROWS
    candidates = scores
    if most < group_count:
        # Each of the `most` best groups has a row with at least this score: no lower score counts.
        groups = scores[: GROUP_ROWS * group_count].reshape(GROUP_ROWS, group_count)
        candidates = scores[scores >= _least_of_best(groups.max(axis=0), most)]
    least = _least_of_best(candidates, most)
    better = np.flatnonzero(scores > least)
    same = np.flatnonzero(scores == least)
    return np.sort(np.concatenate([better, same[: most - len(better)]]))


def _least_of_best(scores: np.ndarray, most: int) -> np.ndarray:
    """Returns the least of the `most` best scores."""
    return np.partition(scores, len(scores) - most)[len(scores) - most]
