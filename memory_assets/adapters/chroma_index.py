"""The vector index as immutable generations of a Chroma folder: ids, vectors and a few short labels, never text.

One process writes a generation, closes it and publishes it; readers only ever open published ones. (A Chroma folder that one
process writes while another reads it gives stale answers and crashes.) Beside Chroma's own files lie the same vectors as an
array: few are compared one and all, which is exact and needs no Chroma, and so is the first question of a process, since
importing Chroma takes longer than comparing with a hundred thousand. A generation that cannot be read, or holds vectors of
another dimension, is moved to quarantine and `IndexFailedError` says how to rebuild. Chroma's settings come from the
environment alone, not from a `.env` in the working folder.
"""

import gc
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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

COLLECTION = "memories"
BATCH_ROWS = 5_000
"""Chroma takes at most 5,461 rows at once (its SQLite variable limit)."""

COMPARED_ROWS = 20_000
"""Up to so many vectors are compared one and all, in 3 ms; beyond, Chroma is as fast and its time hardly grows."""

_IMPORTING = threading.Lock()


class ChromaIndex:
    """Builds generations of vectors and finds the nearest in the published one; safe to share between threads."""

    def __init__(self, root: Path) -> None:
        self._generations = Generations(root, "vectors")
        self._open: tuple[Path, Any, Any] | None = None
        self._rows: tuple[Path, VectorRows | None] | None = None
        self._was_asked = False
        self._lock = threading.RLock()

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        folder = self._generations.published()
        return folder.name if folder else None

    def update(self, upserts: pl.DataFrame, deletes: Sequence[str], *, rebuild: bool = False) -> str:
        """Publishes a generation with the changes and returns its name.

        `upserts` has columns `id` and `vector`, and any number of short labels. A published generation that cannot be read
        is quarantined and `IndexFailedError` raised; there is none then, so the next update starts from nothing.
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
        """Returns the nearest, best first, scored by cosine; nothing where there is no generation yet."""
        while (folder := self._generations.published()) and limit > 0:
            try:
                with self._quarantined_on_failure(folder):
                    rows = self._mapped(folder)
                    if rows is not None and (len(rows) <= COMPARED_ROWS or not self._was_asked):
                        self._was_asked = True
                        return rows.find(vector, limit)
                    with self._lock:
                        collection = self._collection(folder)
                        # Counting takes Chroma longer than finding: 17 ms over 100,000.
                        return _ask(collection, vector, min(limit, collection.count() if rows is None else len(rows)))
            except _ReplacedError:
                continue
        return []

    def ids(self) -> set[str]:
        """Returns the ids in the published generation, as Chroma has them."""
        while folder := self._generations.published():
            try:
                with self._quarantined_on_failure(folder), self._lock:
                    return set(self._collection(folder).get(include=[])["ids"])
            except _ReplacedError:
                continue
        return set()

    def keep_published_only(self) -> None:
        """Removes every generation but the published one."""
        self.close()
        self._generations.keep_published_only()

    def close(self) -> None:
        """Lets go of the open generation."""
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
                raise FileNotFoundError(folder)  # Chroma would make an empty one
            client = _client(folder)
            self._open = (folder, client, client.get_collection(COLLECTION, embedding_function=None))
        return self._open[2]

    @contextmanager
    def _quarantined_on_failure(self, folder: Path | None) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # chromadb raises its own, sqlite3's and its Rust core's errors, with no common base
            if folder is not None and self._generations.published() != folder:
                raise _ReplacedError from error  # and perhaps removed, since its name was read
            if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
                raise  # a full disk is no fault of the generation's
            self.close()
            if folder is None:
                raise
            aside = self._generations.quarantine(folder)
            raise IndexFailedError(
                f"The vector index could not be read ({type(error).__name__}) and was moved to {aside}. "
                "Recall goes on with keywords; `memory data rebuild --indexes` makes it again from the tables."
            ) from error


class _ReplacedError(Exception):
    """Another generation was published meanwhile."""


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


def _ask(collection: "Collection", vector: np.ndarray, limit: int) -> list[Hit]:
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
        SharedSystemClient._identifier_to_system.pop(str(folder), None)  # else the half-started system is handed out again
        raise


@contextmanager
def _no_env_file() -> Iterator[None]:
    """Keeps Chroma from reading `.env` in the working folder while it is imported: it could name classes and addresses."""
    read = DotEnvSettingsSource._read_env_files
    DotEnvSettingsSource._read_env_files = lambda self: {}
    try:
        yield
    finally:
        DotEnvSettingsSource._read_env_files = read


def _release(client: Any) -> None:
    # Chroma keeps one system per path for the life of the process; without this its files stay open.
    client.close()
    gc.collect()
