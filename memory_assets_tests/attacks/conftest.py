"""The store that attacks take copies of."""

from pathlib import Path

import pytest

from memory_assets_tests.attacks.attacked_store import build
from memory_assets_tests.once import built_once


@pytest.fixture(scope="session")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `sources` and the `store` that was built from them, for copying."""
    return built_once(tmp_path_factory, "attacked-store", build)
