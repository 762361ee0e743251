"""Chroma's copy of the vectors: immutable generations of a Chroma folder, with ids, vectors and a
few short labels, never text.

The copy is for programs that read Chroma. Recall searches the arrays of `array_index`, which find
more and need no import of Chroma. One process writes a generation, closes it and publishes it;
readers only open published generations. (Writing and reading one Chroma folder at the same time
gives stale answers and crashes.) The unused parts of Chroma's graph files are copies of
uninitialised memory, which can hold any text of the process; they are overwritten whenever a
generation is closed. Chroma's settings never come from a `.env` in the working folder.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl
from pydantic_settings import DotEnvSettingsSource

from memory_assets.adapters.array_index import stacked
from memory_assets.adapters.generations import Generations
from memory_assets.schema.protocols import Hit

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

T = TypeVar("T")

COLLECTION = "memories"

BATCH_ROWS = 5_000
"""Chroma takes at most 5,461 rows at once (its SQLite variable limit)."""

_IMPORTING = threading.Lock()
"""Held while Chroma is imported with `_no_env_file`, which changes a class of pydantic-settings."""


class ChromaIndex(Generations):
    """Builds generations of a Chroma collection, and reads the published one."""

    FAILED = (
        "Chroma's copy of the vectors could not be read ({error.__class__.__name__}) and was moved "
        "to {aside}. Recall does not need it; the nightly run or `memory data rebuild --indexes` "
        "rebuilds it from the tables."
    )

    has_labels = True
    """Whether it keeps labels of memories beside their vectors."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "chroma")

    def update(
        self, upserts: pl.DataFrame, deletes: Sequence[str], *, rebuild: bool = False
    ) -> str:
        """Publishes a generation with the changes and returns its name.

        `upserts` has columns `id` and `vector`, and any number of short labels.
        """
        base = None if rebuild else self.published()
        with (
            self.build(rebuild=base is None) as folder,
            self.quarantined_on_failure(base),
            _opened(folder, is_new=base is None) as collection,
        ):
            for start in range(0, len(deletes), BATCH_ROWS):
                collection.delete(ids=list(deletes[start : start + BATCH_ROWS]))
            upsert_rows(collection, upserts)
        return folder.name

    def ids(self) -> set[str]:
        """Returns the ids in the published generation."""
        return self._read(lambda collection: set(collection.get(include=[])["ids"]), set())

    def find(self, vectors: np.ndarray, limit: int) -> list[list[Hit]]:
        """Returns the nearest rows of each vector, best first, scored by cosine."""
        return self._read(lambda collection: find_nearest(collection, vectors, limit), [])

    def _read(self, read: "Callable[[Collection], T]", nothing: T) -> T:
        def read_folder(folder: Path) -> T:
            """Reads the collection of one generation."""
            with _opened(folder) as collection:
                return read(collection)

        return self.read_published(read_folder, nothing)


def upsert_rows(collection: "Collection", upserts: pl.DataFrame) -> None:
    """Inserts or replaces the rows, with columns `id`, `vector` and any labels."""
    for start in range(0, upserts.height, BATCH_ROWS):
        batch = upserts[start : start + BATCH_ROWS]
        labels: Any = batch.drop("id", "vector").to_dicts() if batch.width > 2 else None
        collection.upsert(ids=batch["id"].to_list(), embeddings=stacked(batch), metadatas=labels)


def find_nearest(collection: "Collection", vectors: np.ndarray, limit: int) -> list[list[Hit]]:
    """Returns the nearest rows of each vector, best first, scored by cosine."""
    count = collection.count()
    if not count:
        return [[] for _ in vectors]
    answer = collection.query(
        query_embeddings=np.asarray(vectors, dtype=np.float32),
        n_results=min(limit, count),
        include=["distances"],
    )
    return [
        [Hit(id, 1.0 - float(distance)) for id, distance in zip(ids, distances, strict=True)]
        for ids, distances in zip(answer["ids"], answer["distances"] or [], strict=True)
    ]


@contextmanager
def _opened(folder: Path, *, is_new: bool = False) -> "Iterator[Collection]":
    """Opens the Chroma collection in an existing folder; creates the collection if `is_new`."""
    if not folder.is_dir():
        raise FileNotFoundError(folder)  # Chroma would create it
    client = _client(folder)
    try:
        if is_new:
            client.create_collection(
                COLLECTION, embedding_function=None, metadata={"hnsw:space": "cosine"}
            )
        yield client.get_collection(COLLECTION, embedding_function=None)
    finally:
        client.close()
        _overwrite_unused(folder)


ZEROED_BYTES = 1_000_000
"""Bytes that are overwritten at once."""


def _overwrite_unused(folder: Path) -> None:
    """Overwrites with zeros the parts of the graph files that no element uses (format of
    chroma-hnswlib's persistent index).

    Chroma writes these files even when it only opens an index, and fills the unused part with the
    memory of the process. They are changed in place: another process may be reading them. If the
    disk cannot be written, Chroma wrote nothing either.
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


def load_chromadb() -> tuple[Any, Any]:
    """Returns the module, and settings for it: none from a file, and no telemetry."""
    with _IMPORTING, _no_env_file():
        import chromadb
        from chromadb.config import Settings

    settings = Settings(_env_file=None, anonymized_telemetry=False, allow_reset=False)  # pyright: ignore[reportCallIssue]
    return chromadb, settings


def _client(folder: Path) -> Any:
    with _IMPORTING, _no_env_file():
        from chromadb.api.shared_system_client import SharedSystemClient

    try:
        chromadb, settings = load_chromadb()
        return chromadb.PersistentClient(str(folder), settings)
    except BaseException:
        # Else the next client would use the half-started system.
        SharedSystemClient._identifier_to_system.pop(str(folder), None)
        raise


@contextmanager
def _no_env_file() -> Iterator[None]:
    """Prevents Chroma's import from reading `.env` in the working folder, where anybody could name
    classes and addresses.
    """
    read = DotEnvSettingsSource._read_env_files
    DotEnvSettingsSource._read_env_files = lambda self: {}
    try:
        yield
    finally:
        DotEnvSettingsSource._read_env_files = read
