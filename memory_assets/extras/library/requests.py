"""Request models of the library: one per verb, with its parameters, their bounds and
descriptions.
"""

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from memory_assets.extras.library.records import SLOG_ACTIONS, SlogAction
from memory_assets.schema.requests import Request, Tag, no_boolean, parameter

MOST_LISTED = 1_000
"""Entries of the slog in one answer."""

MOST_CHUNKS = 50
"""Chunks of documents in one answer."""


class SlogRequest(Request):
    """Appends an entry to the slog, or lists entries."""

    action: SlogAction | None = parameter("What was done; without it, entries are listed.", None)
    tool: str = parameter("What it was done to or with, such as caddy.", "")
    detail: str = parameter("What was done, in a sentence.", "")
    reason: str = parameter("Why.", "")
    search: str = parameter("List only entries with these words.", "")
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED), BeforeValidator(no_boolean)] = parameter(
        "How many entries to list, the latest.", 20
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        missing = [name for name in ("tool", "detail") if not getattr(self, name).strip()]
        if self.action is not None and missing:
            description = type(self).model_fields[missing[0]].description
            raise ValueError(f"{missing[0]} is missing: {description}")
        if self.action is None and (self.tool or self.detail or self.reason):
            raise ValueError(f"action is missing: it must be one of {', '.join(SLOG_ACTIONS)}")
        return self


class AddDocumentsRequest(Request):
    """Adds files to the library."""

    files: tuple[str, ...] = parameter(
        "Files: PDF, EPUB, DOCX, HTML, Markdown, plain text.", min_length=1
    )
    tag: tuple[Tag, ...] = parameter(
        "Tags to find them by: letters, digits, hyphens and underscores.", ()
    )


class SearchDocumentsRequest(Request):
    """Searches the documents of the library."""

    question: str = parameter(
        "Words, or a question.", examples=["how does a write-ahead log recover"]
    )
    document: str | None = parameter("Only in this document: its id, or words of its title.", None)
    tag: tuple[Tag, ...] = parameter("Only in documents with one of these tags.", ())
    limit: Annotated[int, Field(ge=1, le=MOST_CHUNKS), BeforeValidator(no_boolean)] = parameter(
        f"Maximum results: 1 to {MOST_CHUNKS}.", 5
    )


class DiscoverRequest(Request):
    """Reads a page or a repository, and keeps a note of it."""

    source: str = parameter(
        "An address of the web, or a git repository: a folder, or an https address ending in .git."
    )
    tag: tuple[Tag, ...] = parameter(
        "Tags to find it by: letters, digits, hyphens and underscores.", ()
    )
    private: bool = parameter("Also read addresses of private networks, such as localhost.", False)


class AddFeedRequest(Request):
    """Watches a feed."""

    url: str = parameter("The address of an RSS or Atom feed.")
    tag: tuple[Tag, ...] = parameter("Tags of its items.", ())
    private: bool = parameter("Also poll it in a private network.", False)
