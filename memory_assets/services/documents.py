"""The library's documents: adds files, lists, searches and removes them.

A file is read by a process of its own, secrets and forgotten words in its text are masked, and the
text is kept in the store. The file itself is neither kept nor changed. Only `search` reads the
index of documents.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from memory_assets.adapters.documents.contents import Contents
from memory_assets.adapters.documents.process import check_file, read_document
from memory_assets.adapters.text_index import DOCUMENTS
from memory_assets.errors import DocumentError, ModelError, UnknownDocumentError
from memory_assets.schema.frames import empty
from memory_assets.schema.progress import track
from memory_assets.schema.requests import AddDocumentsRequest, SearchDocumentsRequest
from memory_assets.services.notes.clean_text import masked_warnings
from memory_assets.services.search.corpus import open_document_texts, open_embedder
from memory_assets.stages.capture.tombstones import Tombstones, tombstones_of
from memory_assets.stages.library.documents import ChunkHit, find_chunks, index_rows
from memory_assets.store.documents import KeptDocument, KeptSection
from memory_assets.store.store import Store, open_store
from memory_assets.text.masking.redact import mask_text

READER = "reader/1"
"""Version of the rules that read files; a file that another one read is read again when it is added
again.
"""


PARTITIONED = ("document_chunks", "document_vectors", "discoveries")

SHORTEST_ID = len("doc_") + 4
LONGEST_QUESTION = 2_000
BEHIND = "Some documents are not indexed yet. Run `memory ingest`, then search again."


@dataclass(frozen=True)
class AddedDocument:
    """A file that was added, or is in the library already."""

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
    """What became of the files."""

    documents: tuple[AddedDocument, ...]
    problems: tuple[str, ...] = ()
    """Why the others could not be added."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The problems, and a warning where secrets were masked."""
        masked = sum(
            one.masked_count for one in self.documents if one.state in ("added", "replaced")
        )
        return (*self.problems, *masked_warnings(masked, "documents"))

    @property
    def is_changed(self) -> bool:
        """Whether anything has to be indexed."""
        return any(one.state != "unchanged" for one in self.documents)


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
    """Documents that were searched."""
    warnings: tuple[str, ...] = ()


def add(store: Store, request: AddDocumentsRequest) -> Added:
    """Adds the files to the library; one that cannot be read keeps no other out. The first one
    creates the store.
    """
    open_store(store.settings)
    added, problems = list[AddedDocument](), list[str]()
    for name in track(request.files, "Reading documents"):
        try:
            added.append(_add(store, Path(os.path.realpath(Path(name).expanduser())), request.tag))
        except DocumentError as error:
            problems.append(mask_text(str(error))[0])
    return Added(tuple(added), tuple(problems))


def _add(store: Store, path: Path, tags: Sequence[str]) -> AddedDocument:
    size, known = check_file(path), store.documents.find(id_of(path))
    content_hash = _hash_of(path)
    others = (
        (known,)
        if known
        else (one for one in store.documents.all() if one.content_hash == content_hash)
    )
    same = next(
        (one for one in others if (one.content_hash, one.reader) == (content_hash, READER)), None
    )
    if same and not store.documents.is_damaged(same.id):
        return _retag(store, same, tags)
    contents, tombstones = read_document(path), tombstones_of(store)
    sections, masked = _masked(contents, tombstones)
    named = [_clean(text, tombstones) for text in (contents.title, str(path))]
    document = KeptDocument(
        id=id_of(path),
        title=named[0],
        kind=contents.kind,
        source_path=named[1],
        content_hash=content_hash,
        bytes=size,
        tags=tuple(sorted({*tags, *(known.tags if known else ())})),
        added_at=store.settings.clock().isoformat(timespec="seconds"),
        reader=READER,
        section_count=len(sections),
        masked_count=masked,
    )
    with store.lock():
        document = store.documents.write(document, sections)
    return _added(document, "replaced" if known else "added")


def _retag(store: Store, document: KeptDocument, tags: Sequence[str]) -> AddedDocument:
    """Adds the tags to a document that is there already."""
    together = tuple(sorted({*document.tags, *tags}))
    if together == document.tags:
        return _added(document, "unchanged")
    with store.lock():
        found = store.documents.read(document.id)
        if found:
            store.documents.write(replace(document, tags=together), found[1])
    return _added(document, "retagged")


def id_of(path: Path) -> str:
    """Returns the id of the document that was added from the path."""
    return f"doc_{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"


def list_documents(store: Store) -> list[DocumentRow]:
    """Returns the documents, the latest first."""
    chunks = store.tables.parts("document_chunks")
    shared = [name for name in DocumentRow.__dataclass_fields__ if name != "chunk_count"]
    return [
        DocumentRow(
            **{name: getattr(one, name) for name in shared},
            chunk_count=chunks[one.id].rows if one.id in chunks else 0,
        )
        for one in store.documents.all()
    ]


def find_document(store: Store, name: str) -> KeptDocument:
    """Returns the document with that id (or its beginning), path, file name or words in its title.

    Raises `UnknownDocumentError` where there is none, or where several fit.
    """
    documents, wanted = store.documents.all(), name.strip()
    path = os.path.realpath(Path(wanted).expanduser()) if wanted and "\0" not in wanted else ""
    fits = (
        lambda one: one.id == wanted or one.id == id_of(Path(path)) or one.source_path == wanted,
        lambda one: len(wanted) >= SHORTEST_ID and one.id.startswith(wanted),
        lambda one: Path(one.source_path).name == wanted,
        lambda one: wanted.casefold() in one.title.casefold(),
    )
    found = next(
        (some for fit in fits if wanted and (some := [one for one in documents if fit(one)])), []
    )
    if len(found) == 1:
        return found[0]
    shown = mask_text(wanted[:80])[0]
    if not found:
        raise UnknownDocumentError(
            f"There is no document '{shown}'. `memory library documents` lists them."
        )
    raise UnknownDocumentError(
        f"'{shown}' fits several documents: {', '.join(one.id for one in found[:5])}. Give an id."
    )


def remove(store: Store, name: str) -> KeptDocument:
    """Removes the document with its chunks, their vectors and their part of the index; its file
    stays as it is.
    """
    found = find_document(store, name)
    with store.lock():
        store.documents.remove(found.id)
    remove_left(store)
    return found


def remove_left(store: Store) -> list[str]:
    """Removes notes, chunks, vectors and terms of documents that are not kept any more, and returns
    the ids of these.
    """
    with store.lock():
        kept = {*store.documents.ids()}
        gone = sorted({part for table in PARTITIONED for part in store.tables.parts(table)} - kept)
        for one in gone:
            for table in PARTITIONED:
                store.tables.drop(table, one)
        erase_unknown_chunks(store)
        return gone


def erase_unknown_chunks(store: Store) -> None:
    """Publishes the index without chunks that are in no table, and deletes its other
    generations.
    """
    index = open_document_texts(store)
    chunks = {*store.tables.read("document_chunks", columns=["id"])["id"]}
    if left := sorted(index.ids(DOCUMENTS) - chunks):
        index.update(
            index_rows(empty("document_chunks"), empty("document_vectors"), DOCUMENTS), left
        )
        index.keep_published_only()


def search(store: Store, request: SearchDocumentsRequest) -> FoundInDocuments:
    """Returns the chunks that fit the question."""
    question = " ".join(request.question.split())[:LONGEST_QUESTION]
    wanted = [find_document(store, request.document)] if request.document else store.documents.all()
    wanted = [one for one in wanted if not request.tag or {*one.tags} & {*request.tag}]
    texts = open_document_texts(store).open(DOCUMENTS)
    built = store.tables.parts("document_chunks")
    warnings = [BEHIND] if any(one.id not in built for one in wanted) else []
    if texts is None or not question:
        return FoundInDocuments(question, (), len(wanted), tuple(warnings))
    embedder = None
    try:
        embedder = open_embedder(store.settings.embedding_model)
    except ModelError as error:
        warnings.append(str(error))
    now, allowed = store.settings.clock(), [one.id for one in wanted]
    found = find_chunks(
        question, texts, embedder, now=now, allowed=allowed, aliases=store.settings.aliases
    )
    return FoundInDocuments(
        question, tuple(_hits(store, found[: request.limit])), len(wanted), tuple(warnings)
    )


def _hits(store: Store, found: Sequence[ChunkHit]) -> Iterable[DocumentHit]:
    titles = {one.id: one.title for one in store.documents.all()}
    chunks = (
        store.tables.scan("document_chunks")
        .filter(pl.col("id").is_in([one.id for one in found]))
        .collect()
    )
    rows = {row["id"]: row for row in chunks.drop("text_hash").iter_rows(named=True)}
    for one in found:
        if (row := rows.get(one.id)) and row["doc_id"] in titles:
            yield DocumentHit(
                **{**row, "tags": tuple(row["tags"])},
                title=titles[row["doc_id"]],
                score=round(one.score, 4),
            )


def _masked(contents: Contents, tombstones: Tombstones) -> tuple[list[KeptSection], int]:
    """Returns the sections without secrets and forgotten words, and the number of secrets."""
    masked = [mask_text(one.text) for one in contents.sections]
    texts = zip(contents.sections, masked, strict=True)
    kept = [
        KeptSection(tombstones.mask_text(text), one.page, _clean(one.chapter, tombstones))
        for one, (text, _) in texts
    ]
    return kept, sum(count for _, count in masked)


def _clean(text: str, tombstones: Tombstones) -> str:
    return tombstones.mask_text(text.encode("utf-8", "replace").decode())


def _hash_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DocumentError(f"Cannot add {path}: {error.strerror or error}.") from error


def _added(document: KeptDocument, state: str) -> AddedDocument:
    shared = [name for name in AddedDocument.__dataclass_fields__ if name != "state"]
    return AddedDocument(**{name: getattr(document, name) for name in shared}, state=state)
