"""Reads a page or a repository that somebody names, and keeps it as a document with a note.

The whole text is found by a search of the library only. The note, a short text with the address,
is also recalled. Whatever it says, it confirms no memory, becomes no proposal and is in no
briefing.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from memory_assets.errors import FetchError, ModelError
from memory_assets.extras.library import notes
from memory_assets.extras.library.contents import DocumentSection
from memory_assets.extras.library.kept_documents import KeptDocument, documents_of, new_id
from memory_assets.extras.library.process import read_fetched
from memory_assets.extras.library.repositories import read_repository
from memory_assets.extras.library.requests import DiscoverRequest
from memory_assets.extras.library.slog import log_own
from memory_assets.extras.library.web import checked_address, fetch
from memory_assets.schema.frames import frame_of
from memory_assets.services.notes.clean_text import masked_warnings
from memory_assets.services.search import corpus
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.embed.harness_memories import row_of_document
from memory_assets.stages.embed.present import read_present
from memory_assets.store.store import Store, open_store
from memory_assets.text.masking.redact import mask_text

READER = "discovery/2"
"""Version of the rules that read a page or a repository."""

DISCOVERY = "discovery"
"""Stands for harness and session in memories that come from a note."""

SLOG_REASON = "discover"

ABOUT = ["project", "state", "text_hash"]
"""Columns of the texts that show what a project is about."""


@dataclass(frozen=True)
class Discovered:
    """A page or a repository that was read and kept."""

    id: str
    title: str
    kind: str
    url: str
    note: str
    tags: tuple[str, ...]
    relevance: dict[str, float]
    """Relevant project → mean cosine of the note and the project's nearest texts."""
    state: str
    """added, replaced (it changed), or unchanged."""
    masked_count: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning where secrets were masked."""
        return masked_warnings(self.masked_count, "text")


@dataclass(frozen=True)
class Source:
    """A page, a repository or an item of a feed as it was read, before secrets are masked."""

    kind: str
    url: str
    title: str
    description: str
    texts: Sequence[str]
    tags: Sequence[str]
    feed_id: str = ""


def discover(store: Store, request: DiscoverRequest) -> Discovered:
    """Reads the page or the repository, keeps it with a note, and logs it in the slog.

    Raises `DocumentError` where it cannot be read.
    """
    source = _read(request.source.strip(), allow_private=request.private)
    open_store(store.settings)
    return keep(store, source, request.tag)


def keep(store: Store, source: Source, tags: Iterable[str] = ()) -> Discovered:
    """Keeps the source as a document with a note, and logs it; does nothing if it is unchanged."""
    documents = documents_of(store)
    document, texts = _masked(store, source, tags)
    earlier = documents.find(document.id)
    if earlier and _version_of(earlier) == _version_of(document):
        return _discovered(earlier, "unchanged")
    document = replace(document, relevance=relevance_of_note(store, document.note))
    with store.lock():
        document = documents.write(document, [DocumentSection(text) for text in texts])
    detail = f"Read {source.kind} {document.source_path} as {document.id}"
    log_own(store, "ingest", detail, SLOG_REASON)
    return _discovered(document, "replaced" if earlier else "added", document.masked_count)


def _version_of(document: KeptDocument) -> tuple[object, ...]:
    """Returns what has to be equal for a document to be unchanged."""
    return document.content_hash, document.reader, document.tags


def _masked(
    store: Store, source: Source, tags: Iterable[str]
) -> tuple[KeptDocument, Sequence[str]]:
    """Returns the document and its texts without secrets and forgotten words."""
    now = store.settings.clock()
    tombstones = tombstones_of(store)

    def clean(text: str) -> tuple[str, int]:
        """Returns the text without secrets and forgotten words, and the number of secrets."""
        masked, count = mask_text(text.encode("utf-8", "replace").decode())
        return tombstones.mask_text(masked), count

    cleaned = [clean(text) for text in source.texts]
    texts = [text for text, _ in cleaned]
    url = clean(source.url)[0]
    title = clean(source.title or source.url)[0]
    description = clean(source.description)[0]
    content = "\0".join([title, description, *texts])
    document = KeptDocument(
        id=new_id("doc", source.url.encode("utf-8", "replace")),
        title=title,
        kind=source.kind,
        source_path=url,
        content_hash=hashlib.sha256(content.encode()).hexdigest(),
        bytes=sum(len(text.encode("utf-8", "replace")) for text in source.texts),
        tags=notes.tags_of(tags, (clean(tag)[0] for tag in source.tags)),
        added_at=now.isoformat(timespec="seconds"),
        reader=READER,
        section_count=len(texts),
        masked_count=sum(count for _, count in cleaned),
        note=notes.note_of(title, description, texts[0] if texts else "", url, now),
        feed_id=source.feed_id,
    )
    return document, texts


def table_of(store: Store, document_id: str) -> pl.DataFrame:
    """Returns the row of `discoveries` for the document; no row where it has no note."""
    document = documents_of(store).find(document_id)
    return frame_of("discoveries", [_row(document)] if document and document.note else [])


def remembered(store: Store) -> list[dict[str, Any]]:
    """Returns the notes as observations without a session, like decision records."""
    rows = store.tables.read("discoveries").iter_rows(named=True)
    return [_observation(store, row) for row in rows]


def relevance_of_note(store: Store, note: str) -> dict[str, float]:
    """Returns the projects of the store that the note is relevant to, the most relevant first.

    Empty without an embedding model.
    """
    # Notes do not count, or an earlier one about the same page would make it relevant.
    memories = read_present(store.tables, store.ledger).filter(pl.col("session_id") != DISCOVERY)
    try:
        vector = corpus.open_embedder(store.settings.embedding_model).encode_query(note)
        requests = corpus.requests_in_use(store)
    except ModelError:
        return {}  # the note can be recalled without a project
    rows = [memories.select(ABOUT), requests.with_columns(state=pl.lit("active")).select(ABOUT)]
    vectors = [
        frame.select("text_hash", "vector", "dimension")
        for frame in (corpus.embeddings_in_use(store), requests)
    ]
    return notes.relevance_of(vector, pl.concat(rows), pl.concat(vectors))


def _read(name: str, *, allow_private: bool) -> Source:
    """Reads the source at the folder or address; raises `DocumentError` where it cannot."""
    if Path(name).expanduser().is_dir():
        return _repository(os.path.realpath(Path(name).expanduser()))
    address = urlsplit(name)
    if address.path.rstrip("/").endswith(".git"):
        if address.scheme != "https":
            raise FetchError(
                f"Cannot read the repository {name}: name a folder, or an address that begins with "
                "https://."
            )
        return _repository(name, checked_address(name, allow_private=allow_private))
    fetched = fetch(name, allow_private=allow_private)
    if fetched.kind in ("text/plain", "text/markdown"):
        text = fetched.content.decode("utf-8", "replace")
        title = text.strip().split("\n")[0].lstrip("# ")[:200]
        return Source("page", fetched.url, title, "", [text], [])
    page = read_fetched(fetched.content, fetched.url, "page", fetched.url)
    texts = [section["text"] for section in page["sections"]]
    return Source("page", fetched.url, page["title"], page["description"], texts, page["tags"])


def _repository(source: str, address: str = "") -> Source:
    repository = read_repository(source, address)
    text = repository.readme.strip() or f"The repository {repository.name} has no README."
    return Source("repository", source, repository.name, "", [text], repository.languages)


def _row(document: KeptDocument) -> dict[str, Any]:
    ordered = sorted(document.relevance.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "doc_id": document.id,
        "title": document.title,
        "kind": document.kind,
        "url": document.source_path,
        "note": document.note,
        "tags": list(document.tags),
        "project": notes.project_of(document.relevance),
        "projects": [name for name, _ in ordered],
        "relevance": [cosine for _, cosine in ordered],
        "feed_id": document.feed_id,
        "read_at": document.at,
    }


def _observation(store: Store, row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the note as an observation; its scope is everyone if it is relevant to no project."""
    details = {"project": row["project"], "at": row["read_at"], "settings": store.settings}
    statement = row_of_document(DISCOVERY, row["url"], row["note"], 0, **details)
    statement["gate_reason"] = "read when it was asked for"
    return statement if row["project"] else statement | {"scope": "everyone"}


def _discovered(document: KeptDocument, state: str, masked_count: int = 0) -> Discovered:
    common = ("id", "title", "kind", "note", "tags")
    return Discovered(
        **{name: getattr(document, name) for name in common},
        url=document.source_path,
        relevance=dict(document.relevance),
        state=state,
        masked_count=masked_count,
    )
