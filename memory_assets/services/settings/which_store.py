"""Tells the main store from that of the bundled sample, and finds the one to read: the main store
if it exists, else the sample's.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory_assets.store.places import SAMPLE, present_root

if TYPE_CHECKING:
    from memory_assets.store.settings import Settings

SAMPLE_OWNER = "Mira"
SAMPLE_HOME = "mira"
"""The sample's developer and the name of her home folder: she owns its store."""


def present_settings() -> "Settings":
    """Returns the settings of the store that exists; raises `SettingsError` for invalid
    settings.
    """
    from memory_assets.store.settings import read_settings

    settings = read_settings()
    is_main = bool(settings.shared_at) or present_root(str(settings.data)) == str(settings.data)
    return settings if is_main else sample_settings(settings)


def sample_settings(settings: "Settings") -> "Settings":
    """Returns the settings of the sample's own store, which keeps the zone it was built in."""
    from memory_assets.store.settings import stored_zone

    data = settings.data / SAMPLE
    sources = str(data / "transcripts")
    people = {**settings.people, SAMPLE_HOME: SAMPLE_OWNER}
    changes = {"data": data, "sources": sources, "owner": SAMPLE_OWNER, "people": people}
    with suppress(OSError):  # told where the store is opened
        changes["timezone"] = stored_zone(data) or settings.timezone
    return settings.of_folder().model_copy(update=changes)


def read_again(settings: "Settings") -> "Settings":
    """Reads the settings of the same store again; raises `SettingsError` for invalid ones."""
    from memory_assets.store.settings import read_settings

    fresh = read_settings()
    return sample_settings(fresh) if is_sample(settings) else fresh


def is_sample(settings: "Settings") -> bool:
    """Returns whether these are the settings of the sample's store."""
    return settings.data.name == SAMPLE and settings.sources == str(settings.data / "transcripts")


def environment_of(settings: "Settings") -> dict[str, str]:
    """Returns the environment variables that select the same store in another process."""
    return {
        "MEMORY_DATA": str(settings.data),
        "MEMORY_SOURCES": settings.sources,
        "MEMORY_OWNER": settings.owner,
        "MEMORY_PEOPLE": json.dumps(settings.people),
        "MEMORY_TIMEZONE": settings.timezone,
        "MEMORY_GOLD": str(settings.gold or ""),
    }


@dataclass(frozen=True)
class StoreChoice:
    """The store to fill, and why this one."""

    settings: "Settings"
    reason: str
