"""`memory hooks` on the command line: what it would do, what it did, how things stand."""

import json
from pathlib import Path

import pytest

from memory_assets.interfaces.cli.app import main


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
    assert [file["state"] for file in first["files"]] == ["installed", "not on this machine", "not on this machine"]
    assert f"--store {tmp_path / 'store'}" in first["files"][0]["diff"]
    assert settings.read_text() == '{"model": "opus"}\n'
    said(capsys, "install", "claude_code")
    assert "hooks run claude_code SessionEnd" in settings.read_text()
    (status,) = said(capsys, "status", "claude_code")["data"]["files"]
    assert status["state"] == "installed"
    said(capsys, "uninstall")
    assert settings.read_text() == '{"model": "opus"}\n'


def test_people_are_told_what_would_change(home: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["hooks", "install", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "would be installed" in out
    assert '+        "hooks": [' in out or '"SessionEnd": [' in out
    assert "Codex has no settings here" in out


def test_settings_that_cannot_be_edited_are_a_failure_with_a_reason(home: Path, capsys: pytest.CaptureFixture[str]):
    (home / ".claude" / "settings.json").write_text("{")
    (file,) = said(capsys, "install", "claude_code", code=1)["data"]["files"]
    assert file["state"] == "failed"
    assert "Fix the file" in file["note"]


def test_an_unknown_harness_is_named(home: Path, capsys: pytest.CaptureFixture[str]):
    reply = said(capsys, "install", "emacs", code=2)
    assert "harness must be one of claude_code, pi, codex, not 'emacs'" in reply["error"]["message"]
