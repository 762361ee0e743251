"""The vectors of one generation as rows of an array, for exact search without Chroma.

Importing and opening Chroma takes longer than answering a command; up to some thousand rows, comparing all is faster too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memory_assets.adapters.array_files import Names, read_array, read_names, write_array, write_names
from memory_assets.schema.protocols import Hit

IDS, VECTORS = "ids.npy", "vectors.npy"


@dataclass(frozen=True)
class VectorRows:
    """Ids, and the unit vector of each."""

    ids: Names
    vectors: np.ndarray
    """float32, shape (ids, dimension)."""

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine; raises `ValueError` for another dimension."""
        if not len(self):
            return []
        scores = self.vectors @ (vector / np.linalg.norm(vector)).astype(np.float32)
        limit = min(limit, len(self))
        nearest = np.argpartition(scores, len(self) - limit)[len(self) - limit :]
        ordered = nearest[np.argsort(-scores[nearest], kind="stable")]
        return [Hit(self.ids[int(row)], float(scores[row])) for row in ordered]

    def changed(self, ids: list[str], vectors: np.ndarray, deletes: Iterable[str]) -> "VectorRows":
        """Returns the rows with the vectors inserted or replaced and the deletes removed."""
        gone = {*ids, *deletes}
        stays = np.array([id not in gone for id in self.ids], dtype=bool)
        kept = [id for id, is_kept in zip(self.ids, stays, strict=True) if is_kept]
        if not ids:
            return VectorRows(Names.of(kept), self.vectors[stays])
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return VectorRows(Names.of([*kept, *ids]), np.concatenate([self.vectors[stays], unit]) if kept else unit)


def read_rows(folder: Path) -> VectorRows:
    """Returns the rows of the generation in the folder, memory-mapped; raises `OSError` or `ValueError` if incomplete."""
    rows = VectorRows(read_names(folder / IDS), read_array(folder / VECTORS))
    if len(rows.vectors) != len(rows):
        raise ValueError("the numbers of vectors and ids differ")
    return rows


def write_rows(folder: Path, rows: VectorRows) -> None:
    """Writes the rows into the folder and replaces existing ones."""
    write_names(folder / IDS, rows.ids)
    write_array(folder / VECTORS, np.ascontiguousarray(rows.vectors, dtype=np.float32))
