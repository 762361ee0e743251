"""The vector index as immutable generations of a Chroma folder: ids, vectors and a few short labels, never text.

One process writes a generation, closes it and publishes it; readers only open published ones. (Writing and reading one Chroma
folder at the same time gives stale answers and crashes.) The same vectors are also stored as an array. A small index, and the
first query of a process, is answered by exact comparison with the array: importing Chroma takes longer than comparing with a
hundred thousand vectors. A generation that cannot be read, or has another dimension, is moved to quarantine and
`IndexFailedError` says how to rebuild. Chroma's settings never come from a `.env` in the working folder.
"""

import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import polars as pl
from pydantic_settings import DotEnvSettingsSource

from memory_assets.adapters.array_files import Names
from memory_assets.adapters.generations import Generations
from memory_assets.adapters.vector_rows import VECTORS, VectorRows, read_rows, write_rows
from memory_assets.errors import IndexFailedError
from memory_assets.schema.protocols import Hit

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

T = TypeVar("T")

COLLECTION = "memories"
BATCH_ROWS = 5_000
"""Chroma takes at most 5,461 rows at once (its SQLite variable limit)."""

COMPARED_ROWS = 20_000
"""Up to this number all vectors are compared, in 3 ms; beyond it Chroma is as fast, and its time hardly grows."""

_IMPORTING = threading.Lock()


class ChromaIndex:
    """Builds generations of vectors and finds the nearest in the published one; thread-safe."""

    def __init__(self, root: Path) -> None:
        self._generations = Generations(root, "vectors")
        self._open: tuple[Path, Any, Any] | None = None
        self._rows: tuple[Path, VectorRows | None] | None = None
        self._has_answered = False
        self._lock = threading.RLock()

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        folder = self._generations.published()
        return folder.name if folder else None

    def update(self, upserts: pl.DataFrame, deletes: Sequence[str], *, rebuild: bool = False) -> str:
        """Publishes a generation with the changes and returns its name.

        `upserts` has columns `id` and `vector`, and any number of short labels. A published generation that cannot be read
        is quarantined and `IndexFailedError` raised; the next update then starts from nothing.
        """
        self.close()
        base = None if rebuild else self._generations.published()
        with self._generations.build(rebuild=rebuild) as folder, self._quarantined_on_failure(base):
            given = _stacked(upserts)
            with _collection(folder) as collection:
                _change(collection, upserts.drop("vector"), given, deletes)
            before = read_rows(folder) if base else VectorRows(Names.of(()), np.zeros((0, given.shape[1]), dtype=np.float32))
            write_rows(folder, before.changed(upserts["id"].to_list(), given, deletes))
        return folder.name

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine; nothing if there is no generation yet."""
        return self._on_published(lambda folder: self._find(folder, vector, limit), []) if limit > 0 else []

    def ids(self) -> set[str]:
        """Returns the ids in the published generation, read from Chroma."""

        def read(folder: Path) -> set[str]:
            with self._lock:
                return set(self._collection(folder).get(include=[])["ids"])

        return self._on_published(read, set())

    def _on_published(self, read: Callable[[Path], T], nothing: T) -> T:
        """Returns what is read from the published generation, again if another one replaces it meanwhile."""
        while folder := self._generations.published():
            with suppress(_ReplacedError), self._quarantined_on_failure(folder):
                return read(folder)
        return nothing

    def _find(self, folder: Path, vector: np.ndarray, limit: int) -> list[Hit]:
        rows = self._mapped(folder)
        if rows is not None and (len(rows) <= COMPARED_ROWS or not self._has_answered):
            self._has_answered = True
            return rows.find(vector, limit)
        with self._lock:
            collection = self._collection(folder)
            # Counting takes Chroma longer than finding: 17 ms over 100,000.
            return _query(collection, vector, min(limit, collection.count() if rows is None else len(rows)))

    def keep_published_only(self) -> None:
        """Removes every generation but the published one."""
        self.close()
        self._generations.keep_published_only()

    def close(self) -> None:
        """Closes the open generation."""
        with self._lock:
            if self._open is not None:
                _release(self._open[1])
                self._open = None
            self._rows = None

    def _mapped(self, folder: Path) -> VectorRows | None:
        kept = self._rows
        if kept is None or kept[0] != folder:
            kept = self._rows = (folder, read_rows(folder) if (folder / VECTORS).is_file() else None)
        return kept[1]

    def _collection(self, folder: Path) -> "Collection":
        if self._open is None or self._open[0] != folder:
            self.close()
            if not folder.is_dir():
                raise FileNotFoundError(folder)  # Chroma would create an empty one
            client = _client(folder)
            self._open = (folder, client, client.get_collection(COLLECTION, embedding_function=None))
        return self._open[2]

    @contextmanager
    def _quarantined_on_failure(self, folder: Path | None) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # chromadb raises its own, sqlite3's and its Rust core's errors, with no common base
            if folder is not None and self._generations.published() != folder:
                raise _ReplacedError from error  # another generation is published, and this one perhaps removed
            if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
                raise  # a full disk is not the generation's fault
            self.close()
            if folder is None:
                raise
            aside = self._generations.quarantine(folder)
            raise IndexFailedError(
                f"The vector index could not be read ({type(error).__name__}) and was moved to {aside}. "
                "Recall continues with keywords; run `memory data rebuild --indexes` to rebuild it from the tables."
            ) from error


class _ReplacedError(Exception):
    """Another generation was published during the read."""


@contextmanager
def _collection(folder: Path) -> Iterator["Collection"]:
    client = _client(folder)
    try:
        yield client.get_or_create_collection(COLLECTION, embedding_function=None, metadata={"hnsw:space": "cosine"})
    finally:
        _release(client)


def _change(collection: "Collection", upserts: pl.DataFrame, vectors: np.ndarray, deletes: Sequence[str]) -> None:
    for start in range(0, len(deletes), BATCH_ROWS):
        collection.delete(ids=list(deletes[start : start + BATCH_ROWS]))
    labels = [name for name in upserts.columns if name != "id"]
    for start in range(0, upserts.height, BATCH_ROWS):
        batch = upserts[start : start + BATCH_ROWS]
        collection.upsert(
            ids=batch["id"].to_list(),
            embeddings=vectors[start : start + BATCH_ROWS],
            metadatas=cast(Any, batch.select(labels).to_dicts()) if labels else None,
        )


def _stacked(upserts: pl.DataFrame) -> np.ndarray:
    """Returns the vectors, float32, shape (rows, dimension)."""
    if upserts.is_empty():
        return np.zeros((0, 0), dtype=np.float32)
    return upserts["vector"].explode().to_numpy().astype(np.float32).reshape(upserts.height, -1)


def _query(collection: "Collection", vector: np.ndarray, limit: int) -> list[Hit]:
    if not limit:
        return []
    found = collection.query(query_embeddings=[np.asarray(vector, dtype=np.float32)], n_results=limit, include=["distances"])
    distances = found["distances"] or [[]]
    return [Hit(id, 1.0 - float(far)) for id, far in zip(found["ids"][0], distances[0], strict=True)]


def _client(folder: Path) -> Any:
    with _IMPORTING, _no_env_file():
        import chromadb
        from chromadb.api.shared_system_client import SharedSystemClient
        from chromadb.config import Settings

    try:
        chosen = Settings(_env_file=None, anonymized_telemetry=False, allow_reset=False)  # pyright: ignore[reportCallIssue]
        return chromadb.PersistentClient(str(folder), chosen)
    except BaseException:
        SharedSystemClient._identifier_to_system.pop(str(folder), None)  # else the half-started system is reused
        raise


@contextmanager
def _no_env_file() -> Iterator[None]:
    """Prevents Chroma's import from reading `.env` in the working folder, which could name classes and addresses."""
    read = DotEnvSettingsSource._read_env_files
    DotEnvSettingsSource._read_env_files = lambda self: {}
    try:
        yield
    finally:
        DotEnvSettingsSource._read_env_files = read


def _release(client: Any) -> None:
    # Chroma keeps one system per path while the process runs; without this its files stay open.
    client.close()
    gc.collect()
