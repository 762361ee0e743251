"""The vector index as immutable generations of a Chroma folder: ids, vectors and a few short labels, never text.

One process writes a generation, closes it and publishes it; readers only ever open published ones. (A Chroma folder that one
process writes while another reads it gives stale answers and crashes.) A generation that cannot be read, or holds vectors of
another dimension, is moved to quarantine and `IndexFailedError` says how to rebuild.
"""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from memory_assets.adapters.generations import Generations
from memory_assets.errors import IndexFailedError
from memory_assets.protocols import Hit

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

COLLECTION = "memories"
BATCH_ROWS = 5_000
"""Chroma takes at most 5,461 rows at once (its SQLite variable limit)."""


class ChromaIndex:
    """Builds generations of vectors and finds the nearest in the published one."""

    def __init__(self, root: Path) -> None:
        self._generations = Generations(root, "vectors")
        self._open: tuple[Path, Any, Any] | None = None

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
        with (
            self._generations.build(rebuild=rebuild) as folder,
            self._quarantined_on_failure(base),
            _collection(folder) as collection,
        ):
            _change(collection, upserts, deletes)
        return folder.name

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine; nothing where there is no generation yet."""
        collection = self._published()
        if collection is None or limit <= 0:
            return []
        with self._quarantined_on_failure(self._open_folder):
            count = collection.count()
            if not count:
                return []
            found = collection.query(
                query_embeddings=[np.asarray(vector, dtype=np.float32)], n_results=min(limit, count), include=["distances"]
            )
        distances = found["distances"] or [[]]
        return [Hit(id, 1.0 - float(far)) for id, far in zip(found["ids"][0], distances[0], strict=True)]

    def ids(self) -> set[str]:
        """Returns the ids in the published generation."""
        collection = self._published()
        if collection is None:
            return set()
        with self._quarantined_on_failure(self._open_folder):
            return set(collection.get(include=[])["ids"])

    def close(self) -> None:
        """Lets go of the open generation."""
        if self._open is not None:
            _release(self._open[1])
            self._open = None

    def _published(self) -> "Collection | None":
        folder = self._generations.published()
        if folder is None:
            self.close()
            return None
        if self._open is None or self._open[0] != folder:
            self.close()
            with self._quarantined_on_failure(folder):
                client = _client(folder)
                self._open = (folder, client, client.get_collection(COLLECTION, embedding_function=None))
        assert self._open is not None
        return self._open[2]

    @property
    def _open_folder(self) -> Path | None:
        return self._open[0] if self._open else None

    @contextmanager
    def _quarantined_on_failure(self, folder: Path | None) -> Iterator[None]:
        try:
            yield
        except OSError:
            raise  # a full disk is no fault of the generation's
        except Exception as error:  # chromadb raises its own, sqlite3's and its Rust core's errors, with no common base
            self.close()
            if folder is None:
                raise
            aside = self._generations.quarantine(folder)
            raise IndexFailedError(
                f"The vector index could not be read ({type(error).__name__}) and was moved to {aside}. "
                "Recall goes on with keywords; `memory rebuild --indexes` makes it again from the tables."
            ) from error


@contextmanager
def _collection(folder: Path) -> Iterator["Collection"]:
    client = _client(folder)
    try:
        yield client.get_or_create_collection(COLLECTION, embedding_function=None, metadata={"hnsw:space": "cosine"})
    finally:
        _release(client)


def _change(collection: "Collection", upserts: pl.DataFrame, deletes: Sequence[str]) -> None:
    for start in range(0, len(deletes), BATCH_ROWS):
        collection.delete(ids=list(deletes[start : start + BATCH_ROWS]))
    labels = [name for name in upserts.columns if name not in ("id", "vector")]
    for batch in upserts.iter_slices(BATCH_ROWS):
        collection.upsert(
            ids=batch["id"].to_list(),
            embeddings=np.stack([np.asarray(v, dtype=np.float32) for v in batch["vector"].to_list()]),
            metadatas=cast(Any, batch.select(labels).to_dicts()) if labels else None,
        )


def _client(folder: Path) -> Any:
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    try:
        return chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False, allow_reset=False))
    except BaseException:
        SharedSystemClient.clear_system_cache()  # else the half-started system is handed out again
        raise


def _release(client: Any) -> None:
    # Chroma keeps one system per path for the life of the process; without this its files stay open.
    from chromadb.api.shared_system_client import SharedSystemClient

    client.close() if hasattr(client, "close") else client._system.stop()
    SharedSystemClient.clear_system_cache()
    gc.collect()
