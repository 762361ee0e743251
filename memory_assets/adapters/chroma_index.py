"""The vector index as immutable generations of a Chroma folder: ids, vectors and a few short
labels, never text.

One process writes a generation, closes it and publishes it; readers only open published ones.
(Writing and reading one Chroma folder at the same time gives stale answers and crashes.) Chroma
writes files of its graph from memory that it did not initialise, which can hold any text of the
process; what no element fills is overwritten before a generation is published.

The same vectors are also stored as an array, from which questions are answered: a small index by
exact comparison, a large one by exact comparison with the vectors that have the most equal signs.
This finds more of the nearest than Chroma's graph does, and takes no import of Chroma. A generation
that cannot be read, or has another dimension, is moved to quarantine and `IndexFailedError` says
how to rebuild. Chroma's settings never come from a `.env` in the working folder.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from pydantic_settings import DotEnvSettingsSource

from memory_assets.adapters.array_files import Names, read_fields, write_fields
from memory_assets.adapters.generations import Generations
from memory_assets.schema.protocols import Hit
from memory_assets.text.files import text_of
from memory_assets.text.vectors import nearest_by_signs, products, signs_of

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

COLLECTION = "memories"
MODEL_FILE = "model.txt"
"""In a generation: the embedding model of its vectors. A question has to be encoded by the same
one.
"""

SERVER_FILE = "server.json"
"""In a generation that is on a server instead (`adapters.chroma_server`)."""

LONGEST_NAME = 4_096
"""Characters; what is longer is no path, but a damaged file."""

BATCH_ROWS = 5_000
"""Chroma takes at most 5,461 rows at once (its SQLite variable limit)."""

COMPARED_ROWS = 20_000
"""Up to this number all vectors are compared, in 3 ms; beyond it those with the most equal signs.
"""

BY_SIGNS = 8_000
"""Vectors that are compared exactly. Of the five nearest of 100,000 these hold more than the graph
of Chroma finds (0.86).
"""

_IMPORTING = threading.Lock()


@dataclass(frozen=True)
class VectorRows:
    """Ids, and the unit vector of each."""

    ids: Names
    vectors: np.ndarray
    """float32, shape (ids, dimension)."""

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine; raises `ValueError` for another
        dimension.
        """
        if not len(self):
            return []
        if len(self) <= COMPARED_ROWS or len(vector) != self.vectors.shape[1]:
            return self.find_among(None, vector, limit)
        return self.find_among(
            nearest_by_signs(self.signs, vector, max(BY_SIGNS, 4 * limit)), vector, limit
        )

    def find_among(self, rows: np.ndarray | None, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest of these rows, or of all, best first."""
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
        """The signs of the vectors, 64 in a number; made by the first question to many."""
        return signs_of(self.vectors)

    def changed(self, ids: list[str], vectors: np.ndarray, deletes: Iterable[str]) -> "VectorRows":
        """Returns the rows with the vectors inserted or replaced and the deletes removed."""
        gone = {*ids, *deletes}
        kept = {id: row for row, id in enumerate(self.ids) if id not in gone}
        before = self.vectors[list(kept.values())]
        if not ids:
            return VectorRows(Names.of(kept), before)
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return VectorRows(Names.of([*kept, *ids]), np.concatenate([before, unit]) if kept else unit)


class ChromaIndex(Generations):
    """Builds generations of vectors and finds the nearest in the published one; thread-safe."""

    FAILED = (
        "The vector index could not be read ({error.__class__.__name__}) and was moved to {aside}. "
        "Recall continues with keywords; run `memory data rebuild --indexes` to rebuild it "
        "from the tables."
    )

    def __init__(self, root: Path) -> None:
        super().__init__(root, "vectors")
        self._open: tuple[Path, Any, Any] | None = None
        self._rows: tuple[Path, VectorRows | None] | None = None
        self._is_new = False
        """Whether the open generation has not been searched yet."""
        self._lock = threading.RLock()

    def update(
        self,
        upserts: pl.DataFrame,
        deletes: Sequence[str],
        *,
        rebuild: bool = False,
        model: str = "",
    ) -> str:
        """Publishes a generation with the changes and returns its name.

        `upserts` has columns `id` and `vector`, and any number of short labels; `model` names the
        embedding model of the vectors, by default that of the generation before. A published
        generation that cannot be read is quarantined and `IndexFailedError` raised; the next update
        then starts from nothing.
        """
        self.close()
        base = None if rebuild else self.published()
        with self.build(rebuild=rebuild) as folder, self.quarantined_on_failure(base):
            given = stacked(upserts)
            _change(folder, upserts.drop("vector"), given, deletes)
            _overwrite_unused(folder)
            if model:
                (folder / MODEL_FILE).write_text(model, "utf-8")
            before = (
                _read_rows(folder)
                if base
                else VectorRows(Names.of(()), np.zeros((0, given.shape[1]), dtype=np.float32))
            )
            write_fields(folder, before.changed(upserts["id"].to_list(), given, deletes))
        return folder.name

    def is_readable(self, folder: Path) -> bool:
        """Returns whether the generation is in files."""
        return not (folder / SERVER_FILE).is_file()

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine; nothing if there is no generation
        yet.
        """
        return (
            self.read_published(lambda folder: self._find(folder, vector, limit), [])
            if limit > 0
            else []
        )

    def find_exact(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, compared with every vector."""

        def read(folder: Path) -> list[Hit]:
            rows = self._mapped(folder)
            return rows.find_among(None, vector, limit) if rows is not None else []

        return self.read_published(read, [])

    def model(self) -> str | None:
        """Returns the embedding model of the published generation, as the setting named it; None
        where it is not known.
        """
        folder = self.published()
        name = text_of(folder / MODEL_FILE) if folder else ""
        return name if 0 < len(name) <= LONGEST_NAME else None

    def ids(self) -> set[str]:
        """Returns the ids in the published generation, read from Chroma."""

        def read(folder: Path) -> set[str]:
            with self._lock:
                found = set(self._collection(folder).get(include=[])["ids"])
                _overwrite_unused(folder)
                return found

        return self.read_published(read, set())

    def _find(self, folder: Path, vector: np.ndarray, limit: int) -> list[Hit]:
        rows = self._mapped(folder)
        if rows is not None:
            return rows.find(vector, limit)
        with self._lock:  # a generation of an older release, without rows of its own
            collection = self._collection(folder)
            found = find_nearest(collection, vector, min(limit, collection.count()))
            if self._is_new:
                self._is_new = False
                _overwrite_unused(folder)
            return found

    def is_its_fault(self, error: Exception) -> bool:
        """Returns whether the generation is to blame: not for a full disk."""
        return not isinstance(error, OSError) or isinstance(error, FileNotFoundError)

    def close(self) -> None:
        """Closes the open generation."""
        with self._lock:
            if self._open is not None:
                folder, client, _ = self._open
                client.close()
                self._open = None
                _overwrite_unused(folder)
            self._rows = None

    def _mapped(self, folder: Path) -> VectorRows | None:
        kept = self._rows
        if kept is None or kept[0] != folder:
            kept = self._rows = (
                folder,
                _read_rows(folder) if (folder / "vectors.npy").is_file() else None,
            )
        return kept[1]

    def _collection(self, folder: Path) -> "Collection":
        if self._open is None or self._open[0] != folder:
            self.close()
            if not folder.is_dir():
                raise FileNotFoundError(folder)  # Chroma would create an empty one
            client = _client(folder)
            self._open = (
                folder,
                client,
                client.get_collection(COLLECTION, embedding_function=None),
            )
            self._is_new = True
        return self._open[2]


def _change(
    folder: Path, upserts: pl.DataFrame, vectors: np.ndarray, deletes: Sequence[str]
) -> None:
    """Changes the Chroma collection in the folder."""
    client = _client(folder)
    try:
        collection = client.get_or_create_collection(
            COLLECTION, embedding_function=None, metadata={"hnsw:space": "cosine"}
        )
        for start in range(0, len(deletes), BATCH_ROWS):
            collection.delete(ids=list(deletes[start : start + BATCH_ROWS]))
        upsert_rows(collection, upserts, vectors)
    finally:
        client.close()


def upsert_rows(collection: "Collection", upserts: pl.DataFrame, vectors: np.ndarray) -> None:
    """Inserts or replaces the rows, of `id` and labels, and their vectors."""
    for start in range(0, upserts.height, BATCH_ROWS):
        batch = upserts[start : start + BATCH_ROWS]
        labels: Any = batch.drop("id").to_dicts() if batch.width > 1 else None
        collection.upsert(
            ids=batch["id"].to_list(),
            embeddings=vectors[start : start + BATCH_ROWS],
            metadatas=labels,
        )


ZEROED_BYTES = 1_000_000
"""Bytes that are overwritten at once."""


def _overwrite_unused(folder: Path) -> None:
    """Overwrites with zeros what no element fills in the files of the graph (format of
    chroma-hnswlib's persistent index).

    Chroma writes them also when it opens an index, and fills the rest with what is in the memory of
    the process. In place: another process may be reading them. Where the disk cannot be written,
    Chroma wrote nothing either.
    """
    with suppress(OSError):
        for header in folder.glob("*/header.bin"):
            count, width = np.frombuffer(header.read_bytes(), "<u8", 2, offset=20).tolist()
            for name, used in (("data_level0.bin", count * width), ("length.bin", count * 4)):
                with header.with_name(name).open("r+b") as file:
                    unused = file.seek(0, os.SEEK_END) - used
                    file.seek(used)
                    for start in range(0, unused, ZEROED_BYTES):
                        file.write(bytes(min(ZEROED_BYTES, unused - start)))


def _read_rows(folder: Path) -> VectorRows:
    """Returns the rows of the generation in the folder; raises `OSError` or `ValueError` if
    incomplete.
    """
    rows = read_fields(VectorRows, folder)
    if len(rows.vectors) != len(rows):
        raise ValueError("the numbers of vectors and ids differ")
    return rows


def stacked(upserts: pl.DataFrame) -> np.ndarray:
    """Returns the vectors, float32, shape (rows, dimension)."""
    if upserts.is_empty():
        return np.zeros((0, 0), dtype=np.float32)
    return upserts["vector"].explode().to_numpy().astype(np.float32).reshape(upserts.height, -1)


def find_nearest(collection: "Collection", vector: np.ndarray, limit: int) -> list[Hit]:
    """Returns the nearest in the collection, best first, scored by cosine."""
    if not limit:
        return []
    found = collection.query(
        query_embeddings=[np.asarray(vector, dtype=np.float32)],
        n_results=limit,
        include=["distances"],
    )
    distances = found["distances"] or [[]]
    return [
        Hit(id, 1.0 - float(far)) for id, far in zip(found["ids"][0], distances[0], strict=True)
    ]


def load_chromadb() -> tuple[Any, Any]:
    """Returns the module and its settings, which come from no file; it sends no telemetry."""
    with _IMPORTING, _no_env_file():
        import chromadb
        from chromadb.config import Settings

    chosen = Settings(_env_file=None, anonymized_telemetry=False, allow_reset=False)  # pyright: ignore[reportCallIssue]
    return chromadb, chosen


def _client(folder: Path) -> Any:
    with _IMPORTING, _no_env_file():
        from chromadb.api.shared_system_client import SharedSystemClient

    try:
        chromadb, chosen = load_chromadb()
        return chromadb.PersistentClient(str(folder), chosen)
    except BaseException:
        # Else the half-started system is reused.
        SharedSystemClient._identifier_to_system.pop(str(folder), None)
        raise


@contextmanager
def _no_env_file() -> Iterator[None]:
    """Prevents Chroma's import from reading `.env` in the working folder, which could name classes
    and addresses.
    """
    read = DotEnvSettingsSource._read_env_files
    DotEnvSettingsSource._read_env_files = lambda self: {}
    try:
        yield
    finally:
        DotEnvSettingsSource._read_env_files = read
