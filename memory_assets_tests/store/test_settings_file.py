"""Settings are written into memory.toml as text: what is there stays, what is named changes."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.errors import SettingsError
from memory_assets.store.settings import read_settings
from memory_assets.store.settings_file import settings_path, with_settings, write_settings

FILE = '# mine\nowner = "mira"  # me\nleast_useful = 0.7 # usual\n\n[sections]\noperations = "Runbook"\nleast_useful = "no"\n'


def test_a_line_that_is_there_is_replaced_and_everything_else_stays():
    assert with_settings(FILE, {"least_useful": 0.6}) == FILE.replace("least_useful = 0.7 # usual", "least_useful = 0.6")


def test_one_that_is_not_there_stands_above_the_tables():
    changed = with_settings(FILE, {"model": "claude-haiku-4-5"})
    assert tomllib.loads(changed) == {**tomllib.loads(FILE), "model": "claude-haiku-4-5"}
    assert set(FILE.splitlines()) < set(changed.splitlines())


@given(
    st.dictionaries(st.sampled_from(["model", "least_useful", "taxonomy"]), st.one_of(st.text(max_size=20), st.floats(0, 1)))
)
def test_what_is_written_is_read_back(changes: dict[str, str | float]):
    clean = {name: value for name, value in changes.items() if not isinstance(value, str) or value.isprintable()}
    assert tomllib.loads(with_settings(FILE, clean)) == {**tomllib.loads(FILE), **clean}


def test_without_a_file_one_is_made_in_the_data_folder_and_the_settings_are_those(tmp_path: Path):
    path = write_settings({"least_useful": 0.6, "facts_per_session": 9})
    assert path == tmp_path / "store" / "memory.toml" == settings_path()
    settings = read_settings()
    assert (settings.least_useful, settings.facts_per_session) == (0.6, 9)


def test_a_file_that_cannot_be_changed_without_harm_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    before = 'owner = """\nleast_useful = 0.7\n"""\n'
    (tmp_path / "memory.toml").write_text(before)
    with pytest.raises(SettingsError, match="Write them there yourself:\nleast_useful = 0.6"):
        write_settings({"least_useful": 0.6})
    assert (tmp_path / "memory.toml").read_text() == before
