"""Adds documents to the library, lists, searches and removes them.

A file is read by a process of its own. Secrets and forgotten words in its text are masked, and the
text is kept in the store; the file itself is neither kept nor changed. Only `search` reads the
index of documents.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from memory_assets.errors import DocumentError, ModelError, UnknownDocumentError
from memory_assets.extras.library import requests
from memory_assets.extras.library.chunks import DOCUMENTS, find_chunks
from memory_assets.extras.library.contents import Contents, DocumentSection
from memory_assets.extras.library.index import open_index, remove_leftovers
from memory_assets.extras.library.kept_documents import KeptDocument, documents_of, new_id
from memory_assets.extras.library.process import check_file, read_document
from memory_assets.schema.progress import track
from memory_assets.services.notes.clean_text import masked_warnings
from memory_assets.services.search.corpus import open_embedder
from memory_assets.stages.capture.tombstones import Tombstones, tombstones_of
from memory_assets.store.store import Store, open_store
from memory_assets.text.masking.redact import mask_text
from memory_assets.text.words import squeezed

READER = "reader/1"
"""Version of the rules that read files. A file that an older version read is read again when
somebody adds it again.
"""

SHORTEST_ID = len("doc_") + 4
"""Characters from which the beginning of an id stands for it."""

LONGEST_QUESTION = 2_000
BEHIND = "Some documents are not indexed yet. Run `memory ingest`, then search again."


@dataclass(frozen=True)
class AddedDocument:
    """A file that was added, or that was in the library already."""

    id: str
    title: str
    kind: str
    source_path: str
    state: str
    """added, replaced (its content changed), retagged, or unchanged."""
    section_count: int
    """Pages of a PDF, sections of other kinds."""
    masked_count: int
    """Secrets that were masked."""


@dataclass(frozen=True)
class Added:
    """The documents of files that could be read, and the problems with the others."""

    documents: tuple[AddedDocument, ...]
    problems: tuple[str, ...] = ()
    """For each file that could not be added, the reason."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The problems, and a warning where secrets were masked."""
        new_documents = (item for item in self.documents if item.state in ("added", "replaced"))
        masked = sum(item.masked_count for item in new_documents)
        return (*self.problems, *masked_warnings(masked, "documents"))


@dataclass(frozen=True)
class DocumentRow:
    """A document as the library lists it."""

    id: str
    title: str
    kind: str
    source_path: str
    tags: tuple[str, ...]
    added_at: str
    section_count: int
    chunk_count: int
    """0 until it is indexed."""


@dataclass(frozen=True)
class DocumentHit:
    """A chunk that fits the question."""

    id: str
    doc_id: str
    title: str
    chunk_index: int
    content: str
    page: int | None
    chapter: str
    source_path: str
    tags: tuple[str, ...]
    score: float


@dataclass(frozen=True)
class FoundInDocuments:
    """The chunks that fit a question, best first."""

    question: str
    hits: tuple[DocumentHit, ...]
    document_count: int
    """Number of documents that were searched."""
    warnings: tuple[str, ...] = ()


def add(store: Store, request: requests.AddDocumentsRequest) -> Added:
    """Adds the files to the library, and creates the store where there is none.

    A file that cannot be read is reported, and the others are added.
    """
    open_store(store.settings)
    added: list[AddedDocument] = []
    problems: list[str] = []
    for name in track(request.files, "Reading documents"):
        path = os.path.realpath(Path(name).expanduser())
        try:
            added.append(_add(store, Path(path), request.tag))
        except DocumentError as error:
            problems.append(mask_text(str(error))[0])
    return Added(tuple(added), tuple(problems))


def _add(store: Store, path: Path, tags: Sequence[str]) -> AddedDocument:
    size = check_file(path)
    documents = documents_of(store)
    earlier = documents.find(id_of(path))
    content_hash = _hash_of(path)
    candidates = [earlier] if earlier else documents.all()
    for document in candidates:
        is_same = (document.content_hash, document.reader) == (content_hash, READER)
        if is_same and not documents.is_damaged(document.id):
            return _retag(store, document, tags)
        if is_same:
            break
    contents = read_document(path)
    tombstones = tombstones_of(store)
    sections, masked = _masked(contents, tombstones)
    document = KeptDocument(
        id=id_of(path),
        title=_clean(contents.title, tombstones),
        kind=contents.kind,
        source_path=_clean(str(path), tombstones),
        content_hash=content_hash,
        bytes=size,
        tags=tuple(sorted({*tags, *earlier.tags} if earlier else {*tags})),
        added_at=store.settings.clock().isoformat(timespec="seconds"),
        reader=READER,
        section_count=len(sections),
        masked_count=masked,
    )
    with store.lock():
        document = documents.write(document, sections)
    return _added(document, "replaced" if earlier else "added")


def _retag(store: Store, document: KeptDocument, tags: Sequence[str]) -> AddedDocument:
    """Adds the tags to a document of the library."""
    all_tags = tuple(sorted({*document.tags, *tags}))
    if all_tags == document.tags:
        return _added(document, "unchanged")
    documents = documents_of(store)
    with store.lock():
        contents = documents.read(document.id)
        if contents:
            documents.write(replace(document, tags=all_tags), contents[1])
    return _added(document, "retagged")


def id_of(path: Path) -> str:
    """Returns the id of the document whose file has this path."""
    return new_id("doc", os.fsencode(path))


def list_documents(store: Store) -> list[DocumentRow]:
    """Returns the documents, the latest first."""
    chunks = store.tables.parts("document_chunks")
    common = [name for name in DocumentRow.__dataclass_fields__ if name != "chunk_count"]
    rows = []
    for document in documents_of(store).all():
        fields = {name: getattr(document, name) for name in common}
        count = chunks[document.id].rows if document.id in chunks else 0
        rows.append(DocumentRow(**fields, chunk_count=count))
    return rows


def find_document(store: Store, name: str) -> KeptDocument:
    """Returns the document with that id (or its beginning), path, file name or words in its title.

    Raises `UnknownDocumentError` where there is none, or where several match.
    """
    name = name.strip()
    documents = documents_of(store).all() if name else []
    for matches_name in _name_conditions(name):
        matches = [document for document in documents if matches_name(document)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            ids = ", ".join(document.id for document in matches[:5])
            raise UnknownDocumentError(
                f"'{_shown(name)}' fits several documents: {ids}. Give an id."
            )
    raise UnknownDocumentError(
        f"There is no document '{_shown(name)}'. `memory library documents` lists them."
    )


def _name_conditions(name: str) -> Iterator[Callable[[KeptDocument], bool]]:
    """Yields functions that say whether the name means a document, the strictest first."""
    path = "" if "\0" in name else os.path.realpath(Path(name).expanduser())
    ids = (name, id_of(Path(path)))
    yield lambda document: document.id in ids or document.source_path == name
    if len(name) >= SHORTEST_ID:
        yield lambda document: document.id.startswith(name)
    yield lambda document: Path(document.source_path).name == name
    yield lambda document: name.casefold() in document.title.casefold()


def _shown(name: str) -> str:
    return mask_text(name[:80])[0]


def remove(store: Store, name: str) -> KeptDocument:
    """Removes the document with its chunks, vectors and rows of the index, and returns it.

    Its file stays as it is.
    """
    document = find_document(store, name)
    with store.lock():
        documents_of(store).remove(document.id)
    remove_leftovers(store)
    return document


def search(store: Store, request: requests.SearchDocumentsRequest) -> FoundInDocuments:
    """Returns the chunks that fit the question, of documents that have one of the given tags."""
    question = squeezed(request.question)[:LONGEST_QUESTION]
    if request.document:
        documents = [find_document(store, request.document)]
    else:
        documents = documents_of(store).all()
    if request.tag:
        tags = frozenset(request.tag)
        documents = [document for document in documents if not tags.isdisjoint(document.tags)]
    titles = {document.id: document.title for document in documents}
    texts = open_index(store).open(DOCUMENTS)
    warnings = [] if titles.keys() <= store.tables.parts("document_chunks").keys() else [BEHIND]
    if texts is None or not question:
        return FoundInDocuments(question, (), len(titles), tuple(warnings))
    settings = store.settings
    embedder = None
    try:
        embedder = open_embedder(settings.embedding_model)
    except ModelError as error:
        warnings.append(str(error))
    scores = find_chunks(
        question, texts, embedder, now=settings.clock(), allowed=titles, aliases=settings.aliases
    )
    best_scores = dict([*scores.items()][: request.limit])
    hits = tuple(_hits(store, best_scores, titles))
    return FoundInDocuments(question, hits, len(titles), tuple(warnings))


def _hits(
    store: Store, scores: Mapping[str, float], titles: Mapping[str, str]
) -> Iterator[DocumentHit]:
    chunks = store.tables.scan("document_chunks").filter(pl.col("id").is_in([*scores])).collect()
    rows = {row["id"]: row for row in chunks.drop("text_hash").iter_rows(named=True)}
    for id, score in scores.items():
        if id in rows:
            row = {**rows[id], "tags": tuple(rows[id]["tags"])}
            yield DocumentHit(**row, title=titles[row["doc_id"]], score=round(score, 4))


def _masked(contents: Contents, tombstones: Tombstones) -> tuple[list[DocumentSection], int]:
    """Returns the sections without secrets and forgotten words, and the number of secrets."""
    count = 0
    sections: list[DocumentSection] = []
    for section in contents.sections:
        text, secret_count = mask_text(section.text)
        count += secret_count
        chapter = _clean(section.chapter, tombstones)
        sections.append(DocumentSection(tombstones.mask_text(text), section.page, chapter))
    return sections, count


def _clean(text: str, tombstones: Tombstones) -> str:
    return tombstones.mask_text(text.encode("utf-8", "replace").decode())


def _hash_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DocumentError(f"Cannot add {path}: {error.strerror or error}.") from error


def _added(document: KeptDocument, state: str) -> AddedDocument:
    common = [name for name in AddedDocument.__dataclass_fields__ if name != "state"]
    return AddedDocument(**{name: getattr(document, name) for name in common}, state=state)
