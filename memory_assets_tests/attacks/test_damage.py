"""Whatever file is damaged: every command answers from what is whole, says so in a line, and the next run rebuilds it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_assets.memory import MemoryAgent, announcements
from memory_assets.services import corpus
from memory_assets.store.settings import read_settings
from memory_assets_tests.attacks.broken_stores import DERIVED, Damage
from memory_assets_tests.conftest import NOW
from memory_assets_tests.once import SEED, built_once, sampled
from memory_assets_tests.story import all_tables, assert_same_tables, lay_out_sample, open_at, run

QUESTION = "how do we install packages"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sources and the store of some sessions, for copying."""

    def build(folder: Path) -> None:
        run("ingest", folder / "store", lay_out_sample(folder / "sources", "/pi/"))

    return built_once(tmp_path_factory, "store-to-damage", build)


@contextmanager
def damaged(whole: Path, root: Path, damage: Damage) -> Iterator[MemoryAgent]:
    """An agent on a damaged copy of the store, as a process of its own would open it."""
    shutil.copytree(whole / "store", root / "store", symlinks=True)
    damage(root / "store")
    for opened in (corpus._chroma_index, corpus._text_index):
        opened.cache_clear()
    announcements()
    sources = str(whole / "sources")
    yield MemoryAgent(read_settings(data=root / "store", sources=sources, owner="mira", timezone="UTC", now=NOW))
    shutil.rmtree(root / "store")


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(list(DERIVED), 10))
def test_every_command_answers_and_the_next_run_rebuilds_what_was_damaged(whole: Path, tmp_path: Path, name: str):
    with damaged(whole, tmp_path, DERIVED[name]) as agent:
        data, sources = tmp_path / "store", whole / "sources"
        agent.recall(QUESTION, probe=True)
        agent.status()
        agent.health()
        agent.health(is_deep=True)
        run("ingest", data, sources)
        expected, found = all_tables(open_at(whole / "store", sources)), all_tables(open_at(data, sources))
        assert_same_tables(found, expected)
        for file in ("briefing.md", "MEMORY.md"):
            assert (data / "workspace" / file).read_bytes() == (whole / "store" / "workspace" / file).read_bytes()
        assert MemoryAgent(agent.settings).recall(QUESTION, probe=True).notes == ()
        failed = [(check.name, check.found) for check in MemoryAgent(agent.settings).health(is_deep=True).broken]
        assert failed == [], f"TEST_SEED={SEED}"
