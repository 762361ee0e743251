"""Builds the tables and the index of the library's documents, from their kept texts."""

from datetime import datetime
from functools import partial

import polars as pl

from memory_assets.adapters.text_index import DOCUMENTS
from memory_assets.errors import StoreError
from memory_assets.runs.inputs import documents as inputs_of
from memory_assets.runs.results import Builder, Report, Rows, Run, per_partition
from memory_assets.runs.steps.embed import publish_index
from memory_assets.schema.frames import empty, frame_of
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.discoveries import table_of as discoveries_of
from memory_assets.services.documents import remove_left
from memory_assets.services.feeds import poll
from memory_assets.services.search.corpus import open_document_texts, open_embedder
from memory_assets.stages.embed.project import hashes_of, plan_texts
from memory_assets.stages.library.documents import chunks_of, encode_chunks, index_rows
from memory_assets.store.documents import KeptDocument
from memory_assets.store.store import Store


@per_partition
def documents(store: Store, _: str) -> Rows:
    """Lists the documents, and removes what is left of those that were removed."""
    version = inputs_of(store, TABLES["documents"]).get(WHOLE, "-")
    kept = store.documents.all()
    removed = remove_left(store)
    damaged = [
        f"{place} is damaged and is left out."
        for place in store.documents.faults(store.documents.ids())
    ]
    frame = frame_of("documents", map(_row, kept))
    return Rows(
        frame, {"removed": len(removed), "damaged": len(damaged)}, version, warnings=damaged
    )


@per_partition
def discoveries(store: Store, document_id: str) -> pl.DataFrame:
    """Lists the note of a page, a repository or an item of a feed; other documents have none."""
    return discoveries_of(store, document_id)


@per_partition
def feed_items(store: Store, feed_id: str) -> Rows:
    """Polls a feed, keeps its new items, and returns every item that was seen in it."""
    new = poll(store, feed_id)
    feed = store.feeds.find(feed_id)
    seen = feed.seen.items() if feed else ()
    rows = (
        {"feed_id": feed_id, "item_id": item, "doc_id": doc, "seen_at": datetime.fromisoformat(at)}
        for item, (doc, at) in seen
    )
    problems = [feed.problem] if feed and feed.problem else []
    return Rows(
        frame_of("feed_items", rows),
        {"new": len(new)},
        version=f"polled {store.settings.clock()}",
        warnings=problems,
    )


@per_partition
def document_chunks(store: Store, document_id: str) -> Rows:
    """Cuts the kept text of a document into chunks; a damaged one keeps those that it has, one that
    was removed has none.
    """
    try:
        found = store.documents.read(document_id)
    except StoreError as error:
        return Rows(store.tables.read("document_chunks", [document_id]), warnings=[str(error)])
    return Rows(chunks_of(*found) if found else empty("document_chunks"))


def document_vectors(store: Store, _: Run) -> Builder:
    """Encodes the chunks of a document that have no vector yet; the model is loaded for the first
    of them.
    """
    read = store.tables.read
    embedder = open_embedder(store.settings.embedding_model)

    def build(document_id: str) -> pl.DataFrame:
        chunks, known = (
            read(name, [document_id]) for name in ("document_chunks", "document_vectors")
        )
        return encode_chunks(chunks, embedder, known)

    return build


def document_index(store: Store, run: Run) -> Report:
    """Publishes a new generation of the terms and vectors of chunks, where they changed."""
    with store.lock():
        model = open_embedder(store.settings.embedding_model)
        vectors = store.tables.read("document_vectors").filter(
            model=model.name, model_version=model.version
        )
        rows = index_rows(store.tables.read("document_chunks"), vectors, DOCUMENTS)
        index = open_document_texts(store)
        plan = partial(plan_texts, rows)
        return publish_index(index, run, hashes_of(rows), plan, index.update)


def _row(one: KeptDocument) -> dict[str, object]:
    facts = {name: value for name, value in vars(one).items() if name != "reader"}
    return {**facts, "tags": list(one.tags), "added_at": one.at}
