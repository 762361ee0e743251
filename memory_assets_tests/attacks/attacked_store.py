"""Builds a small store with a branch and a pending proposal; each attack works on a copy."""

import os
import sys
from pathlib import Path

import pytest

from memory_assets.runs.build import fill
from memory_assets.schema.extra_folders import extra_names
from memory_assets.services.search import corpus
from memory_assets.services.settings.which_store import StoreChoice
from memory_assets.store.settings import Settings, read_settings
from memory_assets.store.store import open_store
from memory_assets.text.files import make_folder
from memory_assets_tests.conftest import NOW
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user
from memory_assets_tests.story import lay_out_sample

ORDER = "I prefer British dates over American ones in all our reports."
BRANCH = "mine"


def build(folder: Path) -> None:
    """Builds the store and its sources in the folder, out of reach of this machine's settings and transcripts."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [
            name
            for name in os.environ
            if name.startswith(("MEMORY_", "CLAUDE_", "CODEX_", "PI_", "XDG_"))
        ]:
            patch.delenv(name)
        patch.setenv("HOME", str(make_folder(folder / "home")))
        patch.setenv("MEMORY_DATA", str(folder / "store"))
        _build(folder)


def _build(folder: Path) -> None:
    sources = lay_out_sample(folder / "sources", "/pi/agent/sessions/--home-mira-code-notes-site--")
    said = [
        user("m", 0, ORDER, 0),
        assistant("m", 1, "Understood.", 0.5),
        *dialogue("m", 5, first=2, minutes=1),
    ]
    transcript(sources / "claude", "m").write_bytes(lines(*said))
    settings = settings_at(folder / "store", sources)
    ingest(settings)
    if "lab" in extra_names():
        from memory_assets.extras.lab import what_if

        what_if.make(open_store(settings), None, None, {"facts_per_session": "1"}, BRANCH)
        ingest(settings)  # the slog has a line about the branch


def settings_at(data: Path, sources: Path) -> Settings:
    """The settings of the store, with what an adopted branch wrote into the person's file."""
    return read_settings(data=data, sources=str(sources), owner="mira", timezone="UTC", now=NOW)


def ingest(settings: Settings) -> None:
    """Takes in whatever is new, after finishing an interrupted adoption, as `memory ingest` does."""
    fill(StoreChoice(settings, "new transcripts"))


def reopened(root: Path) -> Settings:
    """The settings of the store below the folder for another process: nothing is cached."""
    for opened in (corpus._vector_index, corpus._text_index):
        opened.cache_clear()
    corpus._present.clear()
    if "chromadb" in sys.modules:
        from chromadb.api.shared_system_client import SharedSystemClient

        SharedSystemClient.clear_system_cache()  # it keeps databases of the same path open
    return settings_at(root / "store", root / "sources")
