"""Folders of strangers are checked whatever lies in them: nothing is waited for, nothing outside is read, nothing fails."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_assets.interfaces.views.checking import render_checked
from memory_assets.memory.checking import check
from memory_assets.stages.verify.file_reading import MOST_BYTES, read_text
from memory_assets_tests.memory.test_checking import gone_names
from memory_assets_tests.repository import commit, git

RULES = "`docs/tides.md`, `make seed`\n"
MISSING = {"docs/tides.md": ("missing", "")}
GONE = {"docs/tides.md": ("gone", "")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder without git whose AGENTS.md names a file that is missing."""
    (tmp_path / "theirs" / "docs").mkdir(parents=True)
    (tmp_path / "theirs" / "AGENTS.md").write_text(RULES)
    return tmp_path / "theirs"


@pytest.fixture
def repository(folder: Path) -> Path:
    """A repository whose AGENTS.md names a file that is gone."""
    commit(folder, {"docs/tides.md": "High at six.\n", "docs/ports.md": "Leith\n"})
    commit(folder, {"docs/tides.md": None})
    return folder


def listen(path: Path) -> None:
    """Makes a socket; its path is too long to be bound from elsewhere."""
    os.chdir(path.parent)
    socket.socket(socket.AF_UNIX).bind(path.name)


def link_out(path: Path) -> None:
    (path.parent.parent / "secret.md").write_text("`docs/secret.md`")
    path.symlink_to("../secret.md")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "not a regular file"),
        (listen, "No such device or address"),
        (link_out, "a link that leads out of the folder"),
        (lambda path: path.symlink_to("/dev/zero"), "a link that leads out of the folder"),
        (lambda path: path.symlink_to("nowhere.md"), "No such file or directory"),
        (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
        (lambda path: path.write_bytes(b"`docs/a.md`\0\1\2"), "not a text"),
        (Path.mkdir, "Is a directory"),
    ],
)  # fmt: skip
def test_what_is_no_file_of_the_folder_is_named_and_not_read(
    folder: Path, make: Callable[[Path], object], reason: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder)
    make(folder / "CLAUDE.md")
    checked = check(folder)
    assert checked.unread == (f"CLAUDE.md: {reason}",)
    assert checked.files == ("AGENTS.md",) and gone_names(folder) == MISSING


def test_a_pipe_that_should_define_tasks_is_not_waited_for(folder: Path):
    os.mkfifo(folder / "Makefile")
    assert gone_names(folder) == MISSING
    assert check(folder).unknown == 1


def test_of_a_huge_file_the_first_megabyte_is_read(folder: Path):
    line = "The tide turns.\n"
    (folder / "CLAUDE.md").write_text(RULES + line * (MOST_BYTES // len(line)) + "`docs/last.md`")
    checked = check(folder)
    assert checked.unread == ("CLAUDE.md: only the first megabyte is read",)
    assert gone_names(folder) == MISSING and checked.files == ("AGENTS.md", "CLAUDE.md")


def test_a_file_that_vanishes_before_it_is_read_says_so(folder: Path):
    assert read_text(folder, "GEMINI.md").problem == "No such file or directory"


def test_a_link_to_the_same_rules_is_read_once(folder: Path):
    (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    assert check(folder).files == ("AGENTS.md",)


def test_names_have_no_newline_and_no_control_character(folder: Path):
    odd = folder / "a\n\x1b[31mb"
    (odd / "docs").mkdir(parents=True)
    (odd / "CLAUDE.md").write_text(f"{RULES} `docs/{'long' * 2_000}.md`")
    shown = [str(part) for part in render_checked(check(folder))]
    assert shown[:2] == [
        "AGENTS.md:1: docs/tides.md is missing (path)",
        "a\ufffd\ufffd[31mb/CLAUDE.md:1: docs/tides.md is missing (path)",
    ]
    assert all("\n" not in line and "\x1b" not in line for line in shown)


@pytest.mark.parametrize("program", ["", "#!/bin/sh\nexec sleep 60\n", "#!/bin/sh\nexit 3\n"])
def test_without_a_git_that_answers_existence_alone_counts(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
):
    (tmp_path / "bin").mkdir()
    if program:
        (tmp_path / "bin" / "git").write_text(program)
        (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin" / "sleep").symlink_to("/bin/sleep")
    assert gone_names(repository) == MISSING
    assert not check(repository).has_history


def test_a_repository_without_a_commit_is_a_folder(folder: Path):
    git(folder, "init", "-q")
    assert gone_names(folder) == MISSING


def test_a_bare_repository_has_no_files(repository: Path, tmp_path: Path):
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare")
    assert check(tmp_path / "bare").files == ()


def test_a_worktree_and_a_shallow_clone_have_their_history(repository: Path, tmp_path: Path):
    git(repository, "worktree", "add", "-q", str(tmp_path / "other"))
    assert gone_names(tmp_path / "other") == GONE
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    assert gone_names(tmp_path / "shallow") == {}
    assert check(tmp_path / "shallow").unknown == 2


def test_a_submodule_is_a_repository_of_its_own(repository: Path, tmp_path: Path):
    whole = tmp_path / "whole"
    whole.mkdir()
    commit(whole, {"README.md": "`lib/docs/ports.md`, `lib/docs/never.md`, `lib/x.md`"})
    git(whole, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "lib")
    git(whole, "commit", "-qm", "Add the library")
    assert gone_names(whole / "lib") == GONE
    assert gone_names(whole) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_a_repository_of_another_user_has_its_history(repository: Path):
    for path in (repository, *repository.rglob("*")):
        shutil.chown(path, 12_345)
    assert gone_names(repository) == GONE


def test_ignored_transcripts_are_no_matter(repository: Path):
    (repository / ".memoryignore").write_text("*\n")
    assert gone_names(repository) == GONE
