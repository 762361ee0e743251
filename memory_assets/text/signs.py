"""The signs of vectors: a 32nd of their size, and enough to find candidates for the nearest."""

import numpy as np

ROWS_AT_ONCE = 50_000


def signs_of(vectors: np.ndarray) -> np.ndarray:
    """Returns the signs of the components, 64 in a number, uint64; shape (ceil(dimension / 64), rows)."""
    width = -(-vectors.shape[1] // 64)
    packed = np.zeros((width, len(vectors)), dtype=np.uint64)
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        part = np.packbits(np.asarray(vectors[start : start + ROWS_AT_ONCE]) > 0, axis=1)
        wide = np.zeros((len(part), width * 8), dtype=np.uint8)
        wide[:, : part.shape[1]] = part
        packed[:, start : start + len(part)] = wide.view(np.uint64).T
    return packed


def nearest_by_signs(signs: np.ndarray, vector: np.ndarray, most: int, allowed: np.ndarray | None = None) -> np.ndarray:
    """Returns about so many rows, and at least that many of those allowed, that differ in the fewest signs, ascending."""
    differing = count_differing(signs, vector)
    if allowed is not None:
        differing[~allowed] = len(vector) + 1
    return fewest(differing, len(vector), most)


def count_differing(signs: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Returns in how many signs each row differs from the vector, uint16."""
    differing = np.zeros(signs.shape[1], dtype=np.uint16)
    for own, one in zip(signs, signs_of(vector.reshape(1, -1))[:, 0], strict=True):
        differing += np.bitwise_count(own ^ one)
    return differing


def fewest(differing: np.ndarray, highest: int, most: int) -> np.ndarray:
    """Returns about so many rows, or at least that many, that differ least, ascending; those above the highest are left out."""
    counted = np.cumsum(np.bincount(differing, minlength=highest + 2)[: highest + 1])
    limit = int(np.searchsorted(counted, min(most, int(counted[-1]))))
    return np.flatnonzero(differing <= min(limit, highest))
