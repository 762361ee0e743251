"""A store of every release opens in this one: nothing permanent is lost, and everything derived is rebuilt as it was."""

import json
import subprocess
from pathlib import Path

import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.services.transfer.backup import restore
from memory_assets.store.store import VERSION, Store
from memory_assets_tests.services.transfer.stores import settings_at
from memory_assets_tests.story import open_at, run

HERE = Path(__file__).parent
RELEASES = sorted(path.name.removesuffix(".tar.zst") for path in HERE.glob("*.tar.zst"))


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def facts(release: str) -> dict:
    """What held when the release wrote it; of observations and memories those that are no composed narrative."""
    return json.loads((HERE / f"{release}.json").read_text())


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "sources").mkdir()
    return tmp_path / "sources"


@pytest.fixture
def store(release: str, sources: Path, tmp_path: Path) -> Store:
    """The store, without the transcripts that it was made from."""
    placed = restore(HERE / f"{release}.tar.zst", settings_at(tmp_path / "golden"))
    return open_at(placed.root, sources)


def test_there_is_one_of_this_release_and_it_is_small():
    assert RELEASES
    assert all((HERE / f"{name}.tar.zst").stat().st_size < 200_000 for name in RELEASES)


def test_archive_ledger_and_workspace_are_read_whole(store: Store, facts: dict):
    assert (store.root / "VERSION").read_text().strip() == str(VERSION)
    assert len(store.ledger.events()) == facts["ledger_events"] and store.ledger.damaged() == []
    ranges = [entry.id for entries in store.archive.sources().values() for entry in entries]
    assert (
        len(ranges) == facts["ranges"]
        and all(map(store.archive.verify, ranges))
        and store.archive.damaged_lines() == []
    )
    assert store.memory_md() == facts["memory_md"]
    assert (
        subprocess.run(
            ["git", "-C", str(store.workspace), "fsck", "--strict"], check=False
        ).returncode
        == 0
    )


@pytest.mark.slow
def test_it_is_upgraded_rebuilt_and_queried(store: Store, facts: dict, sources: Path):
    run("ingest", store.root, sources)
    again = open_at(store.root, sources)
    assert {table: again.tables.read(table).height for table in facts["rows"]} == facts["rows"]
    assert again.memory_md() == facts["memory_md"]
    assert all((again.workspace / name).is_file() for name in facts["files"])
    found = MemoryAgent(again.settings).recall(facts["question"], probe=True)
    assert facts["recalled"] in [result.text for result in found.results]
