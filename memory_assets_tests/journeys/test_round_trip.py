"""A store with a repository's note and a fact that no run has read becomes the same store again for another user, in another zone."""

import json
from pathlib import Path

import pytest

from memory_assets.interfaces.entry import main
from memory_assets.memory import MemoryAgent
from memory_assets.services.settings.which_store import sample_settings
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.once import sampled
from memory_assets_tests.repository import commit
from memory_assets_tests.story import (
    ONE_SESSION,
    all_tables,
    assert_same_tables,
    lay_out_sample,
    open_at,
    run,
)

FACT = "The relief boat for Skerryvore leaves on Tuesdays."


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """The data folder and the transcripts of a store with a session, a note, and a fact of which no table knows."""
    data = tmp_path / "original"
    sources = lay_out_sample(tmp_path / "transcripts", ONE_SESSION)
    repository = tmp_path / "gulls"
    repository.mkdir()
    commit(repository, {"README.md": "# Gull counter\n\nCounts gulls in pictures of harbours.\n"})
    run("ingest", data, sources)
    run(f"library discover {repository}", data, sources)
    run("ingest", data, sources)
    MemoryAgent(open_at(data, sources).settings).remember(FACT)
    return data, sources


def as_zoe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str):
    """Runs the command as another user of a machine in Tokyo that names no store, and returns its data."""
    for name in ("MEMORY_OWNER", "MEMORY_TIMEZONE", "MEMORY_DATA", "MEMORY_SOURCES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOGNAME", "zoe")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    capsys.readouterr()
    code = main([*words, "--json"])
    printed = capsys.readouterr()
    assert code == 0, printed.err + printed.out
    return json.loads(printed.out)["data"]


WAYS = {
    "restore": ("data", "backup"),
    "import": ("data", "export", "--all"),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", sampled(["restore", "import"], 1))
def test_a_store_becomes_the_same_again_for_another_user_in_another_zone(
    way: str,
    places: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    data, sources = places
    copy, again = tmp_path / "copy", tmp_path / "again"
    run(f"{' '.join(WAYS[way])} {copy}", data, sources)
    as_zoe(monkeypatch, capsys, "data", way, str(copy), "--store", str(again))
    for question in (FACT, "gulls in pictures of harbours"):
        recalled = as_zoe(monkeypatch, capsys, "recall", question, "--store", str(again))
        assert recalled["results"], question
    settings = read_settings(data=again)
    assert (settings.owner, settings.timezone) == ("mira", "UTC")
    run("ingest", data, sources)
    assert_same_tables(without_recalls(open_store(settings)), without_recalls(open_at(*places)))


def without_recalls(store: Store):
    """Every table but those of questions, which were asked of one store only."""
    return {name: frame for name, frame in all_tables(store).items() if name != "recalls"}


def test_the_sample_keeps_the_zone_of_its_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sample = tmp_path / "store" / "sample"
    sample.mkdir(parents=True)
    (sample / "instance.json").write_text('{"timezone": "UTC"}')
    monkeypatch.setenv("MEMORY_TIMEZONE", "Asia/Tokyo")
    assert sample_settings(read_settings()).timezone == "UTC"
    assert sample_settings(read_settings()).zone.key == "UTC"
    (sample / "instance.json").write_text("{")
    assert sample_settings(read_settings()).timezone == "Asia/Tokyo"
    (sample / "instance.json").unlink()
    (sample / "instance.json").mkdir()
    assert sample_settings(read_settings()).timezone == "Asia/Tokyo"
