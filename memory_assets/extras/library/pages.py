"""Parses a page of the web, or a feed, from its bytes. Nothing is fetched."""

from collections.abc import Iterator
from typing import Any

from memory_assets.extras.library.contents import (
    DocumentSection,
    UnreadableError,
    clean,
    cleaned,
    name_of,
)

MOST_ITEMS = 500
"""Items of a feed that are read."""

MOST_SUMMARY = 20_000
"""Characters of an item's text that are kept."""


def read_page(content: bytes, url: str) -> dict[str, Any]:
    """Returns kind, title, description, tags and sections of the page.

    The sections are those of its article, else all visible text.
    """
    import trafilatura

    from memory_assets.extras.library.html import read_html

    title, sections = read_html(content)
    article = trafilatura.bare_extraction(
        content, url=url, with_metadata=True, include_comments=False
    )
    text = str(_field(article, "text"))
    if text:
        sections = [DocumentSection(text)]
    contents = cleaned("page", _field(article, "title") or title, sections)
    words = [*_field(article, "tags"), *_field(article, "categories")]
    tags = (tag.strip() for word in words for tag in str(word).split(","))
    description = clean(_field(article, "description"))
    return vars(contents) | {"description": description, "tags": list(filter(None, tags))}


def _field(article: Any, name: str) -> Any:
    return getattr(article, name, None) or ""


def read_feed(content: bytes) -> dict[str, Any]:
    """Returns the title of the feed and its items in their order."""
    import feedparser

    feed = feedparser.parse(content, sanitize_html=True, resolve_relative_uris=False)
    if not feed.entries and not feed.get("version"):
        raise UnreadableError("It is no feed (RSS or Atom).")
    items = [_item_of(entry) for entry in feed.entries[:MOST_ITEMS]]
    return {"title": name_of(_text(feed.feed, "title")), "items": items}


def _item_of(entry: Any) -> dict[str, Any]:
    """Returns id, title, link, text and tags of an item of a feed."""
    text = "\n\n".join(_texts_of(entry))
    return {
        "id": _text(entry, "id") or _text(entry, "link") or _text(entry, "title"),
        "title": name_of(_text(entry, "title")),
        "link": _text(entry, "link"),
        "summary": clean(text)[:MOST_SUMMARY],
        "tags": [_text(tag, "term") for tag in entry.get("tags", ())],
    }


def _texts_of(entry: Any) -> Iterator[str]:
    """Yields the text of each section in the content of an item, else in its summary."""
    from memory_assets.extras.library.html import read_html

    body = entry["content"][0].get("value", "") if entry.get("content") else entry.get("summary")
    if body:
        _, sections = read_html(str(body).encode())
        yield from (section.text for section in sections)


def _text(item: Any, name: str) -> str:
    return str(item.get(name) or "")
