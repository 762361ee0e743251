"""The vectors of one generation as rows of an array: compared with all of them, exactly, without opening Chroma.

Importing and opening Chroma takes longer than the whole answer of a command; comparing with some thousand rows takes less than
asking Chroma.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memory_assets.adapters.array_files import Names, read_array, write_array
from memory_assets.schema.protocols import Hit

IDS, STARTS, VECTORS = "ids.npy", "ids.starts.npy", "vectors.npy"


@dataclass(frozen=True)
class VectorRows:
    """Ids, and the unit vector of each."""

    ids: Names
    vectors: np.ndarray
    """float32, shape (ids, dimension)."""

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine; raises `ValueError` for a vector of another dimension."""
        if not len(self):
            return []
        scores = self.vectors @ (vector / np.linalg.norm(vector)).astype(np.float32)
        limit = min(limit, len(self))
        nearest = np.argpartition(scores, len(self) - limit)[len(self) - limit :]
        ordered = nearest[np.argsort(-scores[nearest], kind="stable")]
        return [Hit(self.ids[int(row)], float(scores[row])) for row in ordered]

    def changed(self, ids: list[str], vectors: np.ndarray, deletes: Iterable[str]) -> "VectorRows":
        """Returns the rows with those put in, in the place of others of the same id, and some taken out."""
        gone = {*ids, *deletes}
        stays = np.array([id not in gone for id in self.ids], dtype=bool)
        kept = [id for id, is_kept in zip(self.ids, stays, strict=True) if is_kept]
        if not ids:
            return VectorRows(Names.of(kept), self.vectors[stays])
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return VectorRows(Names.of([*kept, *ids]), np.concatenate([self.vectors[stays], unit]) if kept else unit)


def read_rows(folder: Path) -> VectorRows:
    """Returns the rows of the generation in the folder, mapped; raises `OSError` or `ValueError` where they are not whole."""
    rows = VectorRows(Names(read_array(folder / IDS), read_array(folder / STARTS)), read_array(folder / VECTORS))
    if len(rows.vectors) != len(rows):
        raise ValueError("there are not as many vectors as ids")
    return rows


def write_rows(folder: Path, rows: VectorRows) -> None:
    """Writes the rows into the folder, in place of those there."""
    write_array(folder / IDS, rows.ids.content)
    write_array(folder / STARTS, rows.ids.starts)
    write_array(folder / VECTORS, np.ascontiguousarray(rows.vectors, dtype=np.float32))
