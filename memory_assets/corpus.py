"""Opens what a question is asked of: the memories, both indexes, the embedder, and the raw texts behind them.

The one place outside the assets where adapters are chosen. Without an embedder a question is still answered, from keywords.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import polars as pl

from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.adapters.parquet_tables import ParquetTables
from memory_assets.adapters.text_index import TextIndex
from memory_assets.errors import ModelError
from memory_assets.protocols import Tables
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
    corpus = Corpus(
        memories=_kept(store.tables.root, "memories").rows(),
        keywords=open_texts(store),
        vectors=open_vectors(store),
        embedder=embedder,
        read_segments=lambda ids: _segments(store.tables, ids),
        read_messages=lambda ids: _messages(store.tables, ids),
    )
    return corpus, missing


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
