"""Which store is meant: the main one, or, where a machine has no transcripts, the sample's own.

Readers take the store that is there. Writers take the main one as soon as it exists or there is something to take in; only
then would the sample be in the way.
"""

import json
import os
from dataclasses import dataclass

from memory_assets.store.places import SAMPLE, store_root
from memory_assets.store.settings import Settings, read_settings

SAMPLE_OWNER = "Mira"
SAMPLE_HOME = "mira"
"""The developer of the sample and the name of her home folder: in its store she is the owner."""


def present_settings() -> Settings:
    """Returns the settings of the store that is there; raises `SettingsError` for settings that cannot be used."""
    settings = read_settings()
    return settings if store_root(settings.data) == settings.data else sample_settings(settings)


def sample_settings(settings: Settings) -> Settings:
    """Returns the settings with which the sample's own store is made and read."""
    data = settings.data / SAMPLE
    sources = str(data / "transcripts")
    people = {**settings.people, SAMPLE_HOME: SAMPLE_OWNER}
    return settings.model_copy(update={"data": data, "sources": sources, "owner": SAMPLE_OWNER, "people": people})


def is_sample(settings: Settings) -> bool:
    """Returns whether these are the settings of a sample's store."""
    return settings.data.name == SAMPLE and settings.sources == str(settings.data / "transcripts")


def environment_of(settings: Settings) -> dict[str, str]:
    """Returns the variables that give another process the same store."""
    return {
        "MEMORY_DATA": str(settings.data),
        "MEMORY_SOURCES": settings.sources,
        "MEMORY_OWNER": settings.owner,
        "MEMORY_PEOPLE": json.dumps(settings.people),
        "MEMORY_TIMEZONE": settings.timezone,
        "MEMORY_GOLD": str(settings.gold or ""),
    }


@dataclass(frozen=True)
class Filling:
    """The store to fill, and why that one."""

    settings: Settings
    reason: str


def store_to_fill(settings: Settings) -> Filling:
    """Returns the main store where it exists or has transcripts to take in, else the sample's."""
    from memory_assets.services.sources import find_sources, places

    if settings.source_folders():
        named = settings.source_folders()
        return Filling(settings, "Transcripts from " + os.pathsep.join(map(str, named)))
    if (settings.data / "VERSION").is_file() or find_sources(settings):
        return Filling(settings, "This machine's own transcripts, from " + ", ".join(map(str, places())))
    return Filling(sample_settings(settings), "No transcripts on this machine yet: the bundled sample, in a store of its own")
