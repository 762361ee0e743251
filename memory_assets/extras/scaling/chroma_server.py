"""The vector index on a Chroma server: a collection for each generation, of ids, vectors and a few
short labels, never text.

    index/server/current                     the name of the published generation
    index/server/000012/server.json          address and collection of the generation
    collection memory-3f0c…-000012           on the server; never changed once published

A writer fills a new collection and then replaces the file `current`, so that readers always have a
complete collection. The next update deletes collections that no generation names. If the server
does not answer, the generation stays: `IndexFailedError` says what to do, and recall continues with
keywords. If the server lost a collection, its generation is moved to quarantine, and the next run
fills a new one from the tables.
"""

import hmac
import json
import shutil
import threading
import urllib.request
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from memory_assets.adapters import chroma_index
from memory_assets.adapters.array_index import MODEL_FILE, ArrayIndex, write_model
from memory_assets.adapters.generations import ReplacedError
from memory_assets.errors import IndexFailedError
from memory_assets.schema.protocols import Hit
from memory_assets.store.store import Store
from memory_assets.text.files import text_of, write_json

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection as ChromaCollection

SERVER_FILE = "server.json"

PROBE_SECONDS = 3.0
"""Longest wait for the first answer: then the server counts as down."""

ANSWER_SECONDS = 60.0
"""Longest wait for an answer: inserting 5,000 vectors takes a second."""

EF_SEARCH = 200
"""Candidates that the server compares for a question (HNSW's `ef_search`); recall asks for at most
100 results.
"""

UNREACHABLE = (
    "The Chroma server at {address} does not answer as one: {reason}. Recall continues with "
    "keywords. Start it (`chroma run --host HOST --port PORT --path FOLDER`) or fix the setting "
    "`chroma`; `memory ingest` then continues."
)


class ChromaServerIndex(ArrayIndex):
    """Builds generations of vectors on a server and finds the nearest in the published one;
    thread-safe.
    """

    FAILED = (
        "The vector index on the Chroma server could not be read ({error.__class__.__name__}); its "
        "files were moved to {aside}. Recall continues with keywords; `memory ingest` fills the "
        "server again from the tables."
    )
    is_remote = True
    has_labels = True

    def __init__(self, root: Path, address: str, name: str) -> None:
        """Takes the folder of indexes, the server's address, and the name with which the
        collections of this store begin.
        """
        super().__init__(root, "server")
        self._arrays = ArrayIndex(root)
        self._address = address
        self.store_name = name
        self._client: ClientAPI | None = None
        self._cached_collection: tuple[Path, ChromaCollection] | None = None
        self._lock = threading.RLock()

    def is_readable(self, folder: Path) -> bool:
        """Returns whether the generation is on this server."""
        return _place(folder).get("address") == self._address

    def update(
        self,
        upserts: pl.DataFrame,
        deletes: Sequence[str],
        *,
        rebuild: bool = False,
        model: str = "",
    ) -> str:
        """Publishes a generation with the changes and returns its name; see
        `ArrayIndex.update`.
        """
        base = None if rebuild else self.published()
        with self._lock, self.quarantined_on_failure(base):
            client = self._connected()  # before anything is changed here
            with self.build(rebuild=True) as folder:
                name = f"{self.store_name}-{folder.name}"
                collection = self._new_collection(client, name)
                if base is not None:
                    base_name = _place(base)["collection"]
                    base_collection = client.get_collection(base_name, embedding_function=None)
                    _copy(base_collection, collection, {*deletes})
                chroma_index.upsert_rows(collection, upserts)
                rows = collection.count()
                place = {"address": self._address, "collection": name, "rows": rows}
                write_json(folder / SERVER_FILE, place)
                write_model(folder, model or (text_of(base / MODEL_FILE) if base else ""))
        self._arrays.remove()  # files of vectors, from before the setting `chroma`
        with suppress(IndexFailedError):  # else the next update deletes them
            self._delete_others()
        return folder.name

    def ids(self) -> set[str]:
        """Returns the ids in the published generation, read from the server."""

        def read(folder: Path) -> set[str]:
            """Reads the collection of one generation, a page at a time."""
            with self._lock:
                return {
                    id for batch in _batches(self._collection(folder), []) for id in batch["ids"]
                }

        return self.read_published(read, set())

    def faults(self, *, is_deep: bool = False) -> list[str]:
        """Returns what is wrong with the published generation, on the server only if `is_deep`."""

        def read(folder: Path) -> list[str]:
            place = _place(folder)
            with self._lock:
                count = self._collection(folder).count()
            if count == place["rows"]:
                return []
            return [f"{place['collection']}: {count:,} vectors instead of {place['rows']:,}"]

        faults = super().faults()
        if faults or not is_deep:
            return faults
        try:
            return self.read_published(read, [])
        except IndexFailedError as error:
            return [] if self.published() else [str(error)]  # a server that is down is no damage

    def keep_published_only(self) -> None:
        """Removes every other generation, here and on the server."""
        super().keep_published_only()
        self._delete_others()

    def erase(self) -> None:
        """Deletes all collections of the store on the server."""
        with self.quarantined_on_failure(None):
            delete_collections(self._connected(), f"{self.store_name}-", used=())

    @contextmanager
    def quarantined_on_failure(self, folder: Path | None) -> Iterator[None]:
        """Turns failures of the block into `IndexFailedError`; a generation that the server lost is
        moved to quarantine.
        """
        try:
            with super().quarantined_on_failure(folder):
                yield
        except (IndexFailedError, ReplacedError):
            raise
        # chromadb raises its own errors, httpx's and ValueError, with no common base.
        except Exception as error:
            self.close()
            reason = str(getattr(error, "reason", error)) or type(error).__name__
            raise IndexFailedError(
                UNREACHABLE.format(address=self._address, reason=reason)
            ) from error

    def is_damage(self, error: Exception) -> bool:
        """Returns whether the error means that the server lost the collection, or that its vectors
        have another length.
        """
        from chromadb.errors import InvalidArgumentError, InvalidDimensionException, NotFoundError

        return isinstance(error, InvalidArgumentError | InvalidDimensionException | NotFoundError)

    def close(self) -> None:
        """Closes the connection; the next request connects again."""
        with self._lock:
            self._cached_collection = self._client = None

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest rows, best first, scored by cosine."""

        def read(folder: Path) -> list[Hit]:
            """Asks the collection of one generation."""
            with self._lock:
                return chroma_index.find_nearest(
                    self._collection(folder), vector[np.newaxis], limit
                )[0]

        return self.read_published(read, []) if limit > 0 else []

    def _collection(self, folder: Path) -> "ChromaCollection":
        if self._cached_collection is None or self._cached_collection[0] != folder:
            name = _place(folder)["collection"]
            collection = self._connected().get_collection(name, embedding_function=None)
            self._cached_collection = (folder, collection)
        return self._cached_collection[1]

    def _connected(self) -> "ClientAPI":
        if self._client is None:
            self._client = connect(self._address)
        return self._client

    def _new_collection(self, client: "ClientAPI", name: str) -> "ChromaCollection":
        """Returns an empty collection; deletes one of that name that a killed writer left."""
        delete_collections(client, name, used=())
        configuration: Any = {"hnsw": {"space": "cosine", "ef_search": EF_SEARCH}}
        return client.create_collection(name, embedding_function=None, configuration=configuration)

    def _delete_others(self) -> None:
        """Deletes the collections of the store that no generation names."""
        names = {_place(folder).get("collection", "") for folder in self._folders()}
        with self.quarantined_on_failure(None):
            delete_collections(self._connected(), f"{self.store_name}-", used=names)


@cache
def _index(root: Path, address: str, name: str) -> ChromaServerIndex:
    return ChromaServerIndex(root, address, name)


def server_index(store: Store, address: str) -> ChromaServerIndex:
    """Returns the index of the store on the server; it stays open while the process runs.

    Each data folder has other names of collections: they contain a hash of its path and, as
    machines may have equal paths, of its place among the folders that share the store.
    """
    place = f" {store.shared.place}" if store.shared and store.shared.place else ""
    hashed = hmac.digest(store.key, f"{store.root}{place}".encode(), "sha256").hex()
    return _index(store.root / "index", address, f"memory-{hashed[:16]}")


def connect(address: str) -> "ClientAPI":
    """Returns a client of the server; raises `OSError` or `ValueError` where no Chroma server
    answers.
    """
    with urllib.request.urlopen(f"{address}/api/v2/heartbeat", timeout=PROBE_SECONDS) as answer:
        if b"heartbeat" not in answer.read(1_000):
            raise ValueError("another program answers there")
    chromadb, settings = chroma_index.load_chromadb()
    parts = urlsplit(address)
    is_secure = parts.scheme == "https"
    port = parts.port or (443 if is_secure else 80)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    client = chromadb.HttpClient(host, port, ssl=is_secure, settings=settings)
    client._server._session.timeout = ANSWER_SECONDS  # chromadb waits for ever
    return client


def delete_collections(client: "ClientAPI", prefix: str, used: Collection[str]) -> None:
    """Deletes the collections whose names have the prefix, except those to keep."""
    for collection in _collections(client):
        if collection.name.startswith(prefix) and collection.name not in used:
            client.delete_collection(collection.name)


def delete_unused(root: Path, address: str) -> list[str]:
    """Deletes this store's collections on all servers but the one at this address; returns a
    warning for each that could not be deleted, which the next update tries again.
    """
    warnings = []
    for folder in sorted((root / "server").glob("*/")):
        place = _place(folder)
        if not place or place["address"] == address:
            continue
        name = place["collection"]
        try:
            delete_collections(connect(place["address"]), name.rpartition("-")[0] + "-", used=())
        except Exception as error:
            warnings.append(
                f"The collection {name} is still on the Chroma server at {place['address']} "
                f"({error}). Start the server, or delete {folder}."
            )
        else:
            shutil.rmtree(folder)
    return warnings


def _place(folder: Path) -> dict[str, Any]:
    """Returns address, collection and number of rows of the generation in the folder; empty if it
    is not on a server.
    """
    try:
        place = json.loads((folder / SERVER_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    fields = {"address", "collection", "rows"}
    return place if isinstance(place, dict) and fields <= place.keys() else {}


def _copy(source: "ChromaCollection", target: "ChromaCollection", excluded: set[str]) -> None:
    """Adds the rows of one collection to another, except those with these ids."""
    for batch in _batches(source, ["embeddings", "metadatas"]):
        rows = [row for row, id in enumerate(batch["ids"]) if id not in excluded]
        if rows:
            ids = [batch["ids"][row] for row in rows]
            vectors = np.asarray(batch["embeddings"])[rows]
            labels: Any = [batch["metadatas"][row] for row in rows]
            target.add(ids, vectors, labels if all(labels) else None)


def _batches(collection: "ChromaCollection", include: list[Any]) -> Iterator[Any]:
    for start in range(0, collection.count(), chroma_index.BATCH_ROWS):
        yield collection.get(limit=chroma_index.BATCH_ROWS, offset=start, include=include)


def _collections(client: "ClientAPI") -> list[Any]:
    """Returns all collections, of all stores; the server returns at most a page of them at once."""
    collections: list[Any] = []
    while True:
        page = client.list_collections(limit=100, offset=len(collections))
        if not page:
            return collections
        collections += page
