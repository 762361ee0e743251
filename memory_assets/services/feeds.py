"""Feeds that are watched: a poll keeps new items as discoveries, from what the feed says of them;
their pages are not fetched.

Items that are there when a feed is added are only noted. Polls run by a schedule, and by `memory
library feeds poll`.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from memory_assets.adapters.documents.process import read_fetched
from memory_assets.adapters.web import FEEDS, fetch
from memory_assets.errors import DocumentError, FetchError, UnknownDocumentError
from memory_assets.schema.requests import AddFeedRequest
from memory_assets.services.discoveries import Source, keep
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.store.feeds import Feed
from memory_assets.store.store import Store, open_store
from memory_assets.text.masking.redact import mask_text

MOST_NEW = 50
"""New items that one poll keeps; the others come with the next."""


@dataclass(frozen=True)
class FeedRow:
    """A feed as the library lists it."""

    id: str
    title: str
    url: str
    tags: tuple[str, ...]
    added_at: str
    polled_at: str
    problem: str
    """Why the last poll failed; empty where it did not."""
    item_count: int
    """Items that were kept."""


@dataclass(frozen=True)
class Polled:
    """What the polls of feeds brought."""

    feeds: tuple[FeedRow, ...]
    new: tuple[str, ...] = ()
    """Titles of the items that are new."""


def add(store: Store, request: AddFeedRequest) -> FeedRow:
    """Watches a feed from now on; raises `DocumentError` where it cannot be read."""
    if mask_text(request.url)[1]:
        raise FetchError(
            "Cannot watch this feed: its address contains a secret, which would have to be "
            "kept. Use one without."
        )
    id = f"feed_{hashlib.sha256(request.url.encode('utf-8', 'replace')).hexdigest()[:12]}"
    fetched = fetch(request.url, kinds=FEEDS, allow_private=request.private)
    found = read_fetched(fetched.content, request.url, "feed")
    open_store(store.settings)
    now = _now(store)
    known = store.feeds.find(id)
    tags = tuple(sorted({*request.tag, *(known.tags if known else ())}))
    seen = known.seen if known else {_item_id(id, one): ("", now) for one in found["items"]}
    title = tombstones_of(store).mask_text(found["title"] or request.url)
    added_at = known.added_at if known else now
    feed = Feed(
        id,
        request.url,
        title,
        tags,
        added_at,
        request.private,
        known.polled_at if known else now,
        seen=seen,
    )
    with store.lock():
        feed = store.feeds.write(feed)
    return _row(feed)


def list_feeds(store: Store) -> list[FeedRow]:
    """Returns the feeds, by address."""
    return [_row(one) for one in store.feeds.all()]


def remove(store: Store, name: str) -> FeedRow:
    """Watches the feed no more; the items that it brought stay. Raises `UnknownDocumentError` where
    there is none.
    """
    fits = [one for one in store.feeds.all() if name.strip() in (one.id, one.url, one.title)]
    if len(fits) != 1:
        shown = mask_text(name[:80])[0]
        raise UnknownDocumentError(
            f"There is no feed '{shown}', or several. `memory library feeds list` lists "
            "them with their ids."
        )
    with store.lock():
        store.feeds.remove(fits[0].id)
        store.tables.drop("feed_items", fits[0].id)
    return _row(fits[0])


def poll(store: Store, feed_id: str) -> list[str]:
    """Keeps the new items of the feed and returns their titles; a failure is noted, and the next
    poll tries again.
    """
    feed = store.feeds.find(feed_id)
    if feed is None:
        return []
    try:
        found, headers = _fetch(feed)
    except DocumentError as error:
        _write(store, replace(feed, polled_at=_now(store), problem=str(error)))
        return []
    titles = list[str]()
    for item in _new(feed, found)[:MOST_NEW]:
        kept = keep(store, _source(feed, item), feed.tags)
        feed = replace(feed, seen={**feed.seen, _item_id(feed.id, item): (kept.id, _now(store))})
        _write(store, feed)  # after each, so that a killed poll repeats none
        titles.append(kept.title)
    version = {
        "etag": headers.get("etag", feed.etag),
        "modified": headers.get("last-modified", feed.modified),
    }
    is_all = not _new(feed, found)
    _write(store, replace(feed, polled_at=_now(store), problem="", **(version if is_all else {})))
    return titles


def _fetch(feed: Feed) -> tuple[list[dict[str, Any]], dict[str, str]]:
    asked = {"If-None-Match": feed.etag, "If-Modified-Since": feed.modified}
    headers = {name: value for name, value in asked.items() if value}
    fetched = fetch(feed.url, kinds=FEEDS, allow_private=feed.allow_private, headers=headers)
    found = [] if fetched.is_unchanged else read_fetched(fetched.content, feed.url, "feed")["items"]
    return found, {name.lower(): value for name, value in fetched.headers.items()}


def _new(feed: Feed, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the items that were not seen, the oldest first."""
    return [one for one in reversed(items) if _item_id(feed.id, one) not in feed.seen]


def _source(feed: Feed, item: dict[str, Any]) -> Source:
    text = item["summary"] or item["title"]
    url = (
        item["link"]
        if item["link"].startswith(("http://", "https://"))
        else f"{feed.url}#{_item_id(feed.id, item)[:8]}"
    )
    return Source("page", url, item["title"], "", [text], item["tags"], feed.id)


def _write(store: Store, feed: Feed) -> None:
    """Writes the feed, unless it was removed meanwhile."""
    with store.lock():
        if store.feeds.find(feed.id):
            store.feeds.write(feed)


def _item_id(feed_id: str, item: dict[str, Any]) -> str:
    return hashlib.sha256(f"{feed_id}/{item['id']}".encode("utf-8", "replace")).hexdigest()[:24]


def _now(store: Store) -> str:
    return store.settings.clock().isoformat(timespec="seconds")


def _row(feed: Feed) -> FeedRow:
    kept = sum(1 for doc_id, _ in feed.seen.values() if doc_id)
    return FeedRow(
        feed.id, feed.title, feed.url, feed.tags, feed.added_at, feed.polled_at, feed.problem, kept
    )
