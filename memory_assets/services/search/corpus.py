"""Opens what a search needs: the memories, both indexes, the embedder, and the passages of
messages.

The only place outside the assets where adapters are chosen. Without an embedder, questions are
answered from keywords.

Memories saved since the indexes were built, or before there were any, are found at once:
`FreshTexts` and `FreshVectors` wrap a published index and add the few memories that it lacks. Their
words are added in memory, so that they are scored like the others; a vector is computed by the
first process that needs it, and kept in `index/notes` until an index contains it. Both are cached
while the process runs, until another generation is published or another note is saved.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from memory_assets.adapters.array_index import ArrayIndex
from memory_assets.adapters.local_embedder import LocalEmbedder, model_folder
from memory_assets.adapters.text_arrays import TextArrays, change_arrays, empty_arrays
from memory_assets.adapters.text_index import CORPORA, TextIndex
from memory_assets.adapters.vector_files import VectorFiles
from memory_assets.errors import ModelError
from memory_assets.schema.extras import first_of
from memory_assets.schema.frames import empty
from memory_assets.schema.protocols import Embedder, Hit, Texts, VectorIndex
from memory_assets.schema.requests import Filters
from memory_assets.stages.distill.quotes import QUOTE_COLUMNS
from memory_assets.stages.embed.encode import HAS_VECTOR, cut_messages, hashed, is_made_by
from memory_assets.stages.embed.notes import hidden_sources, note_id
from memory_assets.stages.embed.present import overlay
from memory_assets.stages.embed.project import RETRIEVABLE, memory_rows
from memory_assets.stages.recall.lookups import places_of, rows_of
from memory_assets.stages.recall.results import condition
from memory_assets.stages.recall.retrievers import Corpus
from memory_assets.store.ledger import FORGOTTEN, NOTES
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.store import Store

MEMORIES, MESSAGES = CORPORA
MADE_BY = ["model", "model_version"]
"""Columns that name the model of a vector."""

NOTES_ALONE = "notes"
"""The generation of an index where there is nothing but notes yet, so that none had to be built."""


class FreshTexts:
    """A text index extended by memories that it does not contain yet."""

    def __init__(self, index: TextIndex, memories: pl.DataFrame, *, are_all: bool) -> None:
        self._index = index
        self._memories = memories
        self._are_all = are_all
        self._open: tuple[Texts | None, Texts | None] | None = None

    def open(self, corpus: str) -> Texts | None:
        """Returns the published corpus, extended by the fresh memories."""
        published = self._index.open(corpus)
        if corpus != MEMORIES:
            return published
        if self._open is None or self._open[0] is not published:
            self._open = (published, self._with_fresh(published))
        return self._open[1]

    def generation(self) -> str | None:
        """Returns the name of the published generation, which only memories that were built before
        need.
        """
        return self._index.generation() or (NOTES_ALONE if self._are_all else None)

    def _with_fresh(self, published: Texts | None) -> Texts | None:
        missing = _unindexed(self._memories["id"], published)
        rows = memory_rows(self._memories.filter(pl.col("id").is_in(missing)))
        if rows.is_empty():
            return published
        arrays = published if isinstance(published, TextArrays) else empty_arrays()
        return change_arrays(arrays, rows, ())


class FreshVectors:
    """A vector index extended by memories that it does not contain yet."""

    def __init__(
        self,
        index: VectorIndex,
        texts: TextIndex,
        memories: pl.DataFrame,
        embedder: Embedder,
        files: VectorFiles,
        *,
        are_all: bool,
    ) -> None:
        self._index = index
        self._texts = texts
        self._memories = memories
        self._embedder = embedder
        self._files = files
        self._are_all = are_all
        self._made: dict[str, np.ndarray] = {}

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine."""
        found = {hit.id: hit for hit in self._index.find(vector, limit)}
        fresh = self._fresh(len(vector))
        if fresh:
            scores = np.stack(list(fresh.values())) @ np.asarray(vector, dtype=np.float32)
            found |= {id: Hit(id, float(score)) for id, score in zip(fresh, scores, strict=True)}
        return sorted(found.values(), key=lambda hit: (-hit.score, hit.id))[:limit]

    def generation(self) -> str | None:
        """Returns the name of the published generation, which only memories that were built before
        need.
        """
        return self._index.generation() or (NOTES_ALONE if self._are_all else None)

    def _fresh(self, dimension: int) -> dict[str, np.ndarray]:
        """Returns the vectors of the memories that the published generation lacks."""
        columns = self._memories.select("id", "text", "text_hash").iter_rows()
        rows = {id: (text, text_hash) for id, text, text_hash in columns}
        missing = _unindexed(rows, self._texts.open(MEMORIES))
        for id in missing:
            if id not in self._made:
                self._made[id] = self._vector_of(*rows[id], dimension)
        return {id: self._made[id] for id in missing}

    def _vector_of(self, text: str, text_hash: str, dimension: int) -> np.ndarray:
        kept = self._files.read(self._embedder.name, text_hash)
        if kept is not None and len(kept) == dimension:
            return kept
        made = self._embedder.encode_query(text)
        self._files.write(self._embedder.name, text_hash, made)
        return made


def _unindexed(ids: Iterable[str], published: Texts | None) -> list[str]:
    """Returns the ids that the published text index lacks; both indexes are built together, and
    this one is cheap to read.
    """
    return [id for id in ids if published is None or not len(published.rows_of([id]))]


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


def embedding_model_of_index(store: Store) -> str:
    """Returns the model that the published vectors were made by, else the one in the settings.

    While vectors of another model are computed, questions are compared with the old ones.
    """
    return open_vectors(store).model() or store.settings.embedding_model


@cache
def open_embedder(name: str) -> LocalEmbedder:
    """Returns the embedder of that name, loaded once per process; raises `ModelError` where it is
    missing.
    """
    return LocalEmbedder(name)


def model_in_use(store: Store) -> tuple[str, str] | None:
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
    passages = store.tables.scan("passages").filter(number=0).select("message_id", "text_hash")
    vectors = store.tables.scan("passage_vectors").filter(is_in_use).select("text_hash", "vector")
    encoded = asked.join(passages, on="message_id").join(vectors, on="text_hash")
    distinct = encoded.unique(["project", "text_hash"])
    dimension = pl.col("vector").list.len().cast(pl.Int64)
    return distinct.with_columns(dimension=dimension).collect()


def is_switching_models(store: Store) -> bool:
    """Returns whether the configured embedding model is still encoding what another one encoded
    before.
    """
    several = store.tables.read("embeddings", columns=MADE_BY).n_unique() > 1
    return several and model_in_use(store) != configured_model(store)


def configured_model(store: Store) -> tuple[str, str] | None:
    """Returns name and version of the configured model; None if it cannot be loaded."""
    try:
        embedder = open_embedder(store.settings.embedding_model)
        return embedder.name, embedder.version
    except ModelError:
        return None


_OF_PASSAGES = ["passages", "messages_open", "windows"]
"""Tables that the rows of passages are read from."""

_kept: dict[tuple[Path, str], tuple[list[Mapping[str, str]], pl.DataFrame]] = {}


def _kept_frame(
    tables: ParquetTables, name: str, sources: Sequence[str], read: Callable[[], pl.DataFrame]
) -> pl.DataFrame:
    """Returns what is read from these tables, under that name; reads it again only when a partition
    of theirs was published.
    """
    published = [tables.fingerprints(table) for table in sources]
    kept = _kept.get((tables.root, name))
    if kept is None or kept[0] != published:
        kept = _kept[tables.root, name] = (published, read())
    return kept[1]


def open_corpus(store: Store) -> tuple[Corpus, tuple[str, ...]]:
    """Returns everything that is searched, and messages about missing parts."""
    missing: tuple[str, ...] = ()
    embedder = None
    try:
        embedder = open_embedder(embedding_model_of_index(store))
        # It may be another, which the next run encodes with.
        model_folder(store.settings.embedding_model)
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
        unmerged=present.unmerged,
    )
    return corpus, missing


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
    try:
        return open_present(store, open_embedder(embedding_model_of_index(store)))
    except ModelError:
        return open_present(store, None)


def open_present(store: Store, embedder: Embedder | None) -> Present:
    """Returns the present memories; cached until the table or the notes change."""
    tables = store.tables
    stored = _kept_frame(tables, "memories", ["memories"], lambda: tables.read("memories"))
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
    are_all = stored.is_empty()
    if fresh.height and embedder:
        files = open_note_vectors(store)
        vectors = FreshVectors(vectors, texts, fresh, embedder, files, are_all=are_all)
    _present[store.root] = Present(
        stored=stored,
        notes=ids,
        memories=memories,
        texts=FreshTexts(texts, fresh, are_all=are_all) if fresh.height else texts,
        vectors=vectors,
        unmerged=frozenset(fresh["id"]).difference(stored["id"]),
        hidden=hidden_sources(notes),
        embedder=embedder,
    )
    return _present[store.root]


def passage_heads(tables: ParquetTables, made_by: tuple[str, str] | None = None) -> pl.DataFrame:
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
    heads = pl.concat([closed, opened], how="diagonal").with_columns(corpus=pl.lit(MESSAGES))
    return heads.unique("id", keep="first", maintain_order=True)


def passages_to_index(
    tables: ParquetTables, made_by: tuple[str, str] | None = None, heads: pl.DataFrame | None = None
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
    found = heads.lazy().join(texts, on="message_id").join(encoded, on=key, how="left")
    length = pl.col("char_to") - pl.col("char_from")
    span = pl.col("whole").str.slice("char_from", length)
    wanted = "id message_id session_id line number text vector words".split()
    return found.with_columns(text=span).select(wanted).collect()


def _encoded(
    tables: ParquetTables, made_by: tuple[str, str] | None, days: Sequence[str] | None = None
) -> pl.LazyFrame:
    """Returns the vectors and word codes of passages, each named as in `passage_heads`."""
    is_wanted = is_made_by(*made_by) if made_by else pl.lit(True)
    rows = tables.scan("passage_vectors", days).filter(is_wanted)
    first_codes = pl.col("words").bin.head(16).bin.encode("hex")
    named = pl.concat_str(*MADE_BY, first_codes, separator=" ")
    return rows.select("text_hash", "vector", "words", encoded_by=named, encoded_on="day")


def _days_of(column: pl.Series) -> list[str]:
    return [day.isoformat() for day in column.drop_nulls().unique().sort()]


def read_passages(
    store: Store, ids: Sequence[str], hidden: frozenset[str] = frozenset()
) -> pl.DataFrame:
    """Returns the passages of those ids, hidden ones excluded, with their message's text and the
    other columns of a result.
    """
    texts = _messages(store.tables)
    places, found = places_of(texts), rows_of(_passages(store.tables), ids)
    kept = [
        place for place, id in enumerate(found["message_id"]) if id in places and id not in hidden
    ]
    passages = found[kept]
    wholes = texts["whole"].gather([places[id] for id in passages["message_id"]])
    spans = zip(wholes, passages["char_from"], passages["char_to"], strict=True)
    cut = pl.Series("passage", [whole[start:end] for whole, start, end in spans], pl.String)
    return passages.hstack([wholes, cut])


def select_passages(tables: ParquetTables, filters: Filters) -> list[str]:
    """Returns the ids of the passages that pass the filters."""
    passages = _passages(tables)
    return passages.filter(condition(filters, passages.columns))["id"].to_list()


def read_person_passages(tables: ParquetTables, person: str) -> pl.DataFrame:
    """Returns the passages of the sessions of one person, the same frame until the tables
    change.
    """

    def read() -> pl.DataFrame:
        return _passages(tables).filter(person=person).select("id")

    return _kept_frame(tables, f"passages of {person}", _OF_PASSAGES, read)


def _passages(tables: ParquetTables) -> pl.DataFrame:
    """Returns all passages, in closed and open windows, without their texts."""
    columns = (
        "id message_id session_id line author role event_at char_from char_to window_id".split()
    )

    def read() -> pl.DataFrame:
        opened = cut_messages(tables.read("messages_open")).select(columns)
        rows = pl.concat([tables.read("passages", columns=columns), opened])
        of_windows = ["window_id", "path", "project", "person", "trigger"]
        windows = tables.read("windows", columns=of_windows)
        return rows.join(windows, on="window_id").drop("window_id")

    return _kept_frame(tables, "passages", _OF_PASSAGES, read)


def _messages(tables: ParquetTables) -> pl.DataFrame:
    """Returns the texts of the messages that passages are of, by their ids."""
    sources = ("messages", "messages_open")

    def read() -> pl.DataFrame:
        said = _passages(tables).select(id="message_id").unique()
        wanted = [pl.col("message_id").alias("id"), pl.col("text").alias("whole")]
        rows = pl.concat(tables.scan(table).select(wanted) for table in sources)
        return rows.join(said.lazy(), on="id", how="semi").collect()

    return _kept_frame(tables, "messages", [*sources, "passages"], read)
