"""Which store is filled: the main one where there is something to take in, the sample's on an empty machine."""

from pathlib import Path

import pytest

from memory_assets.services.settings.which_store import (
    environment_of,
    is_sample,
    present_settings,
    sample_settings,
)
from memory_assets.services.sources.transcripts import store_to_fill
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.stages.capture.sessions import dialogue, lines


def test_an_empty_machine_fills_the_sample_in_a_store_of_its_own():
    filling = store_to_fill(read_settings())
    assert is_sample(filling.settings)
    assert filling.settings.data == read_settings().data / "sample"
    assert filling.settings.owner == "Mira"
    assert not read_settings().data.exists()


def test_transcripts_of_this_machine_fill_the_main_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "home" / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    (folder / "0a000001-1111-4222-8333-444455556666.jsonl").write_bytes(lines(*dialogue("a", 1)))
    monkeypatch.setenv("MEMORY_SINCE_DAYS", "100000")
    monkeypatch.delenv("MEMORY_NOW")
    assert store_to_fill(read_settings()).settings == read_settings()


def test_folders_named_in_settings_fill_the_main_store_even_when_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_SOURCES", str(tmp_path))
    assert not is_sample(store_to_fill(read_settings()).settings)


def test_a_main_store_that_exists_is_never_left_for_the_sample():
    open_store(read_settings())
    assert not is_sample(store_to_fill(read_settings()).settings)


def test_readers_look_at_the_sample_until_there_is_a_main_store():
    open_store(sample_settings(read_settings()))
    assert is_sample(present_settings())
    open_store(read_settings())
    assert not is_sample(present_settings())


def test_another_process_given_the_variables_finds_the_same_store(monkeypatch: pytest.MonkeyPatch):
    sample = sample_settings(read_settings())
    for name, value in environment_of(sample).items():
        monkeypatch.setenv(name, value)
    assert read_settings() == sample
