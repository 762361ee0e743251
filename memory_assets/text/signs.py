"""The signs of vectors: a 32nd of their size, and enough to find candidates for the nearest.

What is computed of all rows is computed of a few at once, so that it stays in the cache of the processor.
"""

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

ROWS_AT_ONCE = 65_536

VECTORS_AT_ONCE = 512


def signs_of(vectors: np.ndarray) -> np.ndarray:
    """Returns the signs of the components, 64 in a number, uint64; shape (ceil(dimension / 64), rows)."""
    width = -(-vectors.shape[1] // 64)
    packed = np.zeros((width, len(vectors)), dtype=np.uint64)
    for rows in _slices(len(vectors), ROWS_AT_ONCE):
        part = np.packbits(np.asarray(vectors[rows]) > 0, axis=1)
        wide = np.zeros((len(part), width * 8), dtype=np.uint8)
        wide[:, : part.shape[1]] = part
        packed[:, rows] = wide.view(np.uint64).T
    return packed


def nearest_by_signs(signs: np.ndarray, vector: np.ndarray, most: int) -> np.ndarray:
    """Returns about so many rows, and at least that many, that differ in the fewest signs, ascending."""
    return fewest(count_differing(signs, vector), len(vector), most)


def count_differing(signs: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Returns in how many signs each row differs from the vector, uint16."""
    differing, asked = np.zeros(signs.shape[1], dtype=np.uint16), signs_of(vector.reshape(1, -1))[:, 0]
    different, count = np.empty(ROWS_AT_ONCE, dtype=np.uint64), np.empty(ROWS_AT_ONCE, dtype=np.uint8)
    for rows in _slices(len(differing), ROWS_AT_ONCE):
        size = len(differing[rows])
        for own, one in zip(signs[:, rows], asked, strict=True):
            np.bitwise_xor(own, one, out=different[:size])
            differing[rows] += np.bitwise_count(different[:size], out=count[:size])
    return differing


def fewest(differing: np.ndarray, highest: int, most: int) -> np.ndarray:
    """Returns about so many rows, or at least that many, that differ least, ascending; those above the highest are left out."""
    limit = bisect_left(range(highest), most, key=lambda least: int(np.count_nonzero(differing <= least)))
    return np.flatnonzero(differing <= limit)


def products(vectors: np.ndarray, rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Returns the products of these rows of the vectors with the vector, float32."""
    found = np.empty(len(rows), dtype=np.float32)
    for some in _slices(len(rows), VECTORS_AT_ONCE):
        found[some] = vectors[rows[some]].astype(np.float32, copy=False) @ vector
    return found


def _slices(count: int, size: int) -> Iterator[slice]:
    """Yields slices of at most that size, which are so many rows together."""
    return (slice(start, start + size) for start in range(0, count, size))
