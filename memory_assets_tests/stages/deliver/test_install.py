"""Hooks in the settings of harnesses: added without touching what is not ours, and gone without a trace."""

import json
import os
import shlex
import shutil
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.harnesses.hooks import HarnessSettings, harnesses
from memory_assets.harnesses.json_text import BOM
from memory_assets.stages.deliver import install
from memory_assets.stages.deliver.install import (
    ABSENT,
    CURRENT,
    FAILED,
    INSTALLED,
    LEFT,
    OUTDATED,
    REMOVED,
    carry_out,
    plan_install,
    plan_uninstall,
    status,
)

TOOLS = ("memory_recall", "memory_explain")
THEIRS = {"type": "command", "command": "say done"}
SETTINGS = {
    "empty object": "{}",
    "empty file": "",
    "no newline at the end": '{\n  "model": "opus"\n}',
    "one line": '{"model": "opus", "permissions": {"allow": ["Bash(ls)"]}}\n',
    "permissions without rules": '{\n  "permissions": {\n    "defaultMode": "plan"\n  }\n}\n',
    "no rules": '{\n  "permissions": {\n    "allow": []\n  }\n}\n',
    "one of the rules": '{\n  "permissions": {\n    "allow": [\n      "mcp__memory__memory_recall"\n    ]\n  }\n}\n',
    "tabs": '{\n\t"model": "opus"\n}\n',
    "windows": '{\r\n    "model": "opus"\r\n}\r\n',
    "byte order mark": BOM + '{\n  "model": "opus"\n}\n',
    "hooks of theirs": '{\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]\n  }\n}\n',
    "the same event": '{"hooks": {"SessionEnd": [{"matcher": "", "hooks": [{"type": "command", "command": "say bye"}]}]}}',
    "an empty event": '{\n  "hooks": {\n    "PreCompact": [],\n    "SessionEnd": [\n    ]\n  }\n}\n',
    "empty hooks": '{\n  "hooks": {},\n  "model": "opus"\n}\n',
    "odd spaces": '{ "a" : 1 ,\n\n\n"b":[ ] }  \n\n',
}
TOML = {
    "empty": "",
    "tables": '# mine\nmodel = "gpt-5.4"\n\n[features]\nhooks = true\n',
    "windows": 'model = "gpt-5.4"\r\n\r\n[features]\r\nhooks = true\r\n',
    "no newline at the end": 'model = "gpt-5.4"',
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home of mira"
    for folder in (
        ".claude",
        ".codex",
        ".pi/agent",
        ".gemini",
        ".qwen",
        ".copilot",
        ".config/opencode",
        ".cursor",
    ):
        (made / folder).mkdir(parents=True)
    return made


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "my store"


def all_of(home: Path, store: Path) -> tuple[HarnessSettings, ...]:
    return harnesses(str(store), home, {}, TOOLS)


def put_in(home: Path, store: Path) -> list[install.HookChange]:
    return carry_out(plan_install(all_of(home, store), store), store)


def take_out(home: Path, store: Path) -> list[install.HookChange]:
    return carry_out(plan_uninstall(all_of(home, store), store), store)


def tree(home: Path) -> dict[str, bytes]:
    """Every file and folder below the home, with its bytes."""
    return {
        str(path.relative_to(home)): path.read_bytes() if path.is_file() else b""
        for path in sorted(home.rglob("*"))
    }


def states(changes: list[install.HookChange]) -> dict[str, str]:
    """By the name of the file; of several files of a name the first counts."""
    return {change.path.name: change.state for change in reversed(changes)}


def commands(path: Path) -> dict[str, list[str]]:
    """The commands of each event; Copilot CLI has no groups of hooks."""
    hooks = json.loads(path.read_text("utf-8-sig"))["hooks"]
    return {
        event: [
            hook.get("command") or hook["bash"]
            for group in groups
            for hook in group.get("hooks", [group])
        ]
        for event, groups in hooks.items()
    }


def ours(path: Path) -> dict[str, list[str]]:
    found = {
        event: [one for one in listed if "hooks run" in one]
        for event, listed in commands(path).items()
    }
    return {event: listed for event, listed in found.items() if listed}


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize(
    ("folder", "name", "events"),
    [
        (".claude", "settings.json", {"SessionStart", "PreCompact", "SessionEnd"}),
        (".codex", "hooks.json", {"SessionStart", "PreCompact", "SessionEnd"}),
        (".gemini", "settings.json", {"BeforeAgent", "SessionEnd"}),
        (".qwen", "settings.json", {"SessionStart", "PreCompact", "SessionEnd"}),
        (".copilot", "settings.json", {"sessionStart", "preCompact", "sessionEnd"}),
    ],
)
def test_settings_become_what_they_were_byte_for_byte(
    home: Path, store: Path, folder: str, name: str, events: set[str], text: str
):
    (home / folder / name).write_bytes(text.encode())
    before = tree(home)
    put_in(home, store)
    assert set(ours(home / folder / name)) == events
    put_in(home, store)
    take_out(home, store)
    assert tree(home) == before


@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_the_line_and_the_table_in_config_toml_come_and_go(home: Path, store: Path, text: str):
    path = home / ".codex" / "config.toml"
    path.write_bytes(text.encode())
    put_in(home, store)
    found = tomllib.loads(path.read_bytes().decode())
    assert found.pop("notify")[-5:] == ["run", "codex", "notify", "--store", str(store)]
    assert found.pop("mcp_servers")["memory"]["args"][-4:] == [
        "serve",
        "mcp",
        "--store",
        str(store),
    ]
    assert found == tomllib.loads(text)
    put_in(home, store)
    take_out(home, store)
    assert path.read_bytes() == text.encode()


def told(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8-sig"))


SERVERS = {
    "no file": None,
    "empty object": "{}",
    "other things": '{\n  "numStartups": 3,\n  "projects": {}\n}\n',
    "no servers": '{"mcpServers": {}}',
    "another server": '{\n  "mcpServers": {\n    "docs": {"command": "docs"}\n  }\n}\n',
}


@pytest.mark.parametrize("text", SERVERS.values(), ids=SERVERS)
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (".claude.json", {"type": "stdio", "env": {}}),
        (".pi/agent/mcp.json", {"exposure": "direct"}),
        (".gemini/settings.json", {"trust": True}),
        (".copilot/mcp-config.json", {"type": "local", "tools": ["*"]}),
        (".qwen/settings.json", {"trust": True}),
    ],
)
def test_the_server_of_tools_is_registered_for_the_store(
    home: Path, store: Path, name: str, kind: dict[str, Any], text: str | None
):
    path = home / name
    if text is not None:
        path.write_text(text)
    before = tree(home)
    put_in(home, store)
    entry = told(path)["mcpServers"]["memory"]
    assert entry["args"][-4:] == ["serve", "mcp", "--store", str(store)]
    assert {key: value for key, value in entry.items() if key not in ("command", "args")} == kind
    assert os.path.isabs(entry["command"])
    once = tree(home)
    put_in(home, store)
    assert tree(home) == once
    path.write_text(json.dumps({**told(path), "theme": "dark"}))
    take_out(home, store)
    assert told(path) == {**json.loads(text or "{}"), "theme": "dark"}
    path.unlink()
    if text is not None:
        path.write_text(text)
    assert tree(home) == before


def test_another_server_of_the_same_name_stays(home: Path, store: Path):
    theirs = '{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "server-memory"]}}}'
    for name in (".claude.json", ".pi/agent/mcp.json", ".qwen/settings.json"):
        (home / name).write_text(theirs)
    (home / ".codex/config.toml").write_text('[mcp_servers.memory]\ncommand = "npx"\n')
    changes = put_in(home, store)
    assert [states(changes)[name] for name in (".claude.json", "mcp.json", "config.toml")] == [
        LEFT,
        LEFT,
        INSTALLED,
    ]
    assert "another server and stays" in next(
        change.note for change in changes if change.path.name == "config.toml"
    )
    qwen = next(change for change in changes if change.path == home / ".qwen/settings.json")
    assert "another server and stays" in qwen.note
    assert told(qwen.path)["mcpServers"] == json.loads(theirs)["mcpServers"]
    again = put_in(home, store)
    assert CURRENT in [change.state for change in again if change.path == qwen.path]
    take_out(home, store)
    names = (".claude.json", ".pi/agent/mcp.json", ".qwen/settings.json")
    assert [(home / name).read_text() for name in names] == [theirs, theirs, theirs]
    assert (home / ".codex/config.toml").read_text() == '[mcp_servers.memory]\ncommand = "npx"\n'


@pytest.mark.parametrize("text", [*SETTINGS.values()], ids=SETTINGS)
def test_two_stores_one_after_the_other_leave_every_byte(
    home: Path, store: Path, tmp_path: Path, text: str
):
    (home / ".claude/settings.json").write_bytes(text.encode())
    (home / ".codex/config.toml").write_text('# mine\nmodel = "gpt-5.4"')
    (home / ".claude.json").write_text('{"mcpServers": {}}')
    before, another = tree(home), tmp_path / "another store"
    put_in(home, store)
    put_in(home, another)
    assert "another store" in told(home / ".claude.json")["mcpServers"]["memory"]["args"][-1]
    take_out(home, another)
    assert tree(home) == before
    put_in(home, store)
    put_in(home, another)
    installed = tree(home)
    changes = take_out(home, store)
    assert tree(home) == installed
    kept = next(change for change in changes if change.path.name == "settings.json")
    assert kept.state == LEFT and f"uninstall --store '{another}'`" in kept.note
    take_out(home, another)
    assert tree(home) == before
    put_in(home, another)
    shutil.rmtree(another)
    gone = next(c for c in take_out(home, store) if c.path.name == "settings.json")
    assert gone.state == REMOVED


def test_a_dry_run_writes_nothing_and_shows_every_line(home: Path, store: Path):
    (home / ".claude" / "settings.json").write_text('{"model": "opus"}')
    before = tree(home)
    planned = plan_install(all_of(home, store), store)
    assert tree(home) == before
    assert not store.exists()
    assert all(str(store) in change.diff() for change in planned)
    assert all(change.is_change for change in planned)


def test_what_a_person_edits_in_between_stays_and_only_ours_goes(home: Path, store: Path):
    path = home / ".claude" / "settings.json"
    path.write_text(SETTINGS["hooks of theirs"])
    put_in(home, store)
    edited = json.loads(path.read_text())
    edited["hooks"]["SessionEnd"].insert(0, {"hooks": [THEIRS]})
    edited["hooks"]["PreCompact"][0]["hooks"].append(THEIRS)
    edited["model"] = "haiku"
    path.write_text(json.dumps(edited, indent=4))
    take_out(home, store)
    assert json.loads(path.read_text()) == {
        "hooks": {
            "Stop": [{"hooks": [THEIRS]}],
            "PreCompact": [{"matcher": "auto", "hooks": [THEIRS]}],
            "SessionEnd": [{"hooks": [THEIRS]}],
        },
        "model": "haiku",
    }


def test_ours_is_found_though_the_record_was_lost(home: Path, store: Path):
    path = home / ".claude" / "settings.json"
    path.write_text('{\n  "model": "opus"\n}\n')
    put_in(home, store)
    (store / "hooks.json").unlink()
    assert states(take_out(home, store))["settings.json"] == REMOVED
    assert path.read_text() == '{\n  "model": "opus"\n}\n'


PI_FILE = "memory-assets.ts"

PERSON = st.sampled_from(["model", "env", "hooks", "theme"])
EDITS = st.dictionaries(
    PERSON,
    st.sampled_from(["opus", {}, [], {"Stop": []}, {"SessionEnd": [{"hooks": [THEIRS]}]}]),
    max_size=3,
)


@settings(max_examples=40)
@given(before=EDITS, after=EDITS, indent=st.sampled_from([None, 2, "\t"]))
def test_whatever_a_person_does_in_between_theirs_is_what_is_left(
    tmp_path_factory: pytest.TempPathFactory,
    before: dict[str, Any],
    after: dict[str, Any],
    indent: Any,
):
    home = tmp_path_factory.mktemp("home")
    (home / ".claude").mkdir()
    path, store = home / ".claude" / "settings.json", home / "store"
    before = {
        name: value for name, value in before.items() if name != "hooks" or isinstance(value, dict)
    }
    path.write_text(json.dumps(before, indent=indent))
    put_in(home, store)
    theirs = {name: value for name, value in after.items() if name != "hooks"}
    path.write_text(json.dumps({**theirs, **json.loads(path.read_text())}, indent=indent))
    take_out(home, store)
    assert json.loads(path.read_text()) == {**theirs, **before}


def test_settings_that_cannot_be_read_stay_as_they_are(home: Path, store: Path):
    path = home / ".claude" / "settings.json"
    for text in (
        '{"model": "opus",}',
        "[]",
        '{"hooks": []}',
        '{"hooks": {"SessionEnd": {}}}',
        "\udcff",
    ):
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        before = tree(home / ".claude")
        changes = put_in(home, store)
        assert states(changes)["settings.json"] == FAILED, text
        assert str(path) in changes[0].note
        assert tree(home / ".claude") == before
    assert (home / ".codex" / "hooks.json").is_file(), "one file that is broken stops no other"


def test_a_notify_of_their_own_stays(home: Path, store: Path):
    path = home / ".codex" / "config.toml"
    path.write_text('notify = ["say", "done"]\n')
    changes = put_in(home, store)
    assert "is yours and stays" in next(change.note for change in changes if change.path == path)
    found = tomllib.loads(path.read_text())
    assert (found["notify"], list(found["mcp_servers"])) == (["say", "done"], ["memory"])
    assert states(put_in(home, store))["config.toml"] == CURRENT
    take_out(home, store)
    assert path.read_text() == 'notify = ["say", "done"]\n'


def test_a_file_of_their_own_in_the_place_of_the_extension_stays(home: Path, store: Path):
    path = home / ".pi/agent/extensions" / PI_FILE
    path.parent.mkdir()
    path.write_text("export default function () {}\n")
    assert states(put_in(home, store))[PI_FILE] == LEFT
    assert states(take_out(home, store))[PI_FILE] == ABSENT
    assert path.read_text() == "export default function () {}\n"


def test_an_extension_that_a_person_edited_is_kept_beside(home: Path, store: Path):
    put_in(home, store)
    path = home / ".pi/agent/extensions" / PI_FILE
    path.write_text(path.read_text() + "// and mine\n")
    edited = path.read_bytes()
    take_out(home, store)
    assert not path.exists()
    assert path.with_name(f"{PI_FILE}.edited").read_bytes() == edited


def test_a_link_stays_a_link_and_permissions_stay(home: Path, store: Path, tmp_path: Path):
    dotfiles = tmp_path / "dotfiles.json"
    dotfiles.write_text("{}")
    dotfiles.chmod(0o644)
    link = home / ".claude" / "settings.json"
    link.symlink_to(dotfiles)
    put_in(home, store)
    assert link.is_symlink()
    assert "hooks run" in dotfiles.read_text()
    assert stat.S_IMODE(dotfiles.stat().st_mode) == 0o644
    take_out(home, store)
    assert dotfiles.read_text() == "{}"


def test_a_disk_that_takes_nothing_is_told_and_changes_nothing(
    home: Path, store: Path, monkeypatch: pytest.MonkeyPatch
):
    (home / ".claude" / "settings.json").write_text("{}")
    before = tree(home)

    def full(*_: Any) -> bool:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(install, "replace_if_same", full)
    changes = put_in(home, store)
    assert set(states(changes).values()) == {FAILED}
    assert "No space left on device" in changes[0].note
    assert tree(home) == before


def test_somebody_who_writes_at_the_same_moment_wins(home: Path, store: Path):
    path = home / ".claude" / "settings.json"
    path.write_text("{}")
    planned = plan_install(all_of(home, store), store)
    path.write_text('{"model": "opus"}')
    assert states(carry_out(planned, store))["settings.json"] == FAILED
    assert path.read_text() == '{"model": "opus"}'


def test_the_status_tells_what_is_there_and_what_calls_another_store(
    home: Path, store: Path, tmp_path: Path
):
    assert set(states(status(all_of(home, store), store)).values()) == {ABSENT}
    put_in(home, store)
    assert set(states(status(all_of(home, store), store)).values()) == {INSTALLED}
    elsewhere = all_of(home, tmp_path / "another")
    assert set(states(status(elsewhere, store)).values()) == {OUTDATED}
    put_in(home, tmp_path / "another")
    assert all(
        "another" in one
        for listed in ours(home / ".claude/settings.json").values()
        for one in listed
    )
    assert [len(listed) for listed in ours(home / ".claude/settings.json").values()] == [1, 1, 1]


def test_a_folder_cannot_put_code_of_its_own_in_place_of_ours(home: Path, store: Path):
    """Hooks run in the folder that a session works in."""
    put_in(home, store)
    for listed in ours(home / ".claude/settings.json").values():
        for one in listed:
            guard, program = one.split(" || exit 0; exec ")
            assert os.path.isabs(shlex.split(program)[0])
            assert guard == f"[ -x {program.split()[0]} ]"
        assert all(" -m " not in one or " -P " in one for one in listed)
