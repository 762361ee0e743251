"""Watches feeds (RSS, Atom): keeps a file for each, and the new items of a poll as discoveries.

    library/feeds/feed_0f3a5c1e9b2d.json    the feed, and the items that were seen in it

Each item is kept once, with the text that the feed gives; its page is not fetched. Items that a
feed has when it is added are noted as seen and not kept. A schedule and `memory library feeds poll`
run polls.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_assets import errors
from memory_assets.extras.library.discoveries import Source, keep
from memory_assets.extras.library.kept_documents import FOLDER, new_id
from memory_assets.extras.library.process import read_fetched
from memory_assets.extras.library.requests import AddFeedRequest
from memory_assets.extras.library.web import FEEDS, fetch
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.store.store import Store, open_store
from memory_assets.text.files import write_json
from memory_assets.text.masking.records import mask_record
from memory_assets.text.masking.redact import mask_text

MOST_NEW = 50
"""New items that one poll keeps; further ones are kept by the next poll."""

POLLED_EVERY = timedelta(hours=1)
"""Time after a poll until the feed waits for the next one, as the schedule runs every hour."""


@dataclass(frozen=True)
class Feed:
    """A feed that is watched."""

    id: str
    url: str
    title: str
    tags: tuple[str, ...]
    added_at: str
    allow_private: bool = False
    """Whether its address may be in a private network."""
    polled_at: str = ""
    problem: str = ""
    """Why the last poll failed; empty where it did not."""
    etag: str = ""
    modified: str = ""
    """The server's headers `ETag` and `Last-Modified`; with them it answers only after a change."""
    seen: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Hash of an item → its document (empty if the feed had it when it was added), and when it was
    first seen.
    """


class Feeds:
    """Writes, reads and removes the feeds of a store."""

    def __init__(self, root: Path) -> None:
        self.folder = root / FOLDER / "feeds"

    def write(self, feed: Feed) -> Feed:
        """Replaces the feed's file and returns the feed as written, its secrets masked."""
        record = mask_record(asdict(feed))
        write_json(self._path(feed.id), record)
        return Feed(**record)

    def remove(self, feed_id: str) -> None:
        """Deletes the feed's file."""
        self._path(feed_id).unlink(missing_ok=True)

    def ids(self) -> list[str]:
        """Returns the ids of all feeds, sorted."""
        return sorted(path.stem for path in self.folder.glob("feed_*.json"))

    def all(self) -> list[Feed]:
        """Returns the feeds, by address; raises `StoreError` for a damaged file."""
        return sorted(filter(None, map(self.find, self.ids())), key=lambda feed: feed.url)

    def find(self, feed_id: str) -> Feed | None:
        """Returns the feed; None where there is none. Raises `StoreError` for a damaged file."""
        path = self._path(feed_id)
        try:
            record = json.loads(path.read_bytes())
            seen = {item: (doc, at) for item, (doc, at) in record["seen"].items()}
            return Feed(**{**record, "tags": tuple(record["tags"]), "seen": seen})
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise errors.StoreError(
                f"Cannot read {path}: it is damaged. Restore it from a backup, or delete it and "
                "add the feed again."
            ) from error

    def _path(self, feed_id: str) -> Path:
        return self.folder / f"{feed_id}.json"


def feeds_of(store: Store) -> Feeds:
    """Returns the feeds of the store."""
    return Feeds(store.permanent)


def feed_ids(store: Store) -> list[str]:
    """Returns the ids of all feeds, sorted."""
    return feeds_of(store).ids()


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
    """The feeds after a poll of all, and what is new."""

    feeds: tuple[FeedRow, ...]
    new: tuple[str, ...] = ()
    """Titles of the new items."""


def add(store: Store, request: AddFeedRequest) -> FeedRow:
    """Watches the feed from now on; raises `DocumentError` where it cannot be read.

    A feed that is watched already keeps its items and gets the new tags as well.
    """
    url = request.url
    if mask_text(url)[1]:
        raise errors.FetchError(
            "Cannot watch this feed: its address contains a secret, which would have to be kept. "
            "Use one without."
        )
    id = new_id("feed", url.encode("utf-8", "replace"))
    fetched = fetch(url, kinds=FEEDS, allow_private=request.private)
    contents = read_fetched(fetched.content, url, "feed")
    open_store(store.settings)
    now = _now(store)
    title = tombstones_of(store).mask_text(contents["title"] or url)
    seen = {_item_id(id, item): ("", now) for item in contents["items"]}
    first = Feed(id, url, title, request.tag, now, polled_at=now, seen=seen)
    earlier = feeds_of(store).find(id) or first
    # `etag` and `modified` are left empty, so that the next poll gets the whole feed.
    feed = replace(
        first,
        tags=tuple(sorted({*request.tag, *earlier.tags})),
        added_at=earlier.added_at,
        allow_private=request.private,
        polled_at=earlier.polled_at,
        seen=earlier.seen,
    )
    with store.lock():
        return _row(feeds_of(store).write(feed))


def list_feeds(store: Store) -> list[FeedRow]:
    """Returns the feeds, by address."""
    return [_row(feed) for feed in feeds_of(store).all()]


def remove(store: Store, name: str) -> FeedRow:
    """Stops watching the feed with the id, address or title; its kept items stay.

    Raises `UnknownDocumentError` where not exactly one feed matches.
    """
    feeds = feeds_of(store)
    matches = [feed for feed in feeds.all() if name.strip() in (feed.id, feed.url, feed.title)]
    if len(matches) != 1:
        raise errors.UnknownDocumentError(
            f"There is no feed '{mask_text(name[:80])[0]}', or several. `memory library feeds "
            "list` lists them with their ids."
        )
    (feed,) = matches
    with store.lock():
        feeds.remove(feed.id)
        store.tables.drop("feed_items", feed.id)
    return _row(feed)


def poll(store: Store, feed_id: str) -> list[str]:
    """Keeps the new items of the feed, the oldest first, and returns their titles.

    A failure is noted in the feed's file, and the next poll tries again.
    """
    feed = feeds_of(store).find(feed_id)
    if feed is None:
        return []
    try:
        items, headers = _fetch(feed)
    except errors.DocumentError as error:
        _write(store, replace(feed, polled_at=_now(store), problem=str(error)))
        return []
    titles: list[str] = []
    new_items = [item for item in reversed(items) if _item_id(feed.id, item) not in feed.seen]
    for item in new_items[:MOST_NEW]:
        discovered = keep(store, _source(feed, item), feed.tags)
        seen = {**feed.seen, _item_id(feed.id, item): (discovered.id, _now(store))}
        feed = replace(feed, seen=seen)
        _write(store, feed)  # after each item, so that a killed poll keeps none twice
        titles.append(discovered.title)
    feed = replace(feed, polled_at=_now(store), problem="")
    if all(_item_id(feed.id, item) in feed.seen for item in items):
        feed = replace(
            feed,
            etag=headers.get("etag", feed.etag),
            modified=headers.get("last-modified", feed.modified),
        )
    _write(store, feed)
    return titles


def waiting(store: Store) -> Iterator[datetime]:
    """Yields since when each feed waits to be polled.

    A feed with a damaged file is left out, because its poll reports it.
    """
    for id in feed_ids(store):
        with suppress(errors.StoreError):
            feed = feeds_of(store).find(id)
            if feed and _due_at(feed) < store.settings.clock():
                yield _due_at(feed)


def _due_at(feed: Feed) -> datetime:
    return datetime.fromisoformat(feed.polled_at) + POLLED_EVERY


def _fetch(feed: Feed) -> tuple[list[dict[str, Any]], Mapping[str, str]]:
    """Returns the items of the feed, none if it is unchanged, and the headers of the answer."""
    conditions = {"If-None-Match": feed.etag, "If-Modified-Since": feed.modified}
    headers = {name: value for name, value in conditions.items() if value}
    fetched = fetch(feed.url, kinds=FEEDS, allow_private=feed.allow_private, headers=headers)
    answer_headers = {name.lower(): value for name, value in fetched.headers.items()}
    if fetched.is_unchanged:
        return [], answer_headers
    return read_fetched(fetched.content, feed.url, "feed")["items"], answer_headers


def _source(feed: Feed, item: Mapping[str, Any]) -> Source:
    """Returns the item as a source; without an address of its own it gets one below the feed's."""
    is_address = item["link"].startswith(("http://", "https://"))
    url = item["link"] if is_address else f"{feed.url}#{_item_id(feed.id, item)[:8]}"
    text = item["summary"] or item["title"]
    return Source("page", url, item["title"], "", [text], item["tags"], feed.id)


def _write(store: Store, feed: Feed) -> None:
    """Writes the feed, unless another process removed it meanwhile."""
    feeds = feeds_of(store)
    with store.lock():
        if feeds.find(feed.id):
            feeds.write(feed)


def _item_id(feed_id: str, item: Mapping[str, Any]) -> str:
    return hashlib.sha256(f"{feed_id}/{item['id']}".encode("utf-8", "replace")).hexdigest()[:24]


def _now(store: Store) -> str:
    return store.settings.clock().isoformat(timespec="seconds")


def _row(feed: Feed) -> FeedRow:
    common = [name for name in FeedRow.__dataclass_fields__ if name != "item_count"]
    item_count = sum(document != "" for document, _ in feed.seen.values())
    return FeedRow(**{name: getattr(feed, name) for name in common}, item_count=item_count)
