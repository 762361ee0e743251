"""Groups texts with the same meaning: average-linkage clusters over embeddings."""

import numpy as np


def cluster(similarity: np.ndarray, least: float) -> list[list[int]]:
    """Returns the groups of row numbers whose mean similarity is at least `least`, each ascending;
    lone rows are groups.

    `similarity` is square and symmetric. The two nearest groups are joined first.
    """
    groups = [[row] for row in range(len(similarity))]
    between = similarity.astype(np.float64).copy()
    np.fill_diagonal(between, -np.inf)
    while len(groups) > 1:
        first, second = sorted(divmod(int(np.argmax(between)), len(groups)))
        if between[first, second] < least:
            break
        weights = len(groups[first]), len(groups[second])
        joined = (between[first] * weights[0] + between[second] * weights[1]) / sum(weights)
        joined[[first, second]] = -np.inf
        between[first], between[:, first] = joined, joined
        groups[first] += groups.pop(second)
        between = np.delete(np.delete(between, second, 0), second, 1)
    return [sorted(group) for group in groups]


def similarities(vectors: np.ndarray) -> np.ndarray:
    """Returns the cosine of all pairs of unit-length rows."""
    return vectors @ vectors.T
