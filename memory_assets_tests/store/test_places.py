"""Where things lie: the settings and the quick way find the same folder; the main store goes before the sample's."""

from pathlib import Path

import pytest

from memory_assets.store import places
from memory_assets.store.settings import read_settings
from memory_assets_tests.settings_files import user_settings


def test_each_platform_has_its_own_place_for_settings():
    home = Path("/home/mira")
    assert places.application_folder("settings", "linux", {}, home) == str(home / ".config")
    assert (
        places.application_folder("settings", "linux", {"XDG_CONFIG_HOME": "/settings"}, home)
        == "/settings"
    )
    assert places.application_folder("settings", "darwin", {}, home) == str(
        home / "Library" / "Application Support"
    )
    assert (
        places.application_folder("settings", "win32", {"APPDATA": "C:/Users/mira/Roaming"}, home)
        == "C:/Users/mira/Roaming"
    )


@pytest.mark.parametrize("kind", ["data", "settings"])
def test_a_folder_that_the_environment_names_from_the_working_one_is_ignored(kind: str):
    relative = {"XDG_DATA_HOME": "here", "XDG_CONFIG_HOME": "here"}
    folder = places.application_folder
    assert folder(kind, "linux", relative, "/home/mira") == folder(kind, "linux", {}, "/home/mira")


def test_where_nobody_knows_the_home_nothing_is_looked_for_below_the_working_folder(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(places.os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(places, "CHECKOUT", "/nowhere")
    monkeypatch.delenv("MEMORY_DATA")
    assert [
        Path(file).is_absolute() for file in (places.user_settings_file(), places.default_data())
    ] == [True, True]


@pytest.mark.parametrize(
    "named", ["environment", "the user's file", "from the user's file on", "nowhere"]
)
def test_the_quick_way_and_the_settings_find_the_same_folder(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(places, "CHECKOUT", tmp_path / "nowhere")
    if named != "environment":
        monkeypatch.delenv("MEMORY_DATA")
    if named.endswith("user's file"):
        user_settings(f'data = "{tmp_path}/here"\n')
    if named == "from the user's file on":
        user_settings('data = "here"\n')
    assert Path(places.find_data()) == read_settings().data
    assert Path(places.find_data()).is_absolute()


@pytest.mark.parametrize("text", ["data = \n", "data = 3\n", 'data = ""\n'])
def test_a_broken_settings_file_does_not_stop_a_session_start(
    text: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MEMORY_DATA")
    user_settings(text)
    assert places.find_data() == places.default_data()


def test_the_sample_is_the_present_store_until_there_is_a_main_one(tmp_path: Path):
    assert places.present_root(str(tmp_path)) == str(tmp_path)
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "VERSION").write_text("1\n")
    assert places.present_root(str(tmp_path)) == str(tmp_path / "sample")
    (tmp_path / "VERSION").write_text("1\n")
    assert places.present_root(str(tmp_path)) == str(tmp_path)
