"""Settings are written into memory.toml: the value that is named changes, everything else stays as it is."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.errors import SettingsError
from memory_assets.store.settings import read_settings
from memory_assets.store.settings_file import settings_path, with_settings, write_settings
from memory_assets_tests.settings_files import data_settings, user_settings

FILE = '# mine\nowner = "mira"  # me\nleast_useful = 0.7 # usual\n\n[sections]\noperations = "Runbook"\nleast_useful = "no"\n'


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_value_that_is_there_is_replaced_and_everything_else_stays(end: str):
    before = FILE.replace("\n", end)
    assert with_settings(before, {"least_useful": 0.6}) == before.replace(
        "least_useful = 0.7", "least_useful = 0.6"
    )


@pytest.mark.parametrize(
    "before",
    [
        "",
        'owner = "mira"',
        "# only a comment",
        '[sections]\noperations = "Runbook"\n',
        'owner = """\nleast_useful = 0.7\n"""\n',
        '"least_useful" = 0.5\n\n[aliases]\nharbor = ["hb"]\n',
        'sections.operations = "Runbook"\n[aliases]\nharbor = ["hb"]\n',
    ],
)
def test_whatever_the_file_looks_like_its_other_settings_mean_the_same(before: str):
    changes = {"least_useful": 0.6, "model": "claude-haiku-4-5"}
    assert tomllib.loads(with_settings(before, changes)) == {**tomllib.loads(before), **changes}


@given(
    st.dictionaries(
        st.sampled_from(["model", "least_useful", "taxonomy"]),
        st.text(max_size=20) | st.floats(0, 1),
    )
)
def test_what_is_written_is_read_back(changes: dict[str, str | float]):
    assert tomllib.loads(with_settings(FILE, changes)) == {**tomllib.loads(FILE), **changes}


def test_without_a_file_one_is_made_in_the_data_folder_and_the_settings_are_those(tmp_path: Path):
    path = write_settings({"least_useful": 0.6, "facts_per_session": 9})
    assert path == tmp_path / "store" / "memory.toml" == settings_path()
    assert path.stat().st_mode & 0o777 == 0o600
    settings = read_settings()
    assert (settings.least_useful, settings.facts_per_session) == (0.6, 9)


def test_what_the_users_file_sets_is_changed_there_since_it_overrides_the_data_folders():
    user, data = (
        user_settings("least_useful = 0.8 # mine\n"),
        data_settings("facts_per_session = 12\n"),
    )
    assert write_settings({"facts_per_session": 9}) == data
    assert write_settings({"least_useful": 0.6}) == user
    assert (user.read_text(), data.read_text()) == (
        "least_useful = 0.6 # mine\n",
        "facts_per_session = 9\n",
    )
    assert write_settings({"least_useful": 0.5, "facts_per_session": 7}) == user
    settings = read_settings()
    assert (settings.least_useful, settings.facts_per_session) == (0.5, 7)


@pytest.mark.parametrize("write", [user_settings, data_settings])
def test_a_file_that_is_no_toml_is_named_and_left_alone(write):
    file = write("least_useful = \n")
    with pytest.raises(SettingsError, match=str(file)):
        write_settings({"least_useful": 0.6})
    assert file.read_text() == "least_useful = \n"
