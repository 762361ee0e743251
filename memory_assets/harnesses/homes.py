"""Finds the folders in which the harnesses keep their settings and transcripts."""

import os
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from memory_assets.harnesses.harness_list import HARNESSES, READ
from memory_assets.harnesses.not_read import NOT_READ
from memory_assets.schema.vocabulary import Harness


def harness_homes(home: Path, environ: Mapping[str, str] = os.environ) -> dict[Harness, Path]:
    """Returns the folder of each harness's settings and memories, whether or not it exists."""
    return {harness.name: harness.settings.find(home, environ) for harness in READ}


def instruction_files(home: Path) -> dict[Harness, Path]:
    """Returns the file of a person's instructions that each harness reads, if it reads one."""
    folders = harness_homes(home)
    return {
        name: folders[name] / HARNESSES[name].instructions
        for name in folders
        if HARNESSES[name].instructions
    }


def transcript_places(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns where the harnesses keep transcripts, whether or not the places exist."""
    locations = chain.from_iterable(harness.transcripts for harness in READ)
    return [location.find(home, environ) for location in locations]


def usual_places(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns the existing folders and databases in which the harnesses keep transcripts."""
    return [place for place in transcript_places(home, environ) if place.exists()]


def unread_places(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns the usual places of transcripts that cannot be read yet; some may not exist."""
    locations = chain.from_iterable(harness.transcripts for harness in NOT_READ)
    return [location.find(home, environ) for location in locations]


def home_variables() -> list[str]:
    """Returns the names of the variables that say where harnesses keep their files."""
    locations = chain.from_iterable((harness.settings, *harness.transcripts) for harness in READ)
    return sorted(set(chain.from_iterable(location.variables() for location in locations)))
