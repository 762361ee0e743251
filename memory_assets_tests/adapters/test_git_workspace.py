"""The workspace's history: ours and by hand are told apart, bytes stay as they are, nothing of the user's git leaks in."""

import subprocess
from pathlib import Path

import pytest

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import StoreError
from memory_assets.triage.promote import lost_lines


@pytest.fixture
def workspace(tmp_path: Path) -> GitWorkspace:
    made = GitWorkspace(tmp_path / "workspace")
    made.prepare()
    return made


def test_a_commit_holds_exactly_the_bytes_on_disk(workspace: GitWorkspace):
    content = b"one\r\ntwo\n\xff no newline"
    (workspace.root / "MEMORY.md").write_bytes(content)
    workspace.commit("add", ["MEMORY.md"])
    assert workspace.at_head("MEMORY.md") == content


def test_committing_without_a_change_makes_no_commit(workspace: GitWorkspace):
    (workspace.root / "MEMORY.md").write_text("one\n")
    first = workspace.commit("add", ["MEMORY.md"])
    assert workspace.commit("again", ["MEMORY.md", "REVIEW.md"]) is None
    assert workspace.head() == first


def test_what_was_written_by_hand_is_committed_in_the_owners_name(workspace: GitWorkspace):
    path = workspace.root / "MEMORY.md"
    path.write_text("ours\n")
    workspace.commit("p-1: add", ["MEMORY.md"])
    path.write_text("ours\ntheirs\n")
    workspace.commit_by_hand(["MEMORY.md"], "mira")
    assert [(c.author, c.message) for c in workspace.history("MEMORY.md")] == [
        ("mira", "Edited by hand"),
        ("memory_assets", "p-1: add"),
    ]
    ours, theirs = workspace.commit_of_line("MEMORY.md", 1), workspace.commit_of_line("MEMORY.md", 2)
    assert ours is not None and theirs is not None
    assert (ours.author, theirs.author) == ("memory_assets", "mira")


def test_a_commit_of_ours_that_loses_a_line_is_found_and_one_by_hand_is_theirs_to_make(workspace: GitWorkspace):
    path = workspace.root / "MEMORY.md"
    for text, author in (("a\nb\n", None), ("a\n", "mira"), ("", None)):
        path.write_text(text)
        last = workspace.commit("change", ["MEMORY.md"], author=author)
    assert workspace.lines_lost_by_us("MEMORY.md", lost_lines) == [(last, 1)]


def test_the_users_settings_and_hooks_are_left_out(workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    config = tmp_path / "gitconfig"
    config.write_text("[commit]\n\tgpgsign = true\n[core]\n\tautocrlf = true\n[user]\n\tname = Somebody\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    hook = workspace.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    (workspace.root / "MEMORY.md").write_text("one\n")
    workspace.commit("add", ["MEMORY.md"])
    assert workspace.history("MEMORY.md")[0].author == "memory_assets"


def test_a_machine_without_git_is_told_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreError, match="Install git"):
        GitWorkspace(tmp_path / "workspace").prepare()


def test_a_broken_repository_is_named(workspace: GitWorkspace):
    subprocess.run(["rm", "-rf", str(workspace.root / ".git" / "objects")], check=True)
    (workspace.root / "MEMORY.md").write_text("one\n")
    with pytest.raises(StoreError, match="Mend the repository"):
        workspace.commit("add", ["MEMORY.md"])
