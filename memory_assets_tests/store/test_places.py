"""Where things lie: the settings and the quick way find the same folder; the main store goes before the sample's."""

import os
import sys
from pathlib import Path

import platformdirs
import pytest

from memory_assets.store import places
from memory_assets.store.settings import read_settings


def test_installed_state_lies_where_the_platform_keeps_application_data():
    found = Path(places.application_data(sys.platform, os.environ, Path.home()), "memory_assets")
    assert found == platformdirs.user_data_path("memory_assets", appauthor=False)


def test_each_platform_has_its_own_place():
    home = Path("/home/mira")
    assert places.application_data("linux", {}, home) == str(home / ".local" / "share")
    assert places.application_data("linux", {"XDG_DATA_HOME": "/data"}, home) == "/data"
    assert places.application_data("darwin", {}, home) == str(home / "Library" / "Application Support")
    assert places.application_data("win32", {"LOCALAPPDATA": "C:/Users/mira/Local"}, home) == "C:/Users/mira/Local"


@pytest.mark.parametrize("named", ["environment", "file in the working folder", "nowhere"])
def test_the_quick_way_and_the_settings_find_the_same_folder(named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(places, "CHECKOUT", tmp_path / "nowhere")
    if named != "environment":
        monkeypatch.delenv("MEMORY_DATA")
    if named == "file in the working folder":
        (tmp_path / "memory.toml").write_text('data = "here"\n')
    assert places.data_folder() == read_settings().data


def test_an_empty_variable_is_no_setting(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_DATA", "")
    assert places.data_folder() == read_settings().data == places.default_data()


def test_a_broken_settings_file_does_not_stop_a_session_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMORY_DATA")
    (tmp_path / "memory.toml").write_text("data = \n")
    assert places.data_folder() == places.default_data()


def test_the_sample_is_the_present_store_until_there_is_a_main_one(tmp_path: Path):
    assert places.store_root(tmp_path) == tmp_path
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "VERSION").write_text("1\n")
    assert places.store_root(tmp_path) == tmp_path / "sample"
    (tmp_path / "VERSION").write_text("1\n")
    assert places.store_root(tmp_path) == tmp_path
