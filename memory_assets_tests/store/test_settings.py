"""Settings: defaults, the data folder's memory.toml, the user's, the environment; a wrong one is named with where it came from."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_assets.errors import SettingsError
from memory_assets.store import places
from memory_assets.store.settings import read_settings
from memory_assets_tests.settings_files import data_settings, user_settings


def test_the_environment_overrides_the_users_file_that_the_data_folders_and_that_the_default(
    monkeypatch: pytest.MonkeyPatch,
):
    data_settings('owner = "ann"\nidle_minutes = 20\nport = 4000\n')
    user_settings('owner = "mira"\nidle_minutes = 30\n')
    monkeypatch.setenv("MEMORY_OWNER", "priya")
    settings = read_settings()
    assert (settings.owner, settings.idle_minutes, settings.port, settings.short_turns) == (
        "priya",
        30,
        4000,
        5,
    )


def test_a_relative_path_in_a_file_starts_at_the_files_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MEMORY_DATA")
    folder = user_settings(
        f'data = "mine"\ngold = "~/labels"\ntaxonomy = "words.toml"\nembedding_model = "small"\nsources = "a{os.pathsep}/b"\n'
    ).parent
    monkeypatch.chdir(tmp_path)
    settings = read_settings()
    assert (settings.data, settings.taxonomy) == (folder / "mine", folder / "words.toml")
    assert settings.gold == Path.home() / "labels"
    assert settings.embedding_model == str(folder / "small")
    assert settings.source_folders() == [folder / "a", Path("/b")]


def test_the_data_folders_own_file_cannot_name_another(tmp_path: Path):
    file = data_settings('data = "/elsewhere"\n')
    with pytest.raises(SettingsError, match=r"Cannot use `data` in .*store.memory\.toml") as caught:
        read_settings()
    assert f"set `data` in {places.user_settings_file()}, or MEMORY_DATA" in str(caught.value)
    file.write_text(f"data = {json.dumps(str(tmp_path / 'store'))}\n")
    assert read_settings().data == tmp_path / "store"


def test_a_wrong_zone_is_named_with_a_right_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_TIMEZONE", "Atlantis")
    with pytest.raises(
        SettingsError,
        match="MEMORY_TIMEZONE.*'Atlantis' is not a time zone; use a name such as Europe/Berlin",
    ):
        read_settings()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("MEMORY_MODEL", "claude haiku", "contains no blanks"),
        ("MEMORY_MODEL", "None", "use 'rules' for no model"),
        ("MEMORY_MODEL", "off", "use 'rules' for no model"),
        ("MEMORY_MODEL", "claude-code:", "give a model after the colon"),
        ("MEMORY_REFLECTOR_MODEL", "off", "use 'rules' for no model"),
        ("MEMORY_MODEL_PROJECTS", "[shop", "this is not a list"),
        ("MEMORY_MODEL_URL", "gateway.example", "use the form http"),
        ("MEMORY_MODEL_URL", "ftp://gateway.example", "use the form http"),
        ("MEMORY_MODEL_URL", "https://", "use the form http"),
        ("MEMORY_MODEL_URL", "http://gateway.example?key=1", "use the form http"),
        ("MEMORY_MODEL_BATCHES", "sometimes", "'auto', 'always' or 'never'"),
        ("MEMORY_MODEL_AT_ONCE", "0", "greater than or equal to 1"),
        ("MEMORY_MODEL_TIMEOUT_SECONDS", "inf", "less than or equal to 3600"),
        ("MEMORY_MODEL_PRICES", '{"m": {"input": 1}}', "give input and output of"),
        ("MEMORY_MODEL_PRICES", '{"m": {"input": -1, "output": 1}}', "greater than or equal to 0"),
        (
            "MEMORY_MODEL_PRICES",
            '{"m": {"in": 1, "output": 1}}',
            "'input', 'output', 'cache_write' or 'cache_read'",
        ),
    ],
)
def test_a_wrong_word_about_a_model_is_told_with_a_right_one(
    name: str, value: str, says: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name) as caught:
        read_settings()
    assert says in str(caught.value)


def test_a_setting_that_does_not_exist_is_refused():
    user_settings('ownr = "mira"\n')
    with pytest.raises(SettingsError, match=r"memory\.toml.*\n.*ownr"):
        read_settings()
    user_settings("friction_observations = 50\n")
    with pytest.raises(SettingsError, match=r"friction_observations.* is now `friction_sessions`"):
        read_settings()


@pytest.mark.parametrize("write", [user_settings, data_settings])
def test_a_file_that_is_no_toml_is_named(write: Callable[[str], Path]):
    file = write("owner = \n")
    with pytest.raises(
        SettingsError, match=f"Cannot read the settings from {re.escape(str(file))}: "
    ):
        read_settings()


def test_a_map_that_is_no_json_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_PEOPLE", "mira=Mira")
    with pytest.raises(SettingsError, match="people"):
        read_settings()


@pytest.mark.parametrize(
    ("model", "reflector", "names"),
    [
        ("claude-haiku-4-5", "", ("claude-haiku-4-5", "claude-haiku-4-5")),
        ("claude-haiku-4-5", "claude-sonnet-5", ("claude-haiku-4-5", "claude-sonnet-5")),
        ("claude-code", "", ("claude-code:haiku", "claude-code:sonnet")),
        ("claude-code:opus", "", ("claude-code:opus", "claude-code:opus")),
        ("codex", "claude-code", ("codex", "claude-code:sonnet")),
        ("qwen3:30b", "rules", ("qwen3:30b", "rules")),
        ("rules", "", ("rules", "rules")),
    ],
)
def test_each_role_has_its_model(model: str, reflector: str, names: tuple[str, str]):
    settings = read_settings(model=model, reflector_model=reflector)
    assert (settings.model_of("observer"), settings.model_of("reflector")) == names
    assert settings.uses_models == (set(names) != {"rules"})


@pytest.mark.parametrize(
    ("written", "allowed"),
    [
        ("shop, docs", ["shop", "docs", ""]),
        ('["shop"]', ["shop", ""]),
        ("*", ["shop", "docs", "other", ""]),
        ("[]", [""]),
    ],
)
def test_models_may_be_sent_the_projects_that_are_named(
    written: str, allowed: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_MODEL_PROJECTS", written)
    settings = read_settings()
    assert [
        project for project in ("shop", "docs", "other", "") if settings.may_send(project)
    ] == allowed
