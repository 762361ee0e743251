"""Input versions of the library's tables; each docstring says what the version depends on."""

import hashlib

from memory_assets.extras.library import adrs as decisions
from memory_assets.extras.library.kept_documents import documents_of
from memory_assets.extras.library.slog import LOGGED, slog_of
from memory_assets.runs.inputs import rules_of, version_from
from memory_assets.schema.declarations import WHOLE, Table
from memory_assets.schema.frames import hash_of
from memory_assets.store.store import Store
from memory_assets.text.files import bytes_of


def adrs(store: Store, table: Table) -> dict[str, str]:
    """The files of decision records; nothing before the first transcript, and before the first
    record.
    """
    is_started = store.tables.parts(table.name) or (
        store.tables.parts("windows") and decisions.find_folders(store)
    )
    return {WHOLE: decisions.inputs_of(store)} if is_started else {}


def slog(store: Store, table: Table) -> dict[str, str]:
    """The file of the slog, and the events that it logs; nothing before the first entry."""
    content = bytes_of(slog_of(store).path)
    if content is None and not store.tables.has_rows(table.name):
        return {}
    digest = hashlib.sha256(content or b"").hexdigest()
    return {WHOLE: version_from(store, table, digest, len(store.ledger.events(LOGGED)))}


def documents(store: Store, table: Table) -> dict[str, str]:
    """The kept texts of documents; nothing before the first one is added."""
    stamps = documents_of(store).stamps()
    has_documents = stamps or store.tables.has_rows(table.name)
    return {WHOLE: version_from(store, table, *stamps.items())} if has_documents else {}


def discoveries(store: Store, table: Table) -> dict[str, str]:
    """The note of each page and repository."""
    rules = rules_of(store, table)
    return {
        document.id: hash_of(*rules, document.content_hash, document.note, document.tags)
        for document in documents_of(store).all()
        if document.note
    }


def document_chunks(store: Store, table: Table) -> dict[str, str]:
    """The kept text of each document."""
    rules = rules_of(store, table)
    return {id: hash_of(*rules, stamp) for id, stamp in documents_of(store).stamps().items()}


def document_index(store: Store, table: Table) -> dict[str, str]:
    """The chunks and vectors of all documents; nothing before the first chunk, and something ever
    after, so that the index is emptied when the last document is removed.
    """
    parts = [
        (name, part, info.fingerprint)
        for name in table.made_from
        for part, info in store.tables.parts(name).items()
    ]
    has_index = parts or store.note_of(table.name)
    return {WHOLE: version_from(store, table, *parts)} if has_index else {}


INPUTS = {
    "adrs": adrs,
    "slog": slog,
    "documents": documents,
    "discoveries": discoveries,
    "document_chunks": document_chunks,
    "document_index": document_index,
}
