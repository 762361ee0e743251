"""Compares a vector with many others, by products or by signs.

The signs of the components take a 32nd of the vectors' size, and are enough to find candidates for
the nearest vectors. Work on many rows is divided among the cores; each computes a few rows at a
time, which stay in the cache of the processor. Products are computed row by row: a matrix product
wakes threads of its library that keep every core busy for a while after it, and a question would
take twice as much of the processor.
"""

from collections.abc import Iterator

import numpy as np

from memory_assets.text.threads import in_parts

ROWS_AT_ONCE = 65_536
"""Rows of signs that are compared at a time."""

VECTORS_AT_ONCE = 512
"""Vectors that are multiplied at a time."""

LEAST_SIGNS, LEAST_VECTORS = 131_072, 2_048
"""Fewest rows of signs, and fewest vectors, that are worth a thread."""

MOST_MULTIPLIED = 250_000
"""Multiplications of a matrix product that OpenBLAS does in the calling thread."""

SAMPLED = 64
"""One row in this many is looked at to estimate in how many signs the nearest rows differ."""


def signs_of(vectors: np.ndarray) -> np.ndarray:
    """Returns the signs of the components, 64 in each uint64: ceil(dimension / 64) for each row.

    The first axis counts these numbers, the second the rows.
    """
    width = -(-vectors.shape[1] // 64)  # rounded up
    packed = np.zeros((width, len(vectors)), dtype=np.uint64)
    for rows in _slices(slice(0, len(vectors)), ROWS_AT_ONCE):
        part = np.packbits(np.asarray(vectors[rows]) > 0, axis=1)
        wide = np.zeros((len(part), width * 8), dtype=np.uint8)
        wide[:, : part.shape[1]] = part
        packed[:, rows] = wide.view(np.uint64).T
    return packed


def nearest_by_signs(signs: np.ndarray, vector: np.ndarray, most: int) -> np.ndarray:
    """Returns at least `most` rows, and hardly more, that differ in the fewest signs, ascending."""
    return fewest(count_differing(signs, vector), len(vector), most)


def count_differing(signs: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Returns in how many signs each row differs from the vector, uint16."""
    differing = np.zeros(signs.shape[1], dtype=np.uint16)
    query_signs = signs_of(vector.reshape(1, -1))[:, 0]

    def compare(part: slice) -> None:
        different = np.empty(ROWS_AT_ONCE, dtype=np.uint64)
        count = np.empty(ROWS_AT_ONCE, dtype=np.uint8)
        for rows in _slices(part, ROWS_AT_ONCE):
            size = len(differing[rows])
            for row_signs, query_sign in zip(signs[:, rows], query_signs, strict=True):
                np.bitwise_xor(row_signs, query_sign, out=different[:size])
                differing[rows] += np.bitwise_count(different[:size], out=count[:size])

    in_parts(compare, len(differing), LEAST_SIGNS)
    return differing


def fewest(differing: np.ndarray, highest: int, most: int) -> np.ndarray:
    """Returns the rows that differ least, ascending: at least `most` of them, and hardly more.

    Rows that differ in more than `highest` signs are left out, even if there are fewer then.
    """
    sample = np.bincount(differing[::SAMPLED], minlength=highest + 1)[: highest + 1]
    limit = min(int(np.searchsorted(np.cumsum(sample), most / SAMPLED)), highest)
    while limit > 0 and _count(differing, limit - 1) >= most:
        limit -= 1
    while limit < highest and _count(differing, limit) < most:
        limit += 1
    return np.flatnonzero(differing <= limit)


def _count(differing: np.ndarray, limit: int) -> int:
    return int(np.count_nonzero(differing <= limit))


def products(vectors: np.ndarray, rows: np.ndarray | None, vector: np.ndarray) -> np.ndarray:
    """Returns the products of the vector with these rows of the vectors, or with all, float32."""
    results = np.empty(len(vectors) if rows is None else len(rows), dtype=np.float32)

    def multiply(part: slice) -> None:
        for block in _slices(part, VECTORS_AT_ONCE):
            row_vectors = vectors[block if rows is None else rows[block]]
            np.vecdot(row_vectors.astype(np.float32, copy=False), vector, out=results[block])

    in_parts(multiply, len(results), LEAST_VECTORS)
    return results


def product_table(few: np.ndarray, many: np.ndarray) -> np.ndarray:
    """Returns the product of each of the few vectors with each of the many, shape (few, many);
    computed in blocks so small that no other threads wake.
    """
    rows = _slices(slice(0, len(many)), MOST_MULTIPLIED // few.size or 1)
    return np.hstack([few.astype(many.dtype) @ many[block].T for block in rows])


def gather(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Returns a copy of these rows."""
    gathered = np.empty((len(rows), vectors.shape[1]), dtype=vectors.dtype)

    def copy(part: slice) -> None:
        gathered[part] = vectors[rows[part]]

    in_parts(copy, len(rows), LEAST_VECTORS)
    return gathered


def _slices(whole: slice, size: int) -> Iterator[slice]:
    """Yields consecutive slices of at most that size, which together are the whole slice."""
    return (
        slice(start, min(start + size, whole.stop))
        for start in range(whole.start, whole.stop, size)
    )
