"""`memory config`: the settings at 80 columns, one of them with how to change it, and the user's file changed."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_assets.adapters import local_embedder
from memory_assets.store.places import user_settings_file
from memory_assets_tests.settings_files import user_settings

Run = Callable[..., tuple[int, str, str]]


def written() -> dict[str, object]:
    return tomllib.loads(Path(user_settings_file()).read_text())


def test_every_setting_is_one_line_of_at_most_80_columns(
    on_screen: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(
        "MEMORY_MODEL_PRICES",
        json.dumps({f"model-{n}": {"input": 1, "output": 2} for n in range(9)}),
    )
    code, out, _ = on_screen("config")
    lines = out.splitlines()
    settings = lines[1 : [line.strip() for line in lines].index("")]
    assert (code, len(settings), max(map(len, lines))) == (0, len(json_settings(on_screen)), 80)
    assert any(line.split() == ["ttl_days", "9", "entries", "default"] for line in settings)
    assert any(
        line.startswith("data ") and line.rstrip().endswith("environment") for line in settings
    )


def json_settings(run: Run) -> list[dict[str, object]]:
    return json.loads(run("config", "--json")[1])["data"]["settings"]


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("least_useful", "0.6", {"least_useful": 0.6}),
        ("rerank", "no", {"rerank": False}),
        ("owner", "7", {"owner": "7"}),
        ("recall_factors", "decay,used", {"recall_factors": ["decay", "used"]}),
        ("recall_factors", '["decay"]', {"recall_factors": ["decay"]}),
        ("model_projects", "shop, bakery", {"model_projects": ["shop", "bakery"]}),
        ("ttl_days.projects", "30", {"ttl_days": {"projects": 30}}),
        ("sections.operations", "Runbook", {"sections": {"operations": "Runbook"}}),
        ("aliases", '{harbor = ["hb"]}', {"aliases": {"harbor": ["hb"]}}),
        ("model", "rules", {"model": "rules"}),
    ],
)
def test_a_value_is_written_with_its_type(
    run: Run, name: str, value: str, found: dict[str, object]
):
    assert run("config", "set", name, value)[0] == 0
    assert written() == found
    assert Path(user_settings_file()).stat().st_mode & 0o777 == 0o600


def test_an_embedding_model_that_cannot_be_used_is_not_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    model = tmp_path / "model"
    model.mkdir()
    code, _, err = run("config", "set", "embedding_model", str(model))
    assert code == 1 and "There is no embedding model in" in err
    (model / "config.json").write_text("{}")
    with monkeypatch.context() as patch:
        patch.setattr(local_embedder, "ENGINE", "no_such_engine")
        code, _, err = run("config", "set", "embedding_model", str(model))
    assert code == 1 and "the extra `models`" in err
    assert not Path(user_settings_file()).exists()
    assert run("config", "set", "embedding_model", str(model))[0] == 0


def test_comments_and_other_entries_are_kept_and_unset_removes_one(run: Run):
    file = user_settings("# mine\nport = 4000  # busy\n[ttl_days]\nprojects = 30\n")
    code, out, _ = run("config", "set", "ttl_days.operations", "20")
    assert (code, out) == (0, f"ttl_days: operations = 90 → operations = 20\n   in {file}\n")
    assert (
        file.read_text()
        == "# mine\nport = 4000  # busy\n[ttl_days]\nprojects = 30\noperations = 20\n"
    )
    code, out, _ = run("config", "unset", "port")
    assert (code, out.splitlines()[0]) == (0, "port: 4000 → 3000")
    assert written() == {"ttl_days": {"projects": 30, "operations": 20}}
    code, out, _ = run("config", "unset", "ttl_days.operations")
    assert (code, out.splitlines()[0]) == (0, "ttl_days: operations = 20 → operations = 90")
    assert written() == {"ttl_days": {"projects": 30}}
    assert "does not set ttl_days.operations" in run("config", "unset", "ttl_days.operations")[2]
    assert run("config", "unset", "ttl_days.projects")[0] == 0
    assert written() == {}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("set", "port", "99999"),
            "port cannot be set to this: Input should be less than or equal to 65535",
        ),
        (("set", "ttl_days.cooking", "3"), "there is no category cooking"),
        (("set", "port.x", "3"), "port has no entries"),
        (("set", "colour", "red"), "There is no setting 'colour'"),
        (
            ("set", "model", "claude-haiku-4-5"),
            "A model is chosen with `memory model use claude-haiku-4-5`",
        ),
        (("unset", "port"), "does not set port"),
        (("unset", "port.x"), "does not set port.x"),
        (("unset", "colour.red"), "There is no setting 'colour'"),
        (("colour",), "There is no setting 'colour'"),
    ],
)
def test_what_cannot_be_set_is_an_error_and_nothing_is_written(
    run: Run, words: tuple[str, ...], says: str
):
    code, out, err = run("config", *words)
    assert (code, out, says in err) == (2, "", True), err
    assert not Path(user_settings_file()).exists()
