"""The workspace's history: ours and by hand are told apart, bytes stay as they are, nothing of the user's git leaks in."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import StoreError
from memory_assets.stages.triage.promote import lost_lines


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


def test_a_file_is_read_as_it_stood_at_a_moment(workspace: GitWorkspace):
    git = [
        "git",
        "-C",
        str(workspace.root),
        "-c",
        "user.name=mira",
        "-c",
        "user.email=mira@localhost",
    ]
    for day in (4, 6):
        (workspace.root / "MEMORY.md").write_text(f"{day}\n")
        subprocess.run([*git, "add", "MEMORY.md"], check=True)
        subprocess.run(
            [*git, "commit", "--quiet", "--message=x", f"--date=2026-08-0{day}T12:00:00Z"],
            check=True,
        )
    stood = [
        workspace.as_of("MEMORY.md", datetime(2026, 8, day, 23, tzinfo=UTC))
        for day in (1, 4, 5, 6, 7)
    ]
    assert stood == [b"4\n", b"4\n", b"4\n", b"6\n", b"6\n"]
    assert workspace.as_of("REVIEW.md", datetime(2026, 8, 7, tzinfo=UTC)) is None


def test_what_was_written_by_hand_is_committed_in_the_owners_name(workspace: GitWorkspace):
    path = workspace.root / "MEMORY.md"
    path.write_text("ours\n")
    workspace.commit("p-1: add", ["MEMORY.md"])
    path.write_text("ours\ntheirs\n")
    workspace.commit_by_hand(["MEMORY.md"], "mira")
    history = workspace.history("MEMORY.md")
    assert [(c.author, c.message) for c in history] == [
        ("mira", "Edited by hand"),
        ("memory_assets", "p-1: add"),
    ]
    ours, theirs = (
        workspace.commit_of_line("MEMORY.md", 1),
        workspace.commit_of_line("MEMORY.md", 2),
    )
    assert ours is not None and theirs is not None
    assert (ours.author, theirs.author) == ("memory_assets", "mira")


def test_a_commit_of_ours_that_loses_a_line_is_found_and_one_by_hand_is_theirs_to_make(
    workspace: GitWorkspace,
):
    path = workspace.root / "MEMORY.md"
    for text, author in (("a\nb\n", None), ("a\n", "mira"), ("", None)):
        path.write_text(text)
        last = workspace.commit("change", ["MEMORY.md"], author=author)
    assert workspace.lines_lost_by_us("MEMORY.md", lost_lines) == [(last, [b"a"])]


def test_the_users_settings_and_hooks_are_left_out(
    workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = tmp_path / "gitconfig"
    config.write_text(
        "[commit]\n\tgpgsign = true\n[core]\n\tautocrlf = true\n[user]\n\tname = Somebody\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    hook = workspace.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    (workspace.root / "MEMORY.md").write_text("one\n")
    workspace.commit("add", ["MEMORY.md"])
    assert workspace.history("MEMORY.md")[0].author == "memory_assets"


def test_a_wiped_working_tree_comes_back_from_the_history(workspace: GitWorkspace):
    for name, content in (("MEMORY.md", b"one\r\n"), ("memory/2026-08-03.md", b"log \xff\n")):
        (workspace.root / name).parent.mkdir(exist_ok=True)
        (workspace.root / name).write_bytes(content)
    workspace.commit("add", ["MEMORY.md", "memory/2026-08-03.md"])
    for path in [
        path for path in workspace.root.rglob("*") if ".git" not in path.parts and path.is_file()
    ]:
        path.unlink()
    workspace.prepare()
    assert (workspace.root / "MEMORY.md").read_bytes() == b"one\r\n"
    assert (workspace.root / "memory" / "2026-08-03.md").read_bytes() == b"log \xff\n"


def test_a_folder_inside_another_repository_is_never_taken_for_it(tmp_path: Path):
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "inner").mkdir()
    inner = GitWorkspace(tmp_path / "inner")
    assert inner.head() is None
    assert inner.history("MEMORY.md") == []
    assert inner.commit_of_line("MEMORY.md", 1) is None


def test_a_folder_that_is_not_there_has_no_history(tmp_path: Path):
    assert GitWorkspace(tmp_path / "nowhere").history("MEMORY.md") == []


def test_a_lock_that_a_killed_process_left_behind_is_removed(workspace: GitWorkspace):
    for name in ("index.lock", "memory_assets.index.lock", "refs/heads/main.lock", "HEAD.lock"):
        lock = workspace.root / ".git" / name
        lock.touch()
        os.utime(lock, (0, 0))
    (workspace.root / "MEMORY.md").write_text("one\n")
    assert workspace.commit("add", ["MEMORY.md"]) is not None


def test_a_commit_cut_short_by_a_kill_is_mended_by_the_next_one(
    workspace: GitWorkspace, monkeypatch: pytest.MonkeyPatch
):
    class KilledError(Exception):
        pass

    def killed_at(command: str):
        def run(*arguments, **options):
            if arguments[0] == command and "GIT_INDEX_FILE" not in (options.get("variables") or {}):
                raise KilledError
            return git(*arguments, **options)

        return run

    git = workspace._git
    for number, command in enumerate(("update-index", "update-ref")):
        (workspace.root / "MEMORY.md").write_text(f"{number}\n")
        monkeypatch.setattr(workspace, "_git", killed_at(command))
        with pytest.raises(KilledError):
            workspace.commit("add", ["MEMORY.md"])
        monkeypatch.setattr(workspace, "_git", git)
        workspace.commit("add", ["MEMORY.md"])
        done = subprocess.run(
            ["git", "status", "--porcelain"],
            cwd=workspace.root,
            capture_output=True,
            text=True,
            check=True,
        )
        assert (done.stdout, workspace.at_head("MEMORY.md")) == ("", f"{number}\n".encode())


def test_a_machine_without_git_is_told_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreError, match="Install git"):
        GitWorkspace(tmp_path / "workspace").prepare()


def test_a_broken_repository_is_named(workspace: GitWorkspace):
    subprocess.run(["rm", "-rf", str(workspace.root / ".git" / "objects")], check=True)
    (workspace.root / "MEMORY.md").write_text("one\n")
    with pytest.raises(StoreError, match="Fix the repository"):
        workspace.commit("add", ["MEMORY.md"])


def remote_beside(workspace: GitWorkspace) -> Path:
    remote = workspace.root.parent / "remote.git"
    subprocess.run(
        ["git", "init", "--quiet", "--bare", "--initial-branch=main", str(remote)], check=True
    )
    return remote


def log_of(folder: Path) -> list[str]:
    shown = subprocess.run(
        ["git", "log", "--format=%s", "main"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return shown.stdout.splitlines()


def test_a_remote_with_another_history_is_neither_pulled_nor_overwritten(
    workspace: GitWorkspace, tmp_path: Path
):
    remote = remote_beside(workspace)
    other = GitWorkspace(tmp_path / "other")
    other.prepare()
    other.commit_content("theirs", {"MEMORY.md": b"theirs\n"})
    assert other.push(str(remote)) is None
    workspace.commit_content("ours", {"MEMORY.md": b"ours\n"})
    before = workspace.head()
    problem = workspace.push(str(remote))
    assert problem is not None
    assert "could not be pushed" in problem
    assert (workspace.head(), workspace.at_head("MEMORY.md")) == (before, b"ours\n")
    assert log_of(remote)[0] == "theirs"


def test_the_lines_that_commits_changed_are_named_with_number_and_commit(workspace: GitWorkspace):
    def commit(content: str, path: str = "MEMORY.md") -> str:
        return workspace.commit_content("Change", {path: content.encode()}) or ""

    first = commit("# A\n\n- one\n- two\n--- x\n")
    second = commit("# A\n\n- one\n- two, better\n--- x\n+++ y\n")
    third = commit("- new\n", "projects/ü b.md")
    commit("# ignored\n", "REVIEW.md")
    (workspace.root / "MEMORY.md").write_text("# A\n\n- one\n- two, better\n--- x\n+++ y\n")
    (workspace.root / "projects").mkdir()
    (workspace.root / "projects" / "ü b.md").write_text("- new\n")
    found = workspace.changed_lines(first, ["MEMORY.md", "projects"])
    assert [(one.line, one.is_added, one.text, one.commit) for one in found] == [
        (4, False, "- two", second[:7]),
        (4, True, "- two, better", second[:7]),
        (6, True, "+++ y", second[:7]),
        (1, True, "- new", third[:7]),
    ]
    assert {one.path for one in found} == {"MEMORY.md", "projects/ü b.md"}
    assert workspace.changed_lines(third, ["MEMORY.md", "projects"]) == []
    assert [one.line for one in workspace.changed_lines(None, ["MEMORY.md"])] == [1, 2, 3, 4, 5, 6]
