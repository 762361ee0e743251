"""The feeds that are watched: one file each, with the items that were seen, so that none comes
twice.

library/feeds/feed_0f3a5c1e9b2d.json
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from memory_assets.errors import StoreError
from memory_assets.store.documents import FOLDER
from memory_assets.text.files import write_json
from memory_assets.text.masking.records import mask_record


@dataclass(frozen=True)
class Feed:
    """A feed that is watched."""

    id: str
    url: str
    title: str
    tags: tuple[str, ...]
    added_at: str
    allow_private: bool = False
    """Whether it may be in a private network."""
    polled_at: str = ""
    problem: str = ""
    """Why the last poll failed; empty where it did not."""
    etag: str = ""
    modified: str = ""
    """What the server said of its version, to be asked for changes only."""
    seen: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Item → its document (empty: it was there before) and when it was first seen."""


class Feeds:
    """Writes, reads and removes the feeds of a store."""

    def __init__(self, root: Path) -> None:
        self.folder = root / FOLDER / "feeds"

    def write(self, feed: Feed) -> Feed:
        """Replaces the feed's file and returns the feed as written, its secrets masked."""
        record = mask_record(asdict(feed))
        write_json(self.folder / f"{feed.id}.json", record)
        return Feed(**record)

    def remove(self, feed_id: str) -> None:
        """Deletes the feed's file."""
        (self.folder / f"{feed_id}.json").unlink(missing_ok=True)

    def ids(self) -> list[str]:
        """Returns the ids of all feeds, sorted."""
        return sorted(path.stem for path in self.folder.glob("feed_*.json"))

    def all(self) -> list[Feed]:
        """Returns the feeds, by address; raises `StoreError` for a damaged file."""
        return sorted((one for id in self.ids() if (one := self.find(id))), key=lambda one: one.url)

    def find(self, feed_id: str) -> Feed | None:
        """Returns the feed; None where there is none. Raises `StoreError` for a damaged file."""
        path = self.folder / f"{feed_id}.json"
        try:
            found = json.loads(path.read_bytes())
            seen = {item: (doc, at) for item, (doc, at) in found["seen"].items()}
            return Feed(**{**found, "tags": tuple(found["tags"]), "seen": seen})
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreError(
                f"Cannot read {path}: it is damaged. Restore it from a backup, or delete it "
                "and add the feed again."
            ) from error
