"""What the tests of capture begin with: an empty store, and a folder for the transcripts that they write."""

from pathlib import Path

import pytest

from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store


@pytest.fixture
def store() -> Store:
    return open_store(read_settings())


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return tmp_path / "sources"
