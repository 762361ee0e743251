"""Reads a page of the web, and the items of a feed; both as bytes, nothing is fetched."""

from dataclasses import dataclass
from typing import Any

from memory_assets.adapters.documents.contents import Section, UnreadableError, clean, name_of

MOST_ITEMS = 500
MOST_SUMMARY = 20_000


@dataclass(frozen=True)
class FeedItem:
    """An item of a feed."""

    id: str
    title: str
    link: str
    summary: str
    published: str
    """ISO 8601; empty where the feed does not say."""
    tags: tuple[str, ...]


def read_page(content: bytes, url: str) -> dict[str, Any]:
    """Returns title, description, tags and sections of the page's article, or of all its text where
    it has none.
    """
    import trafilatura

    from memory_assets.adapters.documents.html import read_html

    title, sections = read_html(content)
    found = trafilatura.bare_extraction(
        content, url=url, with_metadata=True, include_comments=False
    )
    text = str(getattr(found, "text", None) or "")
    named = {name: getattr(found, name, None) or "" for name in ("title", "description")}
    words = [*(getattr(found, "tags", None) or ()), *(getattr(found, "categories", None) or ())]
    tags = [tag.strip() for one in words for tag in str(one).split(",") if tag.strip()]
    kept = [Section(text)] if text else sections
    return {
        "title": name_of(named["title"] or title),
        "description": clean(named["description"]),
        "tags": tags,
        "sections": kept,
    }


def read_feed(content: bytes) -> dict[str, Any]:
    """Returns the title of the feed and its items, as the feed orders them."""
    import feedparser

    from memory_assets.adapters.documents.html import read_html

    found = feedparser.parse(content, sanitize_html=True, resolve_relative_uris=False)
    if not found.entries and not found.get("version"):
        raise UnreadableError("It is no feed (RSS or Atom).")
    items = []
    for one in found.entries[:MOST_ITEMS]:
        body = one["content"][0].get("value", "") if one.get("content") else one.get("summary", "")
        text = (
            "\n\n".join(section.text for section in read_html(str(body).encode())[1])
            if body
            else ""
        )
        moment = one.get("published_parsed") or one.get("updated_parsed")
        published = (
            "{:04d}-{:02d}-{:02d}T{:02d}:{:02d}:{:02d}+00:00".format(*moment[:6]) if moment else ""
        )
        tags = tuple(str(tag.get("term") or "") for tag in one.get("tags", ()))
        id = str(one.get("id") or one.get("link") or one.get("title") or "")
        link = str(one.get("link") or "")
        items.append(
            FeedItem(
                id,
                name_of(str(one.get("title") or "")),
                link,
                clean(text)[:MOST_SUMMARY],
                published,
                tags,
            )
        )
    return {"title": name_of(str(found.feed.get("title") or "")), "items": items}
