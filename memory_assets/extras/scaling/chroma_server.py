"""The vector index on a Chroma server: a collection for each generation, of ids, vectors and a few
short labels, never text.

    index/server/current                     the name of the published generation
    index/server/000012/server.json          address and collection of the generation
    collection memory-3f0c…-000012           on the server; never changed once published

A writer makes a new collection and then replaces the pointer, so that readers always have a whole
one. Collections that no generation names are deleted at the next update. A server that does not
answer fails no generation: `IndexFailedError` says what to do, and recall continues with keywords.
A collection that the server lost puts its generation into quarantine, and the next run fills a new
one from the tables.
"""

import hmac
import json
import shutil
import threading
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from memory_assets.adapters.array_index import MODEL_FILE, ArrayIndex, write_model
from memory_assets.adapters.chroma_index import (
    BATCH_ROWS,
    find_nearest,
    load_chromadb,
    upsert_rows,
)
from memory_assets.adapters.generations import ReplacedError
from memory_assets.errors import IndexFailedError
from memory_assets.schema.protocols import Hit
from memory_assets.store.store import Store
from memory_assets.text.files import text_of, write_json

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

SERVER_FILE = "server.json"

PROBE_SECONDS = 3.0
"""A server that says nothing for so long when it is connected is taken as down."""

ANSWER_SECONDS = 60.0
"""Longest wait for an answer: inserting 5,000 vectors takes a second."""

SEARCHED = 200
"""Candidates that the server compares for a question; recall asks for at most 100."""

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
        """`name` tells the collections of this store from those of other stores."""
        super().__init__(root, "server")
        self._arrays = ArrayIndex(root)
        self._address, self.name_of_store = address, name
        self._client: ClientAPI | None = None
        self._collection_of: tuple[Path, Collection] | None = None
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
                name = f"{self.name_of_store}-{folder.name}"
                made = self._new_collection(client, name)
                if base is not None:
                    _copy(
                        client.get_collection(_place(base)["collection"], embedding_function=None),
                        made,
                        {*deletes},
                    )
                upsert_rows(made, upserts)
                write_json(
                    folder / SERVER_FILE,
                    {"address": self._address, "collection": name, "rows": made.count()},
                )
                write_model(folder, model or (text_of(base / MODEL_FILE) if base else ""))
        self._arrays.remove()  # the vectors were in files before
        with suppress(IndexFailedError):  # the next update deletes what stays
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
        """Returns what is wrong with the published generation; the server is asked only if
        `is_deep`.
        """

        def read(folder: Path) -> list[str]:
            place = _place(folder)
            with self._lock:
                count = self._collection(folder).count()
            if count == place["rows"]:
                return []
            return [f"{place['collection']}: {count:,} vectors instead of {place['rows']:,}"]

        found = super().faults()
        try:
            return found or (self.read_published(read, []) if is_deep else [])
        except IndexFailedError as error:
            return [] if self.published() else [str(error)]  # a server that is down is no damage

    def keep_published_only(self) -> None:
        """Removes every other generation, here and on the server."""
        super().keep_published_only()
        self._delete_others()

    def erase(self) -> None:
        """Deletes all collections of the store on the server."""
        with self.quarantined_on_failure(None):
            delete_collections(self._connected(), f"{self.name_of_store}-", kept=())

    @contextmanager
    def quarantined_on_failure(self, folder: Path | None) -> Iterator[None]:
        """Moves a generation that the server lost to quarantine; raises `IndexFailedError` for
        every failure.
        """
        try:
            with super().quarantined_on_failure(folder):
                yield
        except (IndexFailedError, ReplacedError):
            raise
        except (
            Exception
        ) as error:  # chromadb raises its own errors, httpx's and ValueError, with no common base
            self.close()
            reason = str(getattr(error, "reason", error)) or type(error).__name__
            raise IndexFailedError(
                UNREACHABLE.format(address=self._address, reason=reason)
            ) from error

    def is_its_fault(self, error: Exception) -> bool:
        """Returns whether the generation is to blame: its collection is missing, or has vectors of
        another length.
        """
        from chromadb.errors import InvalidArgumentError, InvalidDimensionException, NotFoundError

        return isinstance(error, InvalidArgumentError | InvalidDimensionException | NotFoundError)

    def close(self) -> None:
        """Forgets the connection; the next question connects again."""
        with self._lock:
            self._collection_of = self._client = None

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine."""

        def read(folder: Path) -> list[Hit]:
            """Asks the collection of one generation."""
            with self._lock:
                return find_nearest(self._collection(folder), vector[np.newaxis], limit)[0]

        return self.read_published(read, []) if limit > 0 else []

    def _collection(self, folder: Path) -> "Collection":
        if self._collection_of is None or self._collection_of[0] != folder:
            name = _place(folder)["collection"]
            collection = self._connected().get_collection(name, embedding_function=None)
            self._collection_of = (folder, collection)
        return self._collection_of[1]

    def _connected(self) -> "ClientAPI":
        if self._client is None:
            self._client = connect(self._address)
        return self._client

    def _new_collection(self, client: "ClientAPI", name: str) -> "Collection":
        """Returns an empty collection; one of that name was left by a killed writer."""
        delete_collections(client, name, kept=())
        chosen: Any = {"hnsw": {"space": "cosine", "ef_search": SEARCHED}}
        return client.create_collection(name, embedding_function=None, configuration=chosen)

    def _delete_others(self) -> None:
        """Deletes the collections of the store that no generation names."""
        names = (_place(folder).get("collection") for folder in self._folders())
        with self.quarantined_on_failure(None):
            kept = list(filter(None, names))
            delete_collections(self._connected(), f"{self.name_of_store}-", kept=kept)


@cache
def _index(root: Path, address: str, name: str) -> ChromaServerIndex:
    return ChromaServerIndex(root, address, name)


def server_index(store: Store, address: str) -> ChromaServerIndex:
    """Returns the index of the store on the server, which stays open while the process runs.

    Its collections have names of their own for each data folder; machines may have equal paths.
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
    chromadb, settings = load_chromadb()
    parts = urlsplit(address)
    host, is_secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if is_secure else 80)
    client = chromadb.HttpClient(
        f"[{host}]" if ":" in host else host, port, ssl=is_secure, settings=settings
    )
    client._server._session.timeout = ANSWER_SECONDS  # chromadb waits for ever
    return client


def delete_collections(client: "ClientAPI", beginning: str, kept: Iterable[str]) -> None:
    """Deletes the collections whose names begin so, except the kept ones."""
    for name in [one.name for one in _collections(client) if one.name.startswith(beginning)]:
        if name not in kept:
            client.delete_collection(name)


def delete_left(root: Path, address: str) -> list[str]:
    """Deletes the collections on servers other than the one at this address, which the folder of
    indexes names; returns what could not be deleted and is tried again by the next update.
    """
    warnings = []
    for folder in sorted((root / "server").glob("*/")):
        place = _place(folder)
        if not place or place["address"] == address:
            continue
        name = place["collection"]
        try:
            delete_collections(connect(place["address"]), name.rpartition("-")[0] + "-", kept=())
        except Exception as error:
            warnings.append(
                f"The collection {name} is still on the Chroma server at {place['address']} "
                f"({error}). Start the server, or delete {folder}."
            )
        else:
            shutil.rmtree(folder)
    return warnings


def _place(folder: Path) -> dict[str, Any]:
    """Returns address, collection and number of rows of the generation in the folder; nothing if it
    is no server's.
    """
    try:
        place = json.loads((folder / SERVER_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    fields = {"address", "collection", "rows"}
    return place if isinstance(place, dict) and fields <= place.keys() else {}


def _copy(source: "Collection", target: "Collection", left_out: set[str]) -> None:
    """Adds the rows of one collection to another, without those of these ids."""
    for batch in _batches(source, ["embeddings", "metadatas"]):
        kept = [row for row, id in enumerate(batch["ids"]) if id not in left_out]
        if kept:
            labels = [batch["metadatas"][row] for row in kept]
            chosen: Any = labels if all(labels) else None
            target.add(
                [batch["ids"][row] for row in kept], np.asarray(batch["embeddings"])[kept], chosen
            )


def _batches(collection: "Collection", include: list[Any]) -> Iterator[Any]:
    for start in range(0, collection.count(), BATCH_ROWS):
        yield collection.get(limit=BATCH_ROWS, offset=start, include=include)


def _collections(client: "ClientAPI") -> list[Any]:
    """Returns all collections, of all stores; the server returns at most a page of them at once."""
    collections: list[Any] = []
    while True:
        page = client.list_collections(limit=100, offset=len(collections))
        if not page:
            return collections
        collections += page
