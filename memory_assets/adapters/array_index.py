"""The vector index: immutable generations of memory-mapped arrays of ids and vectors, never text.

    index/vectors/000012/vectors.npy, ids.npy …, model.txt

In a small index, a question is compared with every vector; in a large one, with the vectors whose
coordinates have the most signs in common with it. This finds more of the nearest than Chroma's
graph does, without importing Chroma. A generation that cannot be read, or has another dimension
than the question, is moved to quarantine, and `IndexFailedError` says how to rebuild it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from memory_assets.adapters.array_files import Names, read_fields, write_fields
from memory_assets.adapters.generations import Generations
from memory_assets.schema.protocols import Hit
from memory_assets.text.files import text_of
from memory_assets.text.vectors import nearest_by_signs, products, signs_of

MODEL_FILE = "model.txt"
"""File of a generation with the name of the embedding model of its vectors. Questions must be
encoded by the same model.
"""

LONGEST_NAME = 4_096
"""Characters in the name of a model, which may be a path; a longer one means a damaged file."""

COMPARED_ROWS = 20_000
"""Number of vectors up to which a question is compared with all of them, which takes 3 ms."""

BY_SIGNS = 8_000
"""Vectors of a larger index, chosen by their signs, that are compared. Among 100,000 vectors these
include more of the five nearest than the graph of Chroma finds (0.86).
"""


@dataclass(frozen=True)
class VectorRows:
    """Ids, and the unit vector of each."""

    ids: Names
    vectors: np.ndarray
    """float32, shape (ids, dimension)."""

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest by cosine, best first; raises `ValueError` for another dimension."""
        if len(self) <= COMPARED_ROWS or len(vector) != self.vectors.shape[1]:
            return self.find_among(None, vector, limit)
        rows = nearest_by_signs(self.signs, vector, max(BY_SIGNS, 4 * limit))
        return self.find_among(rows, vector, limit)

    def find_among(self, rows: np.ndarray | None, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest of these rows (None: of all) by cosine, best first."""
        if not len(self):
            return []
        unit = (vector / np.linalg.norm(vector)).astype(np.float32)
        scores = products(self.vectors, rows, unit)
        limit = min(limit, len(scores))
        nearest = np.argpartition(scores, len(scores) - limit)[len(scores) - limit :]
        ordered = nearest[np.argsort(-scores[nearest], kind="stable")]
        places = ordered if rows is None else rows[ordered]
        return [
            Hit(self.ids[int(row)], float(score))
            for row, score in zip(places, scores[ordered], strict=True)
        ]

    @cached_property
    def signs(self) -> np.ndarray:
        """The signs of the coordinates, 64 packed into a number; computed when first needed."""
        return signs_of(self.vectors)

    def changed(self, ids: list[str], vectors: np.ndarray, deletes: Iterable[str]) -> "VectorRows":
        """Returns the rows with these vectors inserted or replaced, and the deleted ids removed."""
        replaced = {*ids, *deletes}
        rows = {id: row for row, id in enumerate(self.ids) if id not in replaced}
        unchanged = self.vectors[list(rows.values())]
        if not ids:
            return VectorRows(Names.of(rows), unchanged)
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        all_vectors = np.concatenate([unchanged, unit]) if rows else unit
        return VectorRows(Names.of([*rows, *ids]), all_vectors)


class ArrayIndex(Generations):
    """Builds generations of vectors and finds the nearest in the published one; thread-safe."""

    FAILED = (
        "The vector index could not be read ({error.__class__.__name__}) and was moved to {aside}. "
        "Recall continues with keywords; run `memory data rebuild --indexes` to rebuild it "
        "from the tables."
    )

    has_labels = False
    """Whether it keeps labels of memories beside their vectors."""

    def __init__(self, root: Path, name: str = "vectors") -> None:
        super().__init__(root, name)
        self._open: tuple[Path, VectorRows] | None = None

    def update(
        self,
        upserts: pl.DataFrame,
        deletes: Sequence[str],
        *,
        rebuild: bool = False,
        model: str = "",
    ) -> str:
        """Publishes a generation with the changes and returns its name.

        `upserts` has columns `id` and `vector`; `model` names the embedding model of the vectors,
        by default that of the published generation. Raises `IndexFailedError` if the published
        generation cannot be read, and moves it to quarantine; the next update then starts empty.
        """
        base = None if rebuild else self.published()
        vectors = stacked(upserts)
        with self.build(rebuild=True) as folder:
            with self.quarantined_on_failure(base):
                nothing = VectorRows(Names.of(()), vectors[:0])
                rows = _read_rows(base) if base else nothing
                changed = rows.changed(upserts["id"].to_list(), vectors, deletes)
            write_fields(folder, changed)
            write_model(folder, model or (text_of(base / MODEL_FILE) if base else ""))
        return folder.name

    def open(self) -> VectorRows | None:
        """Returns the published rows, or None if there is no generation yet; they stay open until
        another generation is published.
        """
        return self.read_published(self._opened, None)

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest by cosine, best first; empty if there is no generation yet."""
        if limit <= 0:
            return []
        return self.read_published(lambda folder: self._opened(folder).find(vector, limit), [])

    def ids(self) -> set[str]:
        """Returns the ids in the published generation."""
        rows = self.open()
        return set(rows.ids) if rows is not None else set()

    def model(self) -> str | None:
        """Returns the embedding model of the published generation, as in the setting; None where it
        is unknown.
        """
        folder = self.published()
        name = text_of(folder / MODEL_FILE) if folder else ""
        return name if 0 < len(name) <= LONGEST_NAME else None

    def close(self) -> None:
        """Closes the open generation."""
        self._open = None

    def erase(self) -> None:
        """Deletes vectors outside the data folder; arrays have none there."""

    def _opened(self, folder: Path) -> VectorRows:
        opened = self._open
        if opened is None or opened[0] != folder:
            opened = self._open = (folder, _read_rows(folder))
        return opened[1]


def write_model(folder: Path, model: str) -> None:
    """Writes the name of the embedding model into the generation; nothing for an unknown model."""
    if model:
        (folder / MODEL_FILE).write_text(model, "utf-8")


def stacked(upserts: pl.DataFrame) -> np.ndarray:
    """Returns the column `vector` as an array, float32, shape (rows, dimension)."""
    if upserts.is_empty():
        return np.zeros((0, 0), dtype=np.float32)
    return upserts["vector"].explode().to_numpy().astype(np.float32).reshape(upserts.height, -1)


def _read_rows(folder: Path) -> VectorRows:
    """Returns the rows of a generation; raises `OSError` or `ValueError` if it is incomplete."""
    rows = read_fields(VectorRows, folder)
    if len(rows.vectors) != len(rows):
        raise ValueError("the numbers of vectors and ids differ")
    return rows
