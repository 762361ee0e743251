"""`memory hooks` on the command line: what it would do, what it did, how things stand."""

import json
from pathlib import Path

import pytest

from memory_assets.interfaces.cli.app import main
from memory_assets.interfaces.mcp.protocol import Protocol
from memory_assets.schema.vocabulary import HARNESS_TITLES


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of the test, with settings of Claude Code and nothing else."""
    made = tmp_path / "home"
    (made / ".claude").mkdir()
    (made / ".claude" / "settings.json").write_text('{"model": "opus"}\n')
    return made


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict:
    assert main(["hooks", *words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_hooks_come_and_go(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    settings = home / ".claude" / "settings.json"
    first = said(capsys, "install", "--dry-run")["data"]
    states = [file["state"] for file in first["files"]]
    assert states[:2] == ["installed", "installed"]
    assert set(states[2:]) == {"not on this machine"}
    assert f"--store {tmp_path / 'store'}" in first["files"][0]["diff"]
    assert settings.read_text() == '{"model": "opus"}\n'
    said(capsys, "install", "claude_code")
    assert "hooks run claude_code SessionEnd" in settings.read_text()
    status = said(capsys, "status", "claude_code")["data"]["files"]
    assert [Path(file["path"]).name for file in status] == ["settings.json", ".claude.json"]
    assert {file["state"] for file in status} == {"installed"}
    said(capsys, "uninstall")
    assert settings.read_text() == '{"model": "opus"}\n'
    assert not (home / ".claude.json").exists()


def test_where_no_harness_is_found_installing_fails_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("PATH", str(tmp_path))
    for words in (["install"], ["install", "--dry-run"], ["install", "codex"]):
        assert main(["hooks", *words]) == 1
        out = capsys.readouterr().out
        assert "No harness was found. Install one, then run `memory hooks install`." in out
    assert main(["hooks", "status"]) == 0


def test_a_client_that_was_never_started_is_connected_and_absent_ones_are_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    client = tmp_path / "codex"
    client.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["hooks", "install"]) == 0
    out = capsys.readouterr().out
    assert (tmp_path / "home" / ".codex" / "hooks.json").is_file()
    assert out.count("not on this machine") == 1
    assert "not on this machine  Claude Code, " in out
    assert "No harness was found" not in out


def test_the_tools_that_need_no_permission_are_those_that_only_read(home: Path):
    assert main(["hooks", "install", "claude_code"]) == 0
    allowed = json.loads((home / ".claude" / "settings.json").read_text())["permissions"]["allow"]
    tools = Protocol().tools()["tools"]
    reading = [tool["name"] for tool in tools if tool["annotations"]["readOnlyHint"]]
    assert allowed == [f"mcp__memory__{name}" for name in reading]


def test_recall_at_each_prompt_is_chosen_stays_and_is_removed(
    home: Path, capsys: pytest.CaptureFixture[str]
):
    path = home / ".claude" / "settings.json"

    def recalls(*options: str) -> bool:
        said(capsys, "install", *options)
        return (
            "UserPromptSubmit" in path.read_text()
            and "--prompts" in (home / ".claude.json").read_text()
        )

    assert not recalls()
    assert recalls("--recall-each-prompt")
    assert recalls()
    files = said(capsys, "status", "claude_code")["data"]["files"]
    assert [file["note"] for file in files] == ["It recalls at each prompt.", ""]
    assert not recalls("--no-recall-each-prompt")
    assert not recalls()
    reply = said(capsys, "install", "--recall-each-prompt", "--no-recall-each-prompt", code=2)
    assert "exclude each other" in reply["error"]["message"]
    recalls("--recall-each-prompt")
    said(capsys, "uninstall")
    assert path.read_text() == '{"model": "opus"}\n'


def test_a_line_before_tools_is_chosen_beside_recall_and_each_is_removed_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
):
    path = home / ".claude" / "settings.json"
    (home / ".codex").mkdir()

    def events(*options: str) -> set[str]:
        said(capsys, "install", *options)
        return set(json.loads(path.read_text())["hooks"]) & {"UserPromptSubmit", "PreToolUse"}

    assert events() == set()
    assert events("--before-tools") == events() == {"PreToolUse"}
    (group,) = json.loads(path.read_text())["hooks"]["PreToolUse"]
    assert group["matcher"] == "Bash|Edit|Write"
    (group,) = json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]["PreToolUse"]
    assert group["matcher"] == "Bash|apply_patch"
    assert events("--recall-each-prompt") == {"UserPromptSubmit", "PreToolUse"}
    note = said(capsys, "status", "claude_code")["data"]["files"][0]["note"]
    assert note == "It recalls at each prompt. It says what is known before tools."
    assert events("--no-before-tools") == {"UserPromptSubmit"}
    assert events("--before-tools", "--no-recall-each-prompt") == {"PreToolUse"}
    said(capsys, "uninstall")
    assert path.read_text() == '{"model": "opus"}\n'


def test_people_are_told_what_would_change(home: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["hooks", "install", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "would be installed" in out
    assert '+        "hooks": [' in out or '"SessionEnd": [' in out
    assert "not on this machine  Codex, " in out


def test_an_unknown_harness_is_named(home: Path, capsys: pytest.CaptureFixture[str]):
    reply = said(capsys, "install", "emacs", code=2)
    assert (
        f"harness must be one of {', '.join(HARNESS_TITLES)}, not 'emacs'"
        in reply["error"]["message"]
    )
