"""Opens the index of documents, and removes rows of removed documents from index and tables.

The index is apart from those of memories and messages, so that no recall opens it.
"""

from datetime import date

from memory_assets.adapters.text_index import TextIndex
from memory_assets.extras.library import kept_documents, slog
from memory_assets.extras.library.chunks import DOCUMENTS, index_rows
from memory_assets.extras.library.kept_documents import document_ids
from memory_assets.schema.frames import empty
from memory_assets.services.search.corpus import open_texts
from memory_assets.stages.maintain.checks import Check
from memory_assets.store.store import Store

PARTITIONED = ("document_chunks", "document_vectors", "discoveries")
"""Tables with a partition for each document."""


def open_index(store: Store) -> TextIndex:
    """Returns the index of documents."""
    return open_texts(store, DOCUMENTS, (DOCUMENTS,))


def indexes(store: Store) -> list[TextIndex]:
    """Returns all indexes of the library."""
    return [open_index(store)]


def remove_leftovers(store: Store) -> list[str]:
    """Removes notes, chunks, vectors and terms of documents that are not in the library any more.

    Returns the ids of these documents.
    """
    with store.lock():
        built = {part for table in PARTITIONED for part in store.tables.parts(table)}
        removed_ids = sorted(built - {*document_ids(store)})
        for id in removed_ids:
            for table in PARTITIONED:
                store.tables.drop(table, id)
        _drop_unknown_chunks(store)
        return removed_ids


def erase(store: Store) -> None:
    """Publishes the index without chunks that are in no table; deletes older generations."""
    _drop_unknown_chunks(store)
    open_index(store).keep_published_only()


def _drop_unknown_chunks(store: Store) -> None:
    """Publishes the index without the chunks that the table does not have."""
    index = open_index(store)
    chunks = {*store.tables.read("document_chunks", columns=["id"])["id"]}
    unknown = sorted(index.ids(DOCUMENTS) - chunks)
    if unknown:
        no_rows = index_rows(empty("document_chunks"), empty("document_vectors"))
        index.update(no_rows, unknown)
        index.keep_published_only()


def deep_checks(store: Store, night: date | None) -> list[Check]:
    """Returns the checks of the slog and of the kept texts for `memory doctor --deep`."""
    return [slog.deep_check(store, night), kept_documents.deep_check(store, night)]
