"""Opens what a question is asked of: the memories, both indexes, the embedder, and the raw texts behind them.

The one place outside the assets where adapters are chosen. Without an embedder a question is still answered, from keywords.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import polars as pl

from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.adapters.parquet_tables import ParquetTables
from memory_assets.adapters.text_index import TextIndex
from memory_assets.embed.notes import hidden_sources, note_id
from memory_assets.embed.overlay import overlay
from memory_assets.errors import ModelError
from memory_assets.fresh import FreshTexts, FreshVectors
from memory_assets.ledger import FORGOTTEN, NOTES
from memory_assets.protocols import Embedder, Tables
from memory_assets.recall.neighbours import Graph, read_graph
from memory_assets.recall.search import Corpus
from memory_assets.store import Store


def open_vectors(store: Store) -> ChromaIndex:
    """Returns the index of meanings, kept for the life of the process with what is open of it."""
    return _vectors(store.root / "index")


def open_texts(store: Store) -> TextIndex:
    """Returns the index of words, kept for the life of the process with what is open of it."""
    return _texts(store.root / "index")


@cache
def _vectors(root: Path) -> ChromaIndex:
    return ChromaIndex(root)


@cache
def _texts(root: Path) -> TextIndex:
    return TextIndex(root)


def open_graph(store: Store) -> Graph:
    """Returns the entity graph, read once for each time that it was made."""
    parts = (store.tables.parts(table).get("all") for table in ("mentions", "entities"))
    return _graph(store.root / "tables", tuple(part.fingerprint if part else "-" for part in parts))


@lru_cache(maxsize=2)
def _graph(root: Path, fingerprints: tuple[str, ...]) -> Graph:
    tables = ParquetTables(root)
    return read_graph(tables.read("mentions"), tables.read("entities"))


@cache
def open_embedder(name: str) -> LocalEmbedder:
    """Returns the embedder of that name, loaded once in the life of the process; raises `ModelError` where there is none."""
    return LocalEmbedder(name)


class _Kept:
    """The rows of one table, read again only when another part of it was published."""

    def __init__(self, root: Path, table: str) -> None:
        self._tables, self._table = ParquetTables(root), table
        self._held: tuple[dict[str, str], pl.DataFrame] | None = None

    def rows(self) -> pl.DataFrame:
        """Returns all rows as published."""
        published = {part: info.fingerprint for part, info in self._tables.parts(self._table).items()}
        held = self._held
        if held is None or held[0] != published:
            held = self._held = (published, self._tables.read(self._table))
        return held[1]


@cache
def _kept(root: Path, table: str) -> _Kept:
    return _Kept(root, table)


def open_corpus(store: Store) -> tuple[Corpus, tuple[str, ...]]:
    """Returns everything that is searched, and what is missing of it."""
    missing: tuple[str, ...] = ()
    embedder = None
    try:
        embedder = open_embedder(store.settings.embedding_model)
    except ModelError as error:
        missing = (str(error),)
    present = open_present(store, embedder)
    corpus = Corpus(
        memories=present.memories,
        keywords=present.texts,
        vectors=present.vectors,
        embedder=embedder,
        read_segments=lambda ids: _segments(store.tables, [id for id in ids if id not in present.hidden]),
        read_messages=lambda ids: _messages(store.tables, [id for id in ids if id not in present.hidden]),
    )
    return corpus, missing


@dataclass(frozen=True)
class Present:
    """The memories as they stand now, notes of this very moment included, and the indexes over them."""

    folded: pl.DataFrame
    """The memories as they were written."""
    notes: tuple[str, ...]
    """Ids of the events that are laid over them."""
    memories: pl.DataFrame
    texts: TextIndex | FreshTexts
    vectors: ChromaIndex | FreshVectors
    hidden: frozenset[str]
    """Messages and segments that carry what is forgotten."""
    embedder: Embedder | None = None


_present: dict[Path, Present] = {}


def open_present(store: Store, embedder: Embedder | None) -> Present:
    """Returns what is known now; kept until the memories are folded anew or another note is made."""
    folded, notes = _kept(store.tables.root, "memories").rows(), store.ledger.events(NOTES)
    known, ids = _present.get(store.root), tuple(event.id for event in notes)
    is_blind = known is None or (known.embedder is None and embedder is not None)
    if known is None or is_blind or known.folded is not folded or known.notes != ids:
        laid, texts, vectors = overlay(folded, notes), open_texts(store), open_vectors(store)
        told = laid.memories.filter(pl.col("id").is_in([note_id(event) for event in notes if event.kind != FORGOTTEN]))
        known = _present[store.root] = Present(
            folded=folded,
            notes=ids,
            memories=laid.memories,
            texts=FreshTexts(texts, told) if told.height else texts,
            vectors=FreshVectors(vectors, texts, told, embedder) if told.height and embedder else vectors,
            hidden=hidden_sources(notes),
            embedder=embedder,
        )
    return known


def _segments(tables: Tables, ids: Sequence[str]) -> pl.DataFrame:
    rows = tables.scan("segments").filter(pl.col("segment_id").is_in(list(ids)))
    found = rows.select(
        "window_id",
        pl.col("segment_id").alias("id"),
        pl.col("narrative").alias("text"),
        "session_id",
        pl.col("ended_at").alias("event_at"),
        pl.concat_list("line_from", "line_to").alias("lines"),
    )
    return _with_origin(tables, found)


def _messages(tables: Tables, ids: Sequence[str]) -> pl.DataFrame:
    rows = pl.concat([tables.scan("messages"), tables.scan("messages_open")])
    found = rows.filter(pl.col("message_id").is_in(list(ids))).select(
        "window_id", pl.col("message_id").alias("id"), "text", "session_id", "event_at", pl.concat_list("line").alias("lines")
    )
    return _with_origin(tables, found)


def _with_origin(tables: Tables, rows: pl.LazyFrame) -> pl.DataFrame:
    windows = tables.scan("windows").select("window_id", "path", "project")
    return rows.join(windows, on="window_id", how="inner").drop("window_id").collect()
