"""The history of somebody's repository is read within the time, and nothing that the repository says is run or followed."""

from pathlib import Path

import pytest

from memory_assets.adapters.git_reading import GitReading, reading
from memory_assets_tests.repository import commit, git

SETTINGS = (
    "core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "core.askPass", "core.gitProxy", "diff.external",
    "diff.x.textconv", "diff.x.command", "filter.x.clean", "filter.x.smudge", "filter.x.process", "gpg.program",
    "credential.helper", "pager.log", "log.showSignature", "alias.log", "sequence.editor", "uploadpack.packObjectsHook",
)  # fmt: skip
HOOKS = (
    "post-index-change",
    "fsmonitor-watchman",
    "reference-transaction",
    "post-checkout",
    "pre-auto-gc",
)


def ask_all(history: GitReading) -> None:
    """Asks the history everything."""
    for ask in (history.paths, history.texts, history.commits, history.branches, history.patches):
        ask()
    history.patches(("*.py",))
    history.removal_of("b.py")
    history.has_commit("abcdef1")
    history.is_ignored("a.py")


def test_no_program_that_the_repository_names_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder, mark = tmp_path / "theirs", tmp_path / "ran"
    folder.mkdir()
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    commit(
        folder,
        {
            "a.py": "a = 1\n",
            "b.py": "b = 1\n",
            ".gitattributes": "* diff=x filter=x\n*.py -diff export-subst\n",
        },
    )
    modules = f'[submodule "sub"]\n\tpath = sub\n\turl = ext::{program}\n\tupdate = !{program}\n'
    commit(folder, {"a.py": "a = 2\n", "b.py": None, ".gitmodules": modules})
    for name in SETTINGS:
        git(folder, "config", name, str(program))
    git(folder, "config", "remote.origin.promisor", "true")
    git(folder, "config", "remote.origin.url", f"ext::{program}")
    git(folder, "config", "include.path", str(folder / "more"))
    for name in HOOKS:
        (folder / ".git" / "hooks" / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (folder / ".git" / "hooks" / name).chmod(0o755)
    for name in (
        "GIT_EXTERNAL_DIFF",
        "GIT_SSH_COMMAND",
        "GIT_PAGER",
        "GIT_ASKPASS",
        "GIT_DIR",
        "GIT_CONFIG_GLOBAL",
    ):
        monkeypatch.setenv(name, str(program))
    with reading(folder) as history:
        assert history is not None
        ask_all(history)
        assert [(patch.path, patch.removed, patch.added) for patch in history.patches()] == [
            ("a.py", "a = 1\n", "a = 2\n"), ("b.py", "b = 1\n", ""),
        ]  # fmt: skip
    assert not mark.exists()


def test_replaced_objects_and_other_working_trees_are_not_read(tmp_path: Path):
    folder, other = tmp_path / "theirs", tmp_path / "other"
    first = commit(folder, {"a.py": "first\n"}) if folder.mkdir() is None else ""
    second = commit(folder, {"a.py": "second\n"}, text="Second")
    git(folder, "replace", second, first)
    with reading(folder) as history:
        assert history is not None and [each.text.strip() for each in history.commits()] == [
            "Second",
            "Work",
        ]
    other.mkdir()
    (other / "secret.py").write_text("secret\n")
    (folder / "link.py").symlink_to(other / "secret.py")
    (folder / "below").symlink_to(other)
    with reading(folder) as history:
        assert history is not None and dict(history.texts()) == {"a.py": "second\n"}
    git(folder, "config", "core.worktree", str(other))
    with reading(folder) as history:
        assert history is None


def test_objects_that_are_borrowed_or_missing_are_no_failure(tmp_path: Path):
    folder, clone = tmp_path / "theirs", tmp_path / "clone"
    folder.mkdir()
    commit(folder, {"a.py": "first\n", "b.py": "b\n"})
    commit(folder, {"a.py": "second\n"})
    git(tmp_path, "clone", "-q", "--shared", str(folder), str(clone))
    with reading(clone) as history:
        assert history is not None and [patch.removed for patch in history.patches()] == ["first\n"]
    blob = git(folder, "rev-parse", "HEAD:b.py").strip()
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (folder / "b.py").unlink()
    with reading(folder) as history:
        assert history is not None and [path for path, _ in history.texts()] == ["a.py"]
        assert history.is_incomplete
        assert list(history.patches()) == []


def test_patches_are_read_in_parts_until_the_first_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memory_assets.adapters.git_reading._COMMITS_READ", 2)
    for number in range(6):
        commit(tmp_path, {"a.py": f"{number}\n", f"{number}.txt": "new\n"})
    with reading(tmp_path) as history:
        assert history is not None
        assert [patch.removed for patch in history.patches()] == [
            f"{number}\n" for number in (4, 3, 2, 1, 0)
        ]
        assert [patch.removed for patch in history.patches(("b.py",))] == []


@pytest.mark.parametrize(
    "content",
    ["--- a/x\n+++ b/x\n@@ -1 +1 @@\n", "diff --git a/x b/x\ncommit 0\n", "-- a\r\n\x0cb\n"],
)
def test_lines_that_look_like_a_patch_are_lines(tmp_path: Path, content: str):
    with_more = "".join(f"line {number}\n" for number in range(9))
    commit(tmp_path, {"a b.py": f"{content}{with_more}{content}"})
    commit(tmp_path, {"a b.py": with_more})
    with reading(tmp_path) as history:
        assert history is not None
        [patch] = history.patches()
    assert (
        patch.path == "a b.py"
        and patch.removed.startswith(content)
        and patch.removed.endswith(content)
    )
    assert "line 0" in patch.added and content not in patch.added


def test_what_is_asked_late_has_no_answer_and_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    commit(tmp_path, {"a.py": "first\n", "b.bin": "\0\n"})
    commit(tmp_path, {"a.py": "second\n"})
    with reading(tmp_path) as history:
        monkeypatch.setattr("memory_assets.adapters.git_reading.monotonic", lambda: 1e12)
        assert history is not None and history.is_incomplete
        ask_all(history)


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_contents_that_differ_from_head_are_read_from_both(tmp_path: Path, kind: str):
    git(tmp_path, "init", "-q", f"--object-format={kind}")
    commit(
        tmp_path, {"a.py": "head\n", "b.py": "same\n", "c.py": "gone\n", ".gitignore": "*.log\n"}
    )
    (tmp_path / "a.py").write_text("tree\n")
    (tmp_path / "c.py").unlink()
    (tmp_path / "new.py").write_text("new\n")
    (tmp_path / "x.log").write_text("log\n")
    (tmp_path / "data.csv").write_text("data\n" * 200_001)
    with reading(tmp_path) as history:
        assert history is not None and sorted(history.texts()) == [
            (".gitignore", "*.log\n"), ("a.py", "head\n"), ("a.py", "tree\n"), ("b.py", "same\n"), ("c.py", "gone\n"),
            ("new.py", "new\n"),
        ]  # fmt: skip
