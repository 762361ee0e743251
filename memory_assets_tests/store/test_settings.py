"""Settings: defaults, then memory.toml, then the environment; a wrong one is named with where it came from."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_assets.errors import SettingsError
from memory_assets.store.settings import read_settings


def test_the_environment_overrides_the_file_and_the_file_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memory.toml").write_text('owner = "mira"\nidle_minutes = 30\n')
    monkeypatch.setenv("MEMORY_OWNER", "priya")
    settings = read_settings()
    assert (settings.owner, settings.idle_minutes, settings.short_turns) == ("priya", 30, 5)


def test_the_file_in_the_data_folder_applies_where_the_working_folder_has_none(tmp_path: Path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "memory.toml").write_text("port = 4000\n")
    assert read_settings().port == 4000


def test_a_wrong_zone_is_named_with_a_right_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_TIMEZONE", "Atlantis")
    with pytest.raises(SettingsError, match=r"MEMORY_TIMEZONE.*'Atlantis' is no time zone; use a name such as Europe/Berlin"):
        read_settings()


@pytest.mark.parametrize(("name", "value"), [("MEMORY_IDLE_MINUTES", "soon"), ("MEMORY_PORT", "0"), ("MEMORY_NOW", "noon")])
def test_a_wrong_value_is_named_with_its_variable(name: str, value: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"{name}.*got '{value}'"):
        read_settings()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("MEMORY_MODEL", "claude haiku", "holds no blanks"),
        ("MEMORY_MODEL", "None", "say 'rules' to ask no model"),
        ("MEMORY_MODEL", "off", "say 'rules' to ask no model"),
        ("MEMORY_MODEL_URL", "gateway.example", "write it as http"),
        ("MEMORY_MODEL_URL", "ftp://gateway.example", "write it as http"),
        ("MEMORY_MODEL_URL", "https://", "write it as http"),
        ("MEMORY_MODEL_URL", "http://gateway.example?key=1", "write it as http"),
        ("MEMORY_MODEL_BATCHES", "sometimes", "'auto', 'always' or 'never'"),
        ("MEMORY_MODEL_AT_ONCE", "0", "greater than or equal to 1"),
        ("MEMORY_MODEL_TIMEOUT_SECONDS", "inf", "less than or equal to 3600"),
        ("MEMORY_MODEL_PRICES", '{"m": {"input": 1}}', "give input and output of"),
        ("MEMORY_MODEL_PRICES", '{"m": {"input": -1, "output": 1}}', "greater than or equal to 0"),
        ("MEMORY_MODEL_PRICES", '{"m": {"in": 1, "output": 1}}', "'input', 'output', 'cache_write' or 'cache_read'"),
    ],
)
def test_a_wrong_word_about_the_model_is_told_with_a_right_one(
    name: str, value: str, says: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name) as caught:
        read_settings()
    assert says in str(caught.value)


def test_rules_are_rules_however_they_are_written():
    assert read_settings(model="Rules").model == "rules"


def test_an_address_is_kept_without_its_last_slash():
    assert read_settings(model_url="http://127.0.0.1:8080/").model_url == "http://127.0.0.1:8080"


def test_a_setting_that_does_not_exist_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memory.toml").write_text('ownr = "mira"\n')
    with pytest.raises(SettingsError, match=r"memory\.toml.*\n.*ownr"):
        read_settings()


def test_a_file_that_is_no_toml_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memory.toml").write_text("owner = \n")
    with pytest.raises(SettingsError, match=r"Cannot read the settings from .*memory\.toml"):
        read_settings()


def test_a_map_that_is_no_json_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_PEOPLE", "mira=Mira")
    with pytest.raises(SettingsError, match="people"):
        read_settings()


def test_a_fixed_clock_without_zone_is_local_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_NOW", "2026-09-01T12:00:00")
    monkeypatch.setenv("MEMORY_TIMEZONE", "Europe/Berlin")
    assert read_settings().clock() == datetime(2026, 9, 1, 10, 0, tzinfo=UTC)


def test_several_source_folders_are_separated_as_path_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_SOURCES", "/a:/b: ")
    assert read_settings().source_folders() == [Path("/a"), Path("/b")]


def test_a_section_that_is_renamed_leaves_the_others_as_they_are(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_SECTIONS", '{"operations": "Runbook"}')
    sections = read_settings().sections
    assert (sections["operations"], sections["rules-conventions"]) == ("Runbook", "Hard Rules")
