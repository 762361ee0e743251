"""What the plugin of a harness runs does nothing where the settings of the harness have our hooks; and says what is missing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory_assets.interfaces.cli.app import main
from memory_assets.interfaces.mcp.protocol import Protocol
from memory_assets.memory import hooks
from memory_assets_tests.conftest import REPOSITORY

SCRIPT = REPOSITORY / "memory_assets" / "plugin" / "hooks" / "memory.sh"


@pytest.mark.parametrize(("harness", "folder"), [("claude_code", ".claude"), ("codex", ".codex")])
def test_a_hook_of_the_plugin_speaks_until_hooks_are_installed(
    harness: str,
    folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(sys, "stdin", None)
    (tmp_path / "home" / folder).mkdir()

    def said() -> str:
        words = [harness, "SessionStart", "--plugin", harness, "--store", str(tmp_path / "store")]
        assert hooks.run(words, lambda *_: "# Briefing") == 0
        return capsys.readouterr().out

    assert "# Briefing" in said()
    assert main(["hooks", "install", harness]) == 0
    capsys.readouterr()
    assert said() == ""
    assert main(["hooks", "uninstall", harness]) == 0
    capsys.readouterr()
    assert "# Briefing" in said()


def test_an_idle_server_has_neither_tools_nor_instructions():
    protocol = Protocol(is_idle=True)
    assert protocol.answer("tools/list", {}) == {"tools": []}
    assert protocol.answer("prompts/list", {}) == {"prompts": []}
    assert protocol.answer("initialize", {})["instructions"] == ""


@pytest.mark.skipif(os.name == "nt", reason="the script is for a POSIX shell")
@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd"])
def test_without_the_command_only_the_start_of_a_session_says_how_to_install_it(
    event: str, tmp_path: Path
):
    done = subprocess.run(
        ["/bin/sh", SCRIPT, "hooks", "run", "codex", event],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    if event == "SessionEnd":
        assert done.stdout == ""
    else:
        assert "uv tool install" in json.loads(done.stdout)["systemMessage"]


@pytest.mark.skipif(os.name == "nt", reason="the script is for a POSIX shell")
def test_the_command_is_found_where_uv_and_pipx_put_it(tmp_path: Path):
    command = tmp_path / ".local" / "bin" / "memory-assets"
    command.parent.mkdir(parents=True)
    command.write_text('#!/bin/sh\necho "called: $*"\n')
    command.chmod(0o755)
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["/bin/sh", SCRIPT, "hooks", "run"], env=environ, capture_output=True, check=True
    )
    assert done.stdout == b"called: hooks run\n"
