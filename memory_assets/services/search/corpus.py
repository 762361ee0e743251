"""Opens what a search needs: the memories, both indexes, the embedder, and the passages of
messages.

The only place outside the assets where adapters are chosen. Without an embedder, questions are
answered from keywords.

What was read is kept while the process runs, until a table changes or another note is saved.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from memory_assets.adapters.array_index import ArrayIndex
from memory_assets.adapters.local_embedder import model_folder, open_embedder
from memory_assets.adapters.text_index import CORPORA, TextIndex
from memory_assets.adapters.vector_files import VectorFiles
from memory_assets.errors import ModelError
from memory_assets.schema.extras import first_of
from memory_assets.schema.frames import empty
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.requests import Filters
from memory_assets.services.search.fresh_index import FreshTexts, FreshVectors
from memory_assets.stages.distill.quotes import QUOTE_COLUMNS
from memory_assets.stages.embed.encode import HAS_VECTOR, SAID, cut_messages, hashed, is_made_by
from memory_assets.stages.embed.notes import hidden_sources, note_id
from memory_assets.stages.embed.present import overlay
from memory_assets.stages.embed.project import RETRIEVABLE
from memory_assets.stages.recall.lookups import places_of, rows_of
from memory_assets.stages.recall.results import condition
from memory_assets.stages.recall.retrievers import Corpus
from memory_assets.store.ledger import FORGOTTEN, NOTES
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.store import Store

MESSAGES = CORPORA[1]
MADE_BY = ["model", "model_version"]
"""Columns that name the model of a vector."""

ModelVersion = tuple[str, str]
"""Name and version of an embedding model."""

_vector_index = cache(ArrayIndex)
_text_index = cache(TextIndex)
"""Indexes by folder, which stay open while the process runs."""


def open_vectors(store: Store) -> ArrayIndex:
    """Returns the vector index: in files, unless an optional capability has another one."""
    return first_of("vectors", store) or _vector_index(store.root / "index")


def open_texts(store: Store, name: str = "texts", corpora: tuple[str, ...] = CORPORA) -> TextIndex:
    """Returns the text index, or another one of that name."""
    return _text_index(store.root / "index", name, corpora)


def open_note_vectors(store: Store) -> VectorFiles:
    """Returns the vectors of notes that are in no index yet."""
    return VectorFiles(store.root / "index" / "notes")


def model_in_use(store: Store) -> ModelVersion | None:
    """Returns name and version of the embedding model whose vectors are indexed and compared; None
    without vectors.

    It is the configured one as soon as that has encoded every memory that another one encoded;
    until then the old one.
    """
    rows = store.tables.read("embeddings", columns=["text_hash", *MADE_BY])
    models = rows.select(MADE_BY).unique()
    if models.height <= 1:
        return models.row(0) if models.height else None
    current = configured_model(store)
    is_current = is_made_by(*current or ("", ""))
    memories = store.tables.read("memories", columns=["state", "text_hash"])
    wanted = memories.filter(pl.col("state").is_in(RETRIEVABLE))
    encoded = wanted.join(rows, on="text_hash", how="semi")
    lacking = encoded.join(rows.filter(is_current), on="text_hash", how="anti")
    if current and lacking.is_empty():
        return current
    old = rows.filter(~is_current).group_by(MADE_BY).len()
    return old.sort("len", *MADE_BY, descending=True).select(MADE_BY).row(0)


def embeddings_in_use(store: Store) -> pl.DataFrame:
    """Returns the vectors of the model in use."""
    made_by = model_in_use(store)
    if not made_by:
        return empty("embeddings")
    return store.tables.scan("embeddings").filter(is_made_by(*made_by)).collect()


def requests_in_use(store: Store) -> pl.DataFrame:
    """Returns the beginnings of the requests of segments without a narrative, with their vectors of
    the model in use.
    """
    is_in_use = is_made_by(*model_in_use(store) or configured_model(store) or ("", ""))
    quotes = store.tables.scan("segments").filter(narrative="").explode(*QUOTE_COLUMNS)
    requests = quotes.filter(quote_sources="request")
    asked = requests.select("project", message_id="quote_ids")
    passages = store.tables.scan("passages").filter(number=0)
    encoded = store.tables.scan("passage_vectors").filter(is_in_use)
    hashes = asked.join(passages.select("message_id", "text_hash"), on="message_id")
    vectors = hashes.join(encoded.select("text_hash", "vector"), on="text_hash")
    distinct = vectors.unique(["project", "text_hash"])
    dimension = pl.col("vector").list.len().cast(pl.Int64)
    return distinct.with_columns(dimension=dimension).collect()


def is_switching_models(store: Store) -> bool:
    """Returns whether the configured embedding model is still encoding what another one encoded
    before.
    """
    several = store.tables.read("embeddings", columns=MADE_BY).n_unique() > 1
    return several and model_in_use(store) != configured_model(store)


def configured_model(store: Store) -> ModelVersion | None:
    """Returns name and version of the configured model; None if it cannot be loaded."""
    try:
        embedder = open_embedder(store.settings.embedding_model)
        return embedder.name, embedder.version
    except ModelError:
        return None


_OF_PASSAGES = ["passages", "messages_open", "windows"]
"""Tables that the rows of passages are read from."""

_COLUMNS = "id message_id session_id line author role event_at char_from char_to"

_published: dict[tuple[object, ...], tuple[list[Mapping[str, str]], Any]] = {}
"""What was read, with the partitions that it was read from."""

T = TypeVar("T")


def until_published(*sources: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Returns a decorator of a function that reads these tables: it reads again only when a
    partition of theirs was published.
    """

    def decorate(read: Callable[..., T]) -> Callable[..., T]:
        """Returns the function with a cache by store and further arguments."""

        @wraps(read)
        def _look_up(tables: ParquetTables, *args: str) -> T:
            key = (read, tables.root, *args)
            published = [tables.fingerprints(table) for table in sources]
            if key not in _published or _published[key][0] != published:
                _published[key] = (published, read(tables, *args))
            return _published[key][1]

        return _look_up

    return decorate


def open_corpus(store: Store) -> tuple[Corpus, tuple[str, ...]]:
    """Returns everything that is searched, and messages about missing parts."""
    embedder, missing = _embedder_of_index(store)
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
        unmerged=present.unmerged,
    )
    return corpus, missing


def _embedder_of_index(store: Store) -> tuple[Embedder | None, tuple[str, ...]]:
    """Returns the embedder that the published vectors were made by, and what is missing.

    While vectors of another model are computed, questions are compared with the old ones.
    """
    embedder = None
    configured = store.settings.embedding_model
    try:
        embedder = open_embedder(open_vectors(store).model() or configured)
        model_folder(configured)  # the next run encodes with it
    except ModelError as error:
        return embedder, (str(error),)
    return embedder, ()


@dataclass(frozen=True)
class Present:
    """The present memories, including notes since the last update, and the indexes over them."""

    stored: pl.DataFrame
    """The table of memories."""
    notes: tuple[str, ...]
    """Ids of the events that are overlaid."""
    memories: pl.DataFrame
    texts: TextIndex | FreshTexts
    vectors: ArrayIndex | FreshVectors
    unmerged: frozenset[str]
    """Ids of the memories that are notes since the last merge."""
    hidden: frozenset[str]
    """Messages that contain forgotten words."""
    embedder: Embedder | None = None


_present: dict[Path, Present] = {}


def open_present_with_embedder(store: Store) -> Present:
    """Returns the present memories with the embedder, or without it where it is missing."""
    return open_present(store, _embedder_of_index(store)[0])


@until_published("memories")
def _memories(tables: ParquetTables) -> pl.DataFrame:
    return tables.read("memories")


def open_present(store: Store, embedder: Embedder | None) -> Present:
    """Returns the present memories; cached until the table or the notes change."""
    stored = _memories(store.tables)
    notes = store.ledger.events(NOTES)
    ids = tuple(event.id for event in notes)
    present = _present.get(store.root)
    is_same = present and present.stored is stored and present.notes == ids
    if present and is_same and embedder in (None, present.embedder):
        return present
    memories = overlay(stored, notes)
    noted = [note_id(event) for event in notes if event.kind != FORGOTTEN]
    fresh = memories.filter(pl.col("id").is_in(noted))
    texts = open_texts(store)
    vectors = open_vectors(store)
    if fresh.height and embedder:
        files = open_note_vectors(store)
        vectors = FreshVectors(vectors, texts, fresh, embedder, files)
    _present[store.root] = Present(
        stored=stored,
        notes=ids,
        memories=memories,
        texts=FreshTexts(texts, fresh) if fresh.height else texts,
        vectors=vectors,
        unmerged=frozenset(fresh["id"]).difference(stored["id"]),
        hidden=hidden_sources(notes),
        embedder=embedder,
    )
    return _present[store.root]


def passage_heads(tables: ParquetTables, made_by: ModelVersion | None = None) -> pl.DataFrame:
    """Returns what the text index knows of each passage but for text and vector, which are read of
    changed passages alone.

    `encoded_by` names the model of the vector and the first word codes, `encoded_on` the day of
    their row; both are null for passages of open windows, and of messages not encoded yet. Vectors
    of other models than `made_by` (name, version) are left out.
    """
    encoded = _encoded(tables, made_by).select("text_hash", "encoded_by", "encoded_on")
    encoded = encoded.sort("encoded_on", "encoded_by")
    encoded = encoded.unique("text_hash", keep="first", maintain_order=True)
    messages = tables.scan("messages").select("message_id")
    closed = tables.scan("passages").join(messages, on="message_id", how="semi")
    closed = closed.join(encoded, on="text_hash", how="left")
    names = ("encoded_by", "encoded_on")
    has_vector = (pl.when(HAS_VECTOR).then(name).alias(name) for name in names)
    columns = "id message_id session_id line number char_from char_to text_hash".split()
    closed = closed.with_columns(*has_vector).select(*columns, "day", *names).collect()
    opened = hashed(cut_messages(tables.read("messages_open"))).select(columns)
    heads = pl.concat([closed, opened], how="diagonal")
    heads = heads.with_columns(corpus=pl.lit(MESSAGES))
    return heads.unique("id", keep="first", maintain_order=True)


def passages_to_index(
    tables: ParquetTables, made_by: ModelVersion | None = None, heads: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Returns the passages of the heads, by default of all, with text, vector and word codes; some
    have no vector.
    """
    heads = passage_heads(tables, made_by) if heads is None else heads
    closed = tables.scan("messages", _days_of(heads["day"]))
    messages = (closed, tables.scan("messages_open"))
    texts = pl.concat(rows.select("message_id", whole="text") for rows in messages)
    texts = texts.unique("message_id", keep="first")
    key = ["text_hash", "encoded_by", "encoded_on"]
    encoded = _encoded(tables, made_by, _days_of(heads["encoded_on"])).unique(key)
    rows = heads.lazy().join(texts, on="message_id").join(encoded, on=key, how="left")
    length = pl.col("char_to") - pl.col("char_from")
    span = pl.col("whole").str.slice("char_from", length)
    wanted = "id message_id session_id line number text vector words".split()
    return rows.with_columns(text=span).select(wanted).collect()


def _encoded(
    tables: ParquetTables, made_by: ModelVersion | None, days: Sequence[str] | None = None
) -> pl.LazyFrame:
    """Returns the vectors and word codes of passages, each named as in `passage_heads`."""
    is_wanted = is_made_by(*made_by) if made_by else pl.lit(True)
    rows = tables.scan("passage_vectors", days).filter(is_wanted)
    first_codes = pl.col("words").bin.head(16).bin.encode("hex")
    named = pl.concat_str(*MADE_BY, first_codes, separator=" ")
    columns = ("text_hash", "vector", "words")
    return rows.select(*columns, encoded_by=named, encoded_on="day")


def _days_of(column: pl.Series) -> list[str]:
    return [day.isoformat() for day in column.drop_nulls().unique().sort()]


def read_passages(
    store: Store, ids: Sequence[str], hidden: frozenset[str] = frozenset()
) -> pl.DataFrame:
    """Returns the passages of those ids, hidden ones excluded, with their message's text and the
    other columns of a result.
    """
    texts = _messages(store.tables)
    place_of = places_of(texts)
    passages = rows_of(_passages(store.tables), ids)
    messages = passages["message_id"].to_list()
    is_readable = [id in place_of and id not in hidden for id in messages]
    if not all(is_readable):
        passages = passages.filter(is_readable)
        messages = passages["message_id"].to_list()
    wholes = texts["whole"].gather([place_of[id] for id in messages])
    length = pl.col("char_to") - pl.col("char_from")
    cut = pl.col("whole").str.slice("char_from", length).alias("passage")
    return passages.with_columns(wholes).with_columns(cut)


def select_passages(tables: ParquetTables, filters: Filters) -> list[str]:
    """Returns the ids of the passages that pass the filters."""
    passages = _passages(tables)
    return passages.filter(condition(filters, passages.columns))["id"].to_list()


@until_published(*_OF_PASSAGES)
def read_person_passages(tables: ParquetTables, person: str) -> pl.DataFrame:
    """Returns the passages of the sessions of one person, the same frame until the tables
    change.
    """
    return _passages(tables).filter(person=person).select("id")


@until_published(*_OF_PASSAGES)
def _passages(tables: ParquetTables) -> pl.DataFrame:
    """Returns all passages, in closed and open windows, without their texts."""
    columns = [*_COLUMNS.split(), "window_id"]
    opened = cut_messages(tables.read("messages_open")).select(columns)
    rows = pl.concat([tables.read("passages", columns=columns), opened])
    of_windows = ["window_id", "path", "project", "person", "trigger"]
    windows = tables.read("windows", columns=of_windows)
    return rows.join(windows, on="window_id").drop("window_id")


@until_published("messages", "messages_open", "passages")
def _messages(tables: ParquetTables) -> pl.DataFrame:
    """Returns the texts of the messages that passages are of, by their ids."""
    ids = _passages(tables).select(id="message_id").unique()
    wanted = [pl.col("message_id").alias("id"), SAID.alias("whole")]
    sources = ("messages", "messages_open")
    rows = pl.concat(tables.scan(table).select(wanted) for table in sources)
    return rows.join(ids.lazy(), on="id", how="semi").collect()
