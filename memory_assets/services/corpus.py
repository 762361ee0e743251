"""Opens what a question is asked of: the memories, both indexes, the embedder, and the raw texts behind them.

The one place outside the assets where adapters are chosen. Without an embedder a question is still answered, from keywords.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.adapters.text_index import TextIndex
from memory_assets.errors import ModelError
from memory_assets.schema.protocols import Embedder, Tables
from memory_assets.schema.requests import Filters
from memory_assets.services.unindexed import FreshTexts, FreshVectors
from memory_assets.stages.embed.notes import hidden_sources, note_id
from memory_assets.stages.embed.overlay import overlay
from memory_assets.stages.embed.passages import cut_messages, cut_spans
from memory_assets.stages.recall.lookups import rows_of
from memory_assets.stages.recall.results import condition
from memory_assets.stages.recall.search import Corpus
from memory_assets.store.ledger import FORGOTTEN, NOTES
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.store import Store


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


@cache
def open_embedder(name: str) -> LocalEmbedder:
    """Returns the embedder of that name, loaded once in the life of the process; raises `ModelError` where there is none."""
    return LocalEmbedder(name)


class _Kept:
    """The rows of one table, read again only when another part of it was published."""

    def __init__(self, root: Path, table: str, columns: tuple[str, ...]) -> None:
        self._tables, self._table, self._columns = ParquetTables(root), table, columns
        self._held: tuple[dict[str, str], pl.DataFrame] | None = None

    def rows(self) -> pl.DataFrame:
        """Returns all rows as published."""
        published = {part: info.fingerprint for part, info in self._tables.parts(self._table).items()}
        held = self._held
        if held is None or held[0] != published:
            held = self._held = (published, self._tables.read(self._table, columns=list(self._columns) or None))
        return held[1]


@cache
def _kept(root: Path, table: str, *columns: str) -> _Kept:
    """Returns the rows with these columns, or with all."""
    return _Kept(root, table, columns)


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
        texts=present.texts,
        vectors=present.vectors,
        embedder=embedder,
        read_passages=lambda ids: read_passages(store, ids, present.hidden),
        select_passages=lambda filters: select_passages(store.tables, filters),
        aliases=store.settings.aliases,
        factors=store.settings.recall_factors,
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
    """Messages that carry what is forgotten."""
    embedder: Embedder | None = None


_present: dict[Path, Present] = {}


def open_present(store: Store, embedder: Embedder | None) -> Present:
    """Returns what is known now; kept until the memories are folded anew or another note is made."""
    folded, notes = _kept(store.tables.root, "memories").rows(), store.ledger.events(NOTES)
    known, ids = _present.get(store.root), tuple(event.id for event in notes)
    is_blind = known is None or (known.embedder is None and embedder is not None)
    if known is None or is_blind or known.folded is not folded or known.notes != ids:
        memories, texts, vectors = overlay(folded, notes), open_texts(store), open_vectors(store)
        told = memories.filter(pl.col("id").is_in([note_id(event) for event in notes if event.kind != FORGOTTEN]))
        known = _present[store.root] = Present(
            folded=folded,
            notes=ids,
            memories=memories,
            texts=FreshTexts(texts, told) if told.height else texts,
            vectors=FreshVectors(vectors, texts, told, embedder) if told.height and embedder else vectors,
            hidden=hidden_sources(notes),
            embedder=embedder,
        )
    return known


def passages_to_index(tables: Tables) -> pl.DataFrame:
    """Returns all passages with their texts; those of windows that are still open have no vector yet."""
    wanted = ["id", "message_id", "session_id", "line", "number", "text", "vector", "words"]
    texts = tables.scan("messages").select("message_id", pl.col("text").alias("whole"))
    closed = tables.scan("passages").join(texts, on="message_id", how="inner")
    span = pl.col("whole").str.slice(pl.col("char_from"), pl.col("char_to") - pl.col("char_from"))
    opened = cut_messages(tables.read("messages_open")).with_columns(
        vector=pl.lit(None, pl.List(pl.Float32)), words=pl.lit(None, pl.Binary)
    )
    return pl.concat([closed.with_columns(text=span).select(wanted).collect(), opened.select(wanted)])


def read_passages(store: Store, ids: Sequence[str], hidden: frozenset[str] = frozenset()) -> pl.DataFrame:
    """Returns the passages of those ids with their message's text and all that a result tells of them, hidden ones apart."""
    wanted = pl.DataFrame({"id": ids}, schema={"id": pl.String}).with_columns(
        message_id=pl.col("id").str.split("#").list.first(), number=pl.col("id").str.split("#").list.last().cast(pl.Int64)
    )
    wanted = wanted.filter(~pl.col("message_id").is_in(list(hidden)))
    messages = _messages(store.tables).filter(pl.col("message_id").is_in(wanted["message_id"].implode())).collect()
    spans = pl.DataFrame(
        [
            (f"{message_id}#{number}", message_id, start, end)
            for message_id, text in messages.select("message_id", "whole").iter_rows()
            for number, (start, end) in enumerate(cut_spans(text))
        ],
        schema={"id": pl.String, "message_id": pl.String, "char_from": pl.Int64, "char_to": pl.Int64},
        orient="row",
    )
    found = wanted.select("id").join(spans, on="id").join(messages, on="message_id")
    roles = rows_of(_kept(store.tables.root, "passages", "id", "role").rows(), ids)
    span = pl.col("whole").str.slice(pl.col("char_from"), pl.col("char_to") - pl.col("char_from"))
    return found.join(roles, on="id", how="left").with_columns(pl.col("role").fill_null("turn"), passage=span)


def select_passages(tables: Tables, filters: Filters) -> list[str]:
    """Returns the ids of the passages that pass the filters."""
    passages = tables.scan("passages").select("id", "session_id", "window_id", "event_at")
    opened = cut_messages(tables.read("messages_open")).select("id", "session_id", "window_id", "event_at")
    rows = pl.concat([passages, opened.lazy()]).join(_windows(tables), on="window_id")
    return rows.filter(condition(filters, rows.collect_schema().names())).select("id").collect()["id"].to_list()


def _messages(tables: Tables) -> pl.LazyFrame:
    columns = ["message_id", "session_id", "window_id", "line", "author", "event_at", pl.col("text").alias("whole")]
    both = pl.concat([tables.scan("messages").select(columns), tables.scan("messages_open").select(columns)])
    return both.join(_windows(tables), on="window_id").drop("window_id")


def _windows(tables: Tables) -> pl.LazyFrame:
    return tables.scan("windows").select("window_id", "path", "project", "person", "trigger")
