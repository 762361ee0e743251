"""Groups texts that say the same in other words: clusters over embeddings, by the mean similarity of all their pairs."""

import numpy as np


def cluster(similarity: np.ndarray, least: float) -> list[list[int]]:
    """Returns the groups of row numbers whose mean similarity is at least `least`, each ascending; lone rows are groups.

    `similarity` is square and symmetric. The two groups that are nearest to each other are joined first.
    """
    groups = [[row] for row in range(len(similarity))]
    between = similarity.astype(np.float64).copy()
    np.fill_diagonal(between, -np.inf)
    while len(groups) > 1:
        one, other = divmod(int(np.argmax(between)), len(groups))
        if between[one, other] < least:
            break
        first, second = sorted((one, other))
        sizes = len(groups[first]), len(groups[second])
        joined = (between[first] * sizes[0] + between[second] * sizes[1]) / sum(sizes)
        joined[[first, second]] = -np.inf
        between[first], between[:, first] = joined, joined
        groups[first] += groups[second]
        del groups[second]
        between = np.delete(np.delete(between, second, 0), second, 1)
    return [sorted(group) for group in groups]


def similarities(vectors: np.ndarray) -> np.ndarray:
    """Returns the cosine of all pairs of unit-length rows."""
    return vectors @ vectors.T
