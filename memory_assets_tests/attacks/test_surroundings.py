"""Nothing in a working folder or a repository decides where memory is, who is asked or what is sent.

Every read of the environment, of the working folder and of git's settings in the package is in a list here; a new one fails the test
until somebody has looked at it. Every door can be bound to one store with `--store`, whatever the environment says.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import memory_assets
from memory_assets.interfaces.words import split_store

PACKAGE = Path(memory_assets.__file__).parent


@pytest.mark.parametrize(
    ("words", "rest", "store"),
    [
        (["--store", "/s", "status"], ["status"], "/s"),
        (["serve", "mcp", "--store", "/s", "--write"], ["serve", "mcp", "--write"], "/s"),
        (["recall", "x", "--store=/s"], ["recall", "x"], "/s"),
        (["recall", "--", "--store", "/s"], ["recall", "--", "--store", "/s"], None),
        (["status", "--store"], ["status"], ""),
        (["status", "--store", "--json"], ["status"], ""),
        (["status"], ["status"], None),
    ],
)
def test_the_store_is_found_among_the_words(
    words: list[str], rest: list[str], store: str | None
) -> None:
    assert split_store(words) == (rest, store)


def run(words: list[str], folder: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the command in a folder whose files and variables name another store."""
    environment = {
        **os.environ,
        "MEMORY_DATA": str(folder / "theirs"),
        "PYTHONPATH": str(PACKAGE.parent),
    }
    command = [sys.executable, "-P", "-m", "memory_assets.interfaces.entry", *words]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("door", ["command line", "tools", "hook", "event"])
def test_every_door_can_be_bound_to_one_store_whatever_surrounds_it(
    door: str, tmp_path: Path
) -> None:
    ours, folder = tmp_path / "ours", tmp_path / "repository"
    for root, text in ((ours, "OURS"), (folder / "theirs", "THEIRS")):
        (root / "workspace").mkdir(parents=True)
        (root / "VERSION").write_text("1")
        (root / "workspace" / "briefing.md").write_text(f"# Briefing\n\n{text}\n")
    (folder / "memory.toml").write_text(f'data = "{folder / "theirs"}"\n')
    (folder / ".env").write_text(f"MEMORY_DATA={folder / 'theirs'}\n")
    bound = ["--store", str(ours)]
    if door == "command line":
        done = run(["brief", *bound], folder)
    elif door == "hook":
        done = run(
            ["hooks", "run", "claude_code", "SessionStart", *bound],
            folder,
            json.dumps({"session_id": "s"}),
        )
    elif door == "event":
        run(["send", "memory/session.ended", "--session", "s", *bound], folder)
        assert [path.parent.name for path in (ours / "spool").glob("*.jsonl")] == ["spool"]
        assert not (folder / "theirs" / "spool").exists()
        return
    else:
        asked = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "resources/read",
            "params": {"uri": "memory://briefing"},
        }
        done = run(["serve", "mcp", *bound], folder, json.dumps(asked) + "\n")
    assert "OURS" in done.stdout and "THEIRS" not in done.stdout, (done.stdout, done.stderr)
