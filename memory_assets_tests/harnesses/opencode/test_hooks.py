"""OpenCode's settings: a plugin of ours, and the server of tools among comments that stay."""

import json
import re
from pathlib import Path

import pytest

from memory_assets.harnesses.hooks import harnesses
from memory_assets.harnesses.opencode.hooks import PLUGIN_FILE
from memory_assets.stages.deliver.install import carry_out, plan_install, plan_uninstall

FOLDER = Path(".config") / "opencode"
THEIRS = """{
  // the model that I like: "ours/ours-1"
  "model": "ours/ours-1", /* not // the small one */
  "mcp": {
    "docs": {"type": "remote", "url": "http://docs"} // mine
  }
}
"""


WITH_COMMAS = THEIRS.replace("// mine", ", // mine").replace('docs"}', 'docs",}')


def change(plan, home: Path, store: Path) -> dict[str, str]:
    """Carries the plan out; returns the state of each file of OpenCode."""
    ours = [one for one in harnesses(str(store), home, {}) if one.name == "opencode"]
    return {done.path.name: done.state for done in carry_out(plan(ours, store), store)}


@pytest.mark.parametrize("name", ["opencode.json", "opencode.jsonc"])
def test_comments_stay_and_every_byte_comes_back(tmp_path: Path, name: str):
    settings = tmp_path / FOLDER / name
    settings.parent.mkdir(parents=True)
    settings.write_text(THEIRS)
    store = tmp_path / "my store"
    assert change(plan_install, tmp_path, store) == {PLUGIN_FILE: "installed", name: "installed"}
    text = settings.read_text()
    assert [line in text for line in THEIRS.splitlines()[1:3]] == [True, True]
    servers = json.loads(re.sub(r"// (?:the|mine).*|/\*.*\*/", "", text))["mcp"]
    assert list(servers) == ["docs", "memory"]
    assert servers["memory"]["command"][-4:] == ["serve", "mcp", "--store", str(store)]
    assert (servers["memory"]["type"], servers["memory"]["enabled"]) == ("local", True)
    plugin = (settings.parent / "plugins" / PLUGIN_FILE).read_text()
    assert f"const STORE = {json.dumps(str(store))};" in plugin
    assert set(change(plan_install, tmp_path, store).values()) == {"already installed"}
    change(plan_uninstall, tmp_path, store)
    assert settings.read_text() == THEIRS
    assert [path.name for path in settings.parent.iterdir()] == [name]


def test_commas_behind_last_members_stay_in_a_file_that_may_have_them(tmp_path: Path):
    settings = tmp_path / FOLDER / "opencode.jsonc"
    settings.parent.mkdir(parents=True)
    settings.write_text(WITH_COMMAS)
    store = tmp_path / "store"
    assert change(plan_install, tmp_path, store)["opencode.jsonc"] == "installed"
    assert set(change(plan_install, tmp_path, store).values()) == {"already installed"}
    settings.write_text(settings.read_text() + "\n")
    change(plan_uninstall, tmp_path, store)
    assert settings.read_text() == WITH_COMMAS + "\n"
    settings.rename(settings.with_suffix(".json"))
    assert change(plan_install, tmp_path, store)["opencode.json"] == "failed"


def test_an_object_of_servers_that_was_there_stays_with_its_comments(tmp_path: Path):
    settings = tmp_path / FOLDER / "opencode.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{\n  "mcp": {\n    // "docs": {}\n  }\n}\n')
    store = tmp_path / "store"
    change(plan_install, tmp_path, store)
    settings.write_text(settings.read_text().replace("{\n", '{\n  "later": 1,\n', 1))
    change(plan_uninstall, tmp_path, store)
    assert settings.read_text() == '{\n  "later": 1,\n  "mcp": {\n    // "docs": {}\n  }\n}\n'


def test_a_comment_that_was_added_beside_our_server_stays(tmp_path: Path):
    settings = tmp_path / FOLDER / "opencode.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("{}\n")
    store = tmp_path / "store"
    change(plan_install, tmp_path, store)
    added = settings.read_text().replace('"memory": {', '// "docs": {}\n    "memory": {')
    settings.write_text(added)
    change(plan_uninstall, tmp_path, store)
    assert re.sub(r"\s+", " ", settings.read_text()) == '{ "mcp": { // "docs": {} } } '


def test_an_edited_file_loses_only_our_server(tmp_path: Path):
    settings = tmp_path / FOLDER / "opencode.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(THEIRS)
    store = tmp_path / "store"
    change(plan_install, tmp_path, store)
    edited = settings.read_text().replace("that I like", "of today")
    settings.write_text(edited)
    change(plan_uninstall, tmp_path, store)
    assert settings.read_text() == THEIRS.replace("that I like", "of today")


def test_another_server_of_the_name_stays(tmp_path: Path):
    settings = tmp_path / FOLDER / "opencode.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"mcp": {"memory": {"type": "remote", "url": "http://memory"}}}')
    states = change(plan_install, tmp_path, tmp_path / "store")
    assert states == {PLUGIN_FILE: "installed", "opencode.json": "left as it is"}
