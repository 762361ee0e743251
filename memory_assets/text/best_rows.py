"""Selects the rows with the best scores, without looking closely at the many others of a large
corpus.
"""

import numpy as np

LAYERS = 64
"""Rows in a group; a first pass looks at the best row of each group only."""


def best_rows(scores: np.ndarray, most: int) -> np.ndarray:
    """Returns the rows with the best scores, ascending; of those with the least of these scores,
    the first ones.
    """
    if most >= len(scores):
        return np.arange(len(scores))
    size = len(scores) // LAYERS
    among = scores
    if most < size:  # so many rows have at least the score that the best of so many others have
        among = scores[
            scores >= _least(scores[: LAYERS * size].reshape(LAYERS, size).max(axis=0), most)
        ]
    least = _least(among, most)
    better = np.flatnonzero(scores > least)
    same = np.flatnonzero(scores == least)
    return np.sort(np.concatenate([better, same[: most - len(better)]]))


def _least(scores: np.ndarray, most: int) -> np.ndarray:
    """Returns the least of so many best scores."""
    return np.partition(scores, len(scores) - most)[len(scores) - most]
