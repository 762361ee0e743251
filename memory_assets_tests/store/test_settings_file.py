"""Settings are written into memory.toml: the value that is named changes, everything else stays as it is."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.errors import SettingsError
from memory_assets.store.settings import read_settings
from memory_assets.store.settings_file import line_of, settings_path, with_settings, write_settings
from memory_assets_tests.settings_files import data_settings, user_settings

FILE = '# mine\nowner = "mira"  # me\nleast_useful = 0.7 # usual\n\n[sections]\noperations = "Runbook"\nleast_useful = "no"\n'


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_value_that_is_there_is_replaced_and_everything_else_stays(end: str):
    before = FILE.replace("\n", end)
    assert with_settings(before, {"least_useful": 0.6}) == before.replace(
        "least_useful = 0.7", "least_useful = 0.6"
    )


def test_one_that_is_not_there_stands_above_the_tables():
    changed = with_settings(FILE, {"model": "claude-haiku-4-5"})
    assert tomllib.loads(changed) == {**tomllib.loads(FILE), "model": "claude-haiku-4-5"}
    assert set(FILE.splitlines()) < set(changed.splitlines())


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
        st.one_of(st.text(max_size=20), st.floats(0, 1)),
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


def test_a_file_in_the_working_folder_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memory.toml").write_text(FILE)
    assert write_settings({"least_useful": 0.6}) == tmp_path / "store" / "memory.toml"
    assert (tmp_path / "memory.toml").read_text() == FILE


def test_a_link_stays_a_link(tmp_path: Path):
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("least_useful = 0.8\n")
    user = user_settings("")
    user.unlink()
    user.symlink_to(kept)
    assert write_settings({"least_useful": 0.6}) == user
    assert (user.is_symlink(), kept.read_text()) == (True, "least_useful = 0.6\n")


@pytest.mark.parametrize("write", [user_settings, data_settings])
def test_a_file_that_is_no_toml_is_named_and_left_alone(write):
    file = write("least_useful = \n")
    with pytest.raises(SettingsError, match=str(file)):
        write_settings({"least_useful": 0.6})
    assert file.read_text() == "least_useful = \n"


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("port", 3000, "port = 3000"),
        ("gold", None, 'gold = ""'),
        ("aliases", {}, "aliases = {}"),
        ("ttl_days", {"projects": 30, "operations": 90}, "ttl_days.projects = 30"),
        (
            "model_prices",
            {"my model": {"input": 1.0, "output": 2.0}},
            'model_prices."my model" = {input = 1.0, output = 2.0}',
        ),
    ],
)
def test_the_line_of_a_setting_is_read_back_as_its_value(name: str, value: object, line: str):
    assert line_of(name, value) == line
    first = dict([next(iter(value.items()))]) if isinstance(value, dict) and value else value
    assert tomllib.loads(line)[name] == ("" if first is None else first)
