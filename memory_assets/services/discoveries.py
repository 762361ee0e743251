"""Reads a page or a repository that somebody names, and keeps it as a document with a note; the
note is recalled.

The text is found by a search of the library, as that of other documents; the note is recalled with
its address, like decision records: it confirms nothing, becomes no proposal and is in no briefing,
whatever it says.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from memory_assets.adapters.documents.process import read_fetched
from memory_assets.adapters.repositories import read_repository
from memory_assets.adapters.web import checked_address, fetch
from memory_assets.errors import FetchError, ModelError
from memory_assets.schema.frames import frame_of
from memory_assets.schema.requests import DiscoverRequest
from memory_assets.services.notes.clean_text import masked_warnings
from memory_assets.services.search.corpus import embeddings_in_use, open_embedder, requests_in_use
from memory_assets.services.slog import log_own
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.embed.harness_memories import EARLIEST, row_of_document
from memory_assets.stages.embed.present import read_present
from memory_assets.stages.library.discoveries import note_of, project_of, relevance_of, tags_of
from memory_assets.store.documents import KeptDocument, KeptSection
from memory_assets.store.store import Store, open_store
from memory_assets.text.masking.redact import mask_text

READER = "discovery/2"
DISCOVERY = "discovery"
"""The harness and the session of memories that come from a discovery."""

SLOG_REASON = "discover"

ABOUT = ["project", "state", "text_hash"]
"""Columns of the texts that say what a project is about."""


@dataclass(frozen=True)
class Discovered:
    """A page or a repository that was read."""

    id: str
    title: str
    kind: str
    url: str
    note: str
    tags: tuple[str, ...]
    relevance: dict[str, float]
    """Projects that it is relevant to, with the mean cosine of their nearest memories."""
    state: str
    """added, replaced (it changed), or unchanged."""
    masked_count: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning where secrets were masked."""
        return masked_warnings(self.masked_count, "text")


@dataclass(frozen=True)
class Source:
    """What was read, before it is masked and kept."""

    kind: str
    url: str
    title: str
    description: str
    texts: Sequence[str]
    tags: Sequence[str]
    feed_id: str = ""


def discover(store: Store, request: DiscoverRequest) -> Discovered:
    """Reads the page or the repository, keeps it with a note, and logs it; raises `DocumentError`
    where it cannot be read.
    """
    found = _read(request.source, allow_private=request.private)
    open_store(store.settings)
    return keep(store, found, request.tag)


def keep(store: Store, found: Source, tags: Iterable[str] = ()) -> Discovered:
    """Keeps what was read with a note, and logs it; the same content again changes nothing."""
    now, tombstones = store.settings.clock(), tombstones_of(store)

    def clean(text: str) -> tuple[str, int]:
        masked, count = mask_text(text.encode("utf-8", "replace").decode())
        return tombstones.mask_text(masked), count

    texts = [clean(one) for one in found.texts]
    url, title, description = (
        clean(one)[0] for one in (found.url, found.title or found.url, found.description)
    )
    note = note_of(title, description, texts[0][0] if texts else "", url, now)
    document = KeptDocument(
        id=f"doc_{hashlib.sha256(found.url.encode('utf-8', 'replace')).hexdigest()[:12]}",
        title=title,
        kind=found.kind,
        source_path=url,
        content_hash=hashlib.sha256(
            "\0".join([title, description, *(text for text, _ in texts)]).encode()
        ).hexdigest(),
        bytes=sum(len(one.encode("utf-8", "replace")) for one in found.texts),
        tags=tags_of(tags, (clean(one)[0] for one in found.tags)),
        added_at=now.isoformat(timespec="seconds"),
        reader=READER,
        section_count=len(texts),
        masked_count=sum(count for _, count in texts),
        note=note,
        feed_id=found.feed_id,
    )
    known = store.documents.find(document.id)
    if known and (known.content_hash, known.reader, known.tags) == (
        document.content_hash,
        READER,
        document.tags,
    ):
        return _discovered(known, "unchanged")
    document = replace(document, relevance=relevance_of_note(store, note))
    with store.lock():
        document = store.documents.write(
            document, [KeptSection(text, None, "") for text, _ in texts]
        )
    log_own(store, "ingest", f"Read {found.kind} {url} as {document.id}", SLOG_REASON)
    return _discovered(document, "replaced" if known else "added")


def table_of(store: Store, document_id: str) -> pl.DataFrame:
    """Returns the note of the document as a row of `discoveries`; none where it has none."""
    document = store.documents.find(document_id)
    return frame_of("discoveries", [_row(document)] if document and document.note else [])


def remembered(store: Store) -> list[dict[str, Any]]:
    """Returns the notes as observations without a session, like decision records."""
    return [
        _observation(store, row) for row in store.tables.read("discoveries").iter_rows(named=True)
    ]


def relevance_of_note(store: Store, note: str) -> dict[str, float]:
    """Returns the projects of the store that the note is relevant to, the most relevant first;
    notes do not count.
    """
    # Nor an earlier note of it.
    memories = read_present(store.tables, store.ledger).filter(pl.col("session_id") != DISCOVERY)
    try:
        vector, requests = (
            open_embedder(store.settings.embedding_model).encode_query(note),
            requests_in_use(store),
        )
    except ModelError:
        return {}  # it is found all the same
    rows = [memories.select(ABOUT), requests.with_columns(state=pl.lit("active")).select(ABOUT)]
    vectors = [
        frame.select("text_hash", "vector", "dimension")
        for frame in (embeddings_in_use(store), requests)
    ]
    return relevance_of(vector, pl.concat(rows), pl.concat(vectors))


def _read(source: str, *, allow_private: bool) -> Source:
    named = source.strip()
    if Path(named).expanduser().is_dir():
        return _repository(os.path.realpath(Path(named).expanduser()))
    if urlsplit(named).path.rstrip("/").endswith(".git"):
        if urlsplit(named).scheme != "https":
            raise FetchError(
                f"Cannot read the repository {named}: name a folder, or an address that "
                "begins with https://."
            )
        return _repository(named, checked_address(named, allow_private=allow_private))
    found = fetch(named, allow_private=allow_private)
    if found.kind in ("text/plain", "text/markdown"):
        text = found.content.decode("utf-8", "replace")
        return Source(
            "page", found.url, text.strip().split("\n")[0].lstrip("# ")[:200], "", [text], []
        )
    page = read_fetched(found.content, found.url, "page", found.url)
    return Source(
        "page",
        found.url,
        page["title"],
        page["description"],
        [one["text"] for one in page["sections"]],
        page["tags"],
    )


def _repository(source: str, address: str = "") -> Source:
    found = read_repository(source, address)
    text = found.readme.strip() or f"The repository {found.name} has no README."
    return Source("repository", source, found.name, "", [text], found.languages)


def _row(one: KeptDocument) -> dict[str, Any]:
    ordered = sorted(one.relevance.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "doc_id": one.id,
        "title": one.title,
        "kind": one.kind,
        "url": one.source_path,
        "note": one.note,
        "tags": list(one.tags),
        "project": project_of(one.relevance),
        "projects": [name for name, _ in ordered],
        "relevance": [cosine for _, cosine in ordered],
        "feed_id": one.feed_id,
        "read_at": one.at,
    }


def _observation(store: Store, row: dict[str, Any]) -> dict[str, Any]:
    at = min(
        max(datetime.fromtimestamp(row["read_at"].timestamp(), UTC), EARLIEST),
        store.settings.clock(),
    )
    day = at.astimezone(store.settings.zone).date()
    about = {"project": row["project"], "person": store.settings.owner, "event_at": at, "day": day}
    wide = {} if row["project"] else {"scope": "everyone"}
    return (
        row_of_document(DISCOVERY, row["url"], row["note"], [0])
        | about
        | wide
        | {"gate_reason": "read when it was asked for"}
    )


def _discovered(one: KeptDocument, state: str) -> Discovered:
    return Discovered(
        one.id, one.title, one.kind, one.source_path, one.note, one.tags, dict(one.relevance),
        state,
        one.masked_count if state != "unchanged" else 0,
    )  # fmt: skip
