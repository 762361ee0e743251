"""Rows of the library: the slog, architecture decision records, and documents with their chunks."""

from datetime import date, datetime
from typing import ClassVar, Literal, get_args

from memory_assets.schema.records.base import Count, Record, column

SlogAction = Literal["install", "configure", "deploy", "fix", "create", "ingest", "restart"]
SLOG_ACTIONS: tuple[SlogAction, ...] = get_args(SlogAction)
"""What an entry of the slog says was done."""

AdrStatus = Literal["proposed", "accepted", "shipped", "superseded", "deprecated", "rejected"]
ADR_STATUSES: tuple[AdrStatus, ...] = get_args(AdrStatus)
"""What the status of a decision record may be: one word."""

DocumentKind = Literal["pdf", "epub", "html", "markdown", "docx", "text", "page", "repository"]


class SlogEntry(Record):
    """An entry of the slog (`workspace/slog.jsonl`): what a person, an agent or this program did to
    a system.
    """

    key: ClassVar = ("number",)
    number: Count = column("Its place in the slog by time, from 0.")
    timestamp: datetime = column("When it was done.")
    action: SlogAction = column(
        "What was done: install, configure, deploy, fix, create, ingest or restart."
    )
    tool: str = column("What it was done to or with, such as caddy.")
    detail: str = column("What was done, in a sentence; secrets masked.")
    reason: str = column("Why; empty where nobody said.")


class Adr(Record):
    """An architecture decision record of a project, as its Markdown file has it now; the file is
    only read.
    """

    id: str = column("Hash of the path.")
    path: str = column("The file.")
    project: str = column("The project whose repository holds it.")
    number: Count = column("Its number, from the name of the file; numbers are not used again.")
    title: str = column("The title, without the number.")
    status: AdrStatus | None = column(
        "One of six words; empty where the file has another status or none."
    )
    is_in_force: bool = column("Accepted or shipped, and superseded by no other record.")
    decided_on: date | None = column("The date in the file.")
    supersedes: list[int] = column("Numbers of the records that it replaces.")
    superseded_by: list[int] = column("Numbers of the records that replace it.")
    decision: str = column("First paragraph of the decision.")
    context: str = column("First paragraph of the context: why it was decided.")
    statements: list[str] = column("What it decides, a sentence each; compared with memories.")
    text: str = column("What is recalled of it.")
    line: Count = column("The line of its title, from 0.")
    changed_at: datetime = column("When the file was last changed.")
    problems: list[str] = column("What is wrong with it, such as a number that is used again.")


class AdrConflict(Record):
    """An active memory that contradicts a decision in force; shown in the review until one of the
    two changes.
    """

    key: ClassVar = ("adr_id", "memory_id")
    adr_id: str = column("The decision record.")
    memory_id: str = column("The memory.")
    number: Count = column("The number of the record.")
    path: str = column("The file of the record.")
    project: str = column("The project of the record.")
    statement: str = column("The sentence of the record.")
    text: str = column("The memory.")
    reason: str = column("How they conflict: replaced, reversed, opposite, or other value.")


class Document(Record):
    """A document that was added to the library (`memory library add`); its text is kept, its file
    is not.
    """

    id: str = column("doc_ and a hash of the path.")
    title: str = column("The title in the file, else the name of the file; secrets masked.")
    kind: DocumentKind = column("pdf, epub, html, markdown, docx or text; page or repository.")
    source_path: str = column("The file that was added, or the address that was read.")
    content_hash: str = column("SHA-256 of that file.")
    bytes: Count = column("Size of that file.")
    section_count: Count = column("Pages of a PDF, sections of other kinds, that have text.")
    masked_count: Count = column("Secrets that were masked in it.")
    tags: list[str] = column("Tags that were given with it.")
    added_at: datetime = column("When this version of it was added.")


class DocumentChunk(Record):
    """A part of a document; found only by a search of the library, and in no briefing, recall or
    proposal.
    """

    id: str = column("UUIDv5 of the document, the index and the text.")
    doc_id: str = column("The document.")
    chunk_index: Count = column("Its place in the document, from 0.")
    content: str = column("The text; secrets masked.")
    source_path: str = column("The file that was added.")
    tags: list[str] = column("Tags of the document.")
    page: int | None = column("The page of a PDF, from 1.")
    chapter: str = column("The heading or bookmark that it is below.")
    text_hash: str = column("SHA-256 of the text, in hex; the key of its vector.")


class DocumentVector(Record):
    """The vector of a chunk and codes of its words; a chunk that the model cannot encode has
    none.
    """

    id: str = column("The chunk.")
    doc_id: str = column("The document.")
    text_hash: str = column("SHA-256 of the chunk's text, in hex.")
    model: str = column("Model that made the vector.")
    model_version: str = column("Hash of the model's weights, shortened.")
    vector: list[float] = column("Unit-length vector, float32.")
    words: bytes = column(
        "Contextual word codes, 48 signed bytes per word; empty if the model has none."
    )


class Discovery(Record):
    """A page, a repository or an item of a feed that somebody asked to be read (`memory library
    discover`), as a note.
    """

    key: ClassVar = ("doc_id",)
    doc_id: str = column("Its document in the library, which has the whole text.")
    title: str = column("The title.")
    kind: DocumentKind = column("page or repository.")
    url: str = column("Where it was read.")
    note: str = column("What is recalled of it; secrets masked.")
    tags: list[str] = column(
        "Tags that were given, and those of the page or the languages of the repository."
    )
    project: str = column(
        "The project that it is most relevant to; empty where it is relevant to none."
    )
    projects: list[str] = column("Projects that it is relevant to, the most relevant first.")
    relevance: list[float] = column(
        "Mean cosine of the note and its nearest memories of each of these projects."
    )
    feed_id: str = column("The feed that it is an item of; empty for others.")
    read_at: datetime = column("When it was read.")


class FeedItem(Record):
    """An item that was seen in a feed; new ones become discoveries."""

    key: ClassVar = ("feed_id", "item_id")
    feed_id: str = column("feed_ and a hash of the address.")
    item_id: str = column("Hash of the feed and of the item's id there.")
    doc_id: str = column(
        "Its document in the library; empty for items that were there before the feed was added."
    )
    seen_at: datetime = column("When it was first seen.")
