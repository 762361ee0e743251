"""Builds the tables and the index of the library."""

from dataclasses import asdict
from datetime import datetime
from functools import partial

import polars as pl

from memory_assets.errors import ModelError, StoreError
from memory_assets.extras.library import adrs as decisions
from memory_assets.extras.library import discoveries as notes
from memory_assets.extras.library import inputs
from memory_assets.extras.library.chunks import chunks_of, encode_chunks, index_rows
from memory_assets.extras.library.feeds import feeds_of, poll
from memory_assets.extras.library.index import open_index, remove_leftovers
from memory_assets.extras.library.kept_documents import documents_of
from memory_assets.extras.library.slog import SLOG, log_events, slog_of
from memory_assets.runs.inputs import input_versions
from memory_assets.runs.results import SHOWN_ROWS, Builder, Report, Rows, Run, per_partition
from memory_assets.runs.steps.embed import publish_index, unencoded
from memory_assets.schema.frames import empty, frame_of
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.services.search.corpus import configured_model, open_embedder
from memory_assets.stages.embed.encode import is_made_by
from memory_assets.stages.embed.project import hashes_of, plan_texts
from memory_assets.store.store import Store


@per_partition
def adrs(store: Store, _: str) -> Rows:
    """Builds the table of the decision records of projects; warns of their problems."""
    version = decisions.inputs_of(store)
    frame = decisions.table_of(store)
    rows = frame.select("path", "problems").explode("problems").drop_nulls("problems")
    problems = [f"{path}: {problem}" for path, problem in rows.iter_rows()]
    figures = {"in_force": int(frame["is_in_force"].sum()), "problems": len(problems)}
    return Rows(frame, figures, version, warnings=problems[:SHOWN_ROWS])


@per_partition
def adr_conflicts(store: Store, _: str) -> pl.DataFrame:
    """Compares the decisions in force with the active memories."""
    return decisions.conflicts_of(store.tables.read("adrs"), store.tables.read("memories"))


@per_partition
def slog(store: Store, _: str) -> Rows:
    """Logs promotions and forgettings, commits the slog, and returns its entries."""
    logged = log_events(store)
    log = slog_of(store)
    commit = None
    with store.lock():
        if log.path.is_file():
            commit = workspace_of(store).commit("Log what was done", [SLOG])
    rows = (
        {**vars(entry), "number": number, "timestamp": entry.at}
        for number, entry in enumerate(log.entries())
    )
    frame = frame_of("slog", rows)
    damaged = log.damaged()
    figures = {
        "logged": len(logged),
        "commit": commit or "-",
        "lines_without_an_entry": len(damaged),
    }
    version = inputs.slog(store, TABLES["slog"]).get(WHOLE, "-")
    return Rows(frame, figures, version, warnings=[f"No entry: {line}" for line in damaged])


@per_partition
def documents(store: Store, _: str) -> Rows:
    """Lists the documents, and removes the rows of documents that are not there any more."""
    version = inputs.documents(store, TABLES["documents"]).get(WHOLE, "-")
    kept_documents = documents_of(store)
    rows = [
        asdict(document) | {"added_at": document.at, "tags": list(document.tags)}
        for document in kept_documents.all()
    ]
    removed_ids = remove_leftovers(store)
    damaged = [
        f"{place} is damaged and is left out."
        for place in kept_documents.faults(kept_documents.ids())
    ]
    figures = {"removed": len(removed_ids), "damaged": len(damaged)}
    return Rows(frame_of("documents", rows), figures, version, warnings=damaged)


@per_partition
def discoveries(store: Store, document_id: str) -> pl.DataFrame:
    """Returns the note of a page, a repository or an item of a feed; no row for other documents."""
    return notes.table_of(store, document_id)


@per_partition
def feed_items(store: Store, feed_id: str) -> Rows:
    """Polls a feed, keeps its new items, and returns every item that was seen in it."""
    new_titles = poll(store, feed_id)
    feed = feeds_of(store).find(feed_id)
    seen = feed.seen if feed else {}
    rows = [
        {"feed_id": feed_id, "item_id": item, "doc_id": doc, "seen_at": datetime.fromisoformat(at)}
        for item, (doc, at) in seen.items()
    ]
    problems = [feed.problem] if feed and feed.problem else []
    version = f"polled {store.settings.clock()}"
    figures = {"new": len(new_titles)}
    return Rows(frame_of("feed_items", rows), figures, version, warnings=problems)


@per_partition
def document_chunks(store: Store, document_id: str) -> Rows:
    """Cuts the kept text of a document into chunks.

    A damaged document keeps the chunks that it has, a removed one has none.
    """
    try:
        document = documents_of(store).read(document_id)
    except StoreError as error:
        return Rows(store.tables.read("document_chunks", [document_id]), warnings=[str(error)])
    return Rows(chunks_of(*document) if document else empty("document_chunks"))


def document_vectors(store: Store, run: Run) -> Builder:
    """Encodes the chunks of each document that have no vector yet."""
    read = store.tables.read
    versions = input_versions(store, run.table)

    def _build(id: str) -> Rows:
        vectors = read("document_vectors", [id])
        try:
            embedder = open_embedder(store.settings.embedding_model)
            return Rows(encode_chunks(read("document_chunks", [id]), embedder, vectors))
        except ModelError as error:
            return unencoded(store, vectors, versions.get(id, "-"), error)

    return _build


def document_index(store: Store, run: Run) -> Report:
    """Publishes a new generation of the index if chunks or vectors changed."""
    with store.lock():
        vectors = store.tables.read("document_vectors")
        made_by = configured_model(store)
        if made_by:
            vectors = vectors.filter(is_made_by(*made_by))
        rows = index_rows(store.tables.read("document_chunks"), vectors)
        index = open_index(store)
        plan = partial(plan_texts, rows)
        return publish_index(index, run, hashes_of(rows), plan, index.update)


BUILDERS = {
    "adrs": adrs,
    "adr_conflicts": adr_conflicts,
    "slog": slog,
    "documents": documents,
    "discoveries": discoveries,
    "feed_items": feed_items,
    "document_chunks": document_chunks,
    "document_vectors": document_vectors,
    "document_index": document_index,
}
