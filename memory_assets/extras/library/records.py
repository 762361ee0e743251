"""Rows of the library: the slog, architecture decision records, and documents with their chunks."""

from datetime import date, datetime
from typing import ClassVar, Literal, get_args

from pydantic import Field

from memory_assets.schema.records.base import Count, Record

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
    number: Count = Field(description="Its place in the slog by time, from 0.")
    timestamp: datetime = Field(description="When it was done.")
    action: SlogAction = Field(
        description="What was done: install, configure, deploy, fix, create, ingest or restart."
    )
    tool: str = Field(description="What it was done to or with, such as caddy.")
    detail: str = Field(description="What was done, in a sentence; secrets masked.")
    reason: str = Field(description="Why; empty where nobody said.")


class Adr(Record):
    """An architecture decision record of a project, as its Markdown file has it now; the file is
    only read.
    """

    id: str = Field(description="Hash of the path.")
    path: str = Field(description="The file.")
    project: str = Field(description="The project whose repository holds it.")
    number: Count = Field(
        description="Its number, from the name of the file; numbers are not used again."
    )
    title: str = Field(description="The title, without the number.")
    status: AdrStatus | None = Field(
        description="One of six words; empty where the file has another status or none."
    )
    is_in_force: bool = Field(description="Accepted or shipped, and superseded by no other record.")
    decided_on: date | None = Field(description="The date in the file.")
    supersedes: list[int] = Field(description="Numbers of the records that it replaces.")
    superseded_by: list[int] = Field(description="Numbers of the records that replace it.")
    decision: str = Field(description="First paragraph of the decision.")
    context: str = Field(description="First paragraph of the context: why it was decided.")
    statements: list[str] = Field(
        description="What it decides, a sentence each; compared with memories."
    )
    text: str = Field(description="What is recalled of it.")
    line: Count = Field(description="The line of its title, from 0.")
    changed_at: datetime = Field(description="When the file was last changed.")
    problems: list[str] = Field(
        description="What is wrong with it, such as a number that is used again."
    )


class AdrConflict(Record):
    """An active memory that contradicts a decision in force; shown in the review until one of the
    two changes.
    """

    key: ClassVar = ("adr_id", "memory_id")
    adr_id: str = Field(description="The decision record.")
    memory_id: str = Field(description="The memory.")
    number: Count = Field(description="The number of the record.")
    path: str = Field(description="The file of the record.")
    project: str = Field(description="The project of the record.")
    statement: str = Field(description="The sentence of the record.")
    text: str = Field(description="The memory.")
    reason: str = Field(
        description="How they conflict: replaced, reversed, opposite, or other value."
    )


class Document(Record):
    """A document that was added to the library (`memory library add`); its text is kept, its file
    is not.
    """

    id: str = Field(description="doc_ and a hash of the path.")
    title: str = Field(
        description="The title in the file, else the name of the file; secrets masked."
    )
    kind: DocumentKind = Field(
        description="pdf, epub, html, markdown, docx or text; page or repository."
    )
    source_path: str = Field(description="The file that was added, or the address that was read.")
    content_hash: str = Field(description="SHA-256 of that file.")
    bytes: Count = Field(description="Size of that file.")
    section_count: Count = Field(
        description="Pages of a PDF, sections of other kinds, that have text."
    )
    masked_count: Count = Field(description="Secrets that were masked in it.")
    tags: list[str] = Field(description="Tags that were given with it.")
    added_at: datetime = Field(description="When this version of it was added.")


class DocumentChunk(Record):
    """A part of a document; found only by a search of the library, and in no briefing, recall or
    proposal.
    """

    id: str = Field(description="UUIDv5 of the document, the index and the text.")
    doc_id: str = Field(description="The document.")
    chunk_index: Count = Field(description="Its place in the document, from 0.")
    content: str = Field(description="The text; secrets masked.")
    source_path: str = Field(description="The file that was added.")
    tags: list[str] = Field(description="Tags of the document.")
    page: int | None = Field(description="The page of a PDF, from 1.")
    chapter: str = Field(description="The heading or bookmark that it is below.")
    text_hash: str = Field(description="SHA-256 of the text, in hex; the key of its vector.")


class DocumentVector(Record):
    """The vector of a chunk and codes of its words; a chunk that the model cannot encode has
    none.
    """

    id: str = Field(description="The chunk.")
    doc_id: str = Field(description="The document.")
    text_hash: str = Field(description="SHA-256 of the chunk's text, in hex.")
    model: str = Field(description="Model that made the vector.")
    model_version: str = Field(description="Hash of the model's weights, shortened.")
    vector: list[float] = Field(description="Unit-length vector, float32.")
    words: bytes = Field(
        description="Contextual word codes, 48 signed bytes per word; empty if the model has none."
    )


class Discovery(Record):
    """A page, a repository or an item of a feed that somebody asked to be read (`memory library
    discover`), as a note.
    """

    key: ClassVar = ("doc_id",)
    doc_id: str = Field(description="Its document in the library, which has the whole text.")
    title: str = Field(description="The title.")
    kind: DocumentKind = Field(description="page or repository.")
    url: str = Field(description="Where it was read.")
    note: str = Field(description="What is recalled of it; secrets masked.")
    tags: list[str] = Field(
        description="Tags that were given, and those of the page or the languages of the "
        "repository."
    )
    project: str = Field(
        description="The project that it is most relevant to; empty where it is relevant to none."
    )
    projects: list[str] = Field(
        description="Projects that it is relevant to, the most relevant first."
    )
    relevance: list[float] = Field(
        description="Mean cosine of the note and its nearest memories of each of these projects."
    )
    feed_id: str = Field(description="The feed that it is an item of; empty for others.")
    read_at: datetime = Field(description="When it was read.")


class FeedItem(Record):
    """An item that was seen in a feed; new ones become discoveries."""

    key: ClassVar = ("feed_id", "item_id")
    feed_id: str = Field(description="feed_ and a hash of the address.")
    item_id: str = Field(description="Hash of the feed and of the item's id there.")
    doc_id: str = Field(
        description="Its document in the library; empty for items that were there before the "
        "feed was added."
    )
    seen_at: datetime = Field(description="When it was first seen.")
