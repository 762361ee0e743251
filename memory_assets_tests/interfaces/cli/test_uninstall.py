"""Uninstalling: hooks and service go in one command; the memory goes only after the words were typed, and nothing else does."""

import io
import json
from pathlib import Path

import pytest

from memory_assets.interfaces.cli import app as cli
from memory_assets.interfaces.cli.uninstall import CONFIRMATION
from memory_assets.schema.extra_folders import extra_names
from memory_assets.store.store import Store
from memory_assets_tests.services.transfer.stores import everything_below
from memory_assets_tests.small_store import small_store


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with hooks in a harness and, where that can be installed, a service at login."""
    store = small_store()
    (Path.home() / ".claude").mkdir()
    (Path.home() / ".claude" / "settings.json").write_text('{"theme": "dark"}\n')
    assert cli.main(["hooks", "install"]) == 0
    if "service" in extra_names():
        from memory_assets.extras.service import login_service

        monkeypatch.setattr(login_service, "run_command", lambda words: (0, ""))
        assert login_service.install(store.root).path.is_file()
    return store


def unit() -> list[Path]:
    return [
        path
        for path in Path.home().rglob("*")
        if path.name in ("memory-assets.service", "local.memory-assets.plist")
    ]


def test_hooks_and_service_go_and_the_memory_stays(
    store: Store, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["uninstall"]) == 0
    assert (Path.home() / ".claude" / "settings.json").read_text() == '{"theme": "dark"}\n'
    assert unit() == []
    assert (store.root / "VERSION").is_file() and store.tables.parts("memories")
    assert f"The memory stays in {store.root}" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["uninstall"]) == 0  # again: nothing to do, no error


@pytest.mark.parametrize("typed", ["", "yes\n", "ERASE\n"])
def test_without_the_words_nothing_at_all_is_removed(
    store: Store, monkeypatch: pytest.MonkeyPatch, typed: str
):
    before = everything_below(Path.home()), everything_below(store.root)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert cli.main(["uninstall", "--erase"]) == 2
    assert (everything_below(Path.home()), everything_below(store.root)) == before


def test_with_the_words_only_the_store_goes(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (store.root / "notes of mine.txt").write_text("mine")
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{CONFIRMATION}\n"))
    assert cli.main(["uninstall", "--erase", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["erased"]["left"] == ["notes of mine.txt"]
    assert everything_below(store.root) == ["notes of mine.txt"]


def test_an_empty_folder_goes_too(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{CONFIRMATION}\n"))
    assert cli.main(["uninstall", "--erase"]) == 0
    assert not store.root.exists()
