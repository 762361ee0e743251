"""Machines that share the workspace: nothing of either is lost, no entry comes twice, no merge stops or leaves marks."""

import subprocess
from pathlib import Path

import pytest

from memory_assets.adapters.git_remote import GitRemote
from memory_assets.errors import StoreError

MEMORY = "MEMORY.md"


@pytest.fixture
def remote(tmp_path: Path) -> str:
    subprocess.run(
        ["git", "init", "--quiet", "--bare", "--initial-branch=main", tmp_path / "remote.git"],
        check=True,
    )
    return str(tmp_path / "remote.git")


def workspace(root: Path) -> GitRemote:
    made = GitRemote(root)
    made.prepare()
    return made


def committed(one: GitRemote, text: str, path: str = MEMORY) -> None:
    (one.root / path).write_text(text)
    one.commit("Change", [path])


def text_of(one: GitRemote, path: str = MEMORY) -> str:
    return (one.root / path).read_text()


def pair(tmp_path: Path, remote: str, text: str) -> tuple[GitRemote, GitRemote]:
    """Two workspaces that have the same file."""
    one = workspace(tmp_path / "one")
    committed(one, text)
    assert one.exchange(remote) is None
    two = GitRemote(tmp_path / "two")
    assert two.fetch(remote) and text_of(two) == text
    return one, two


def test_lines_of_two_machines_are_both_kept_and_the_same_line_once(tmp_path: Path, remote: str):
    one, two = pair(tmp_path, remote, "# Memory\n\n## Rules\n\n- first\n")
    committed(one, "# Memory\n\n## Rules\n\n- first\n- of both\n- of one\n")
    committed(two, "# Memory\n\n## Rules\n\n- of two\n- of both\n- first\n")
    assert (
        one.exchange(remote) is None
        and two.exchange(remote) is None
        and one.exchange(remote) is None
    )
    assert text_of(one) == text_of(two) and one.head() == two.head()
    lines = text_of(one).splitlines()
    assert sorted(line for line in lines if line[:2] == "- ") == [
        "- first",
        "- of both",
        "- of one",
        "- of two",
    ]
    assert "<<<<" not in text_of(one)


def test_a_rendered_file_stays_ours_and_a_deleted_one_that_the_other_changed_is_kept(
    tmp_path: Path, remote: str
):
    one, two = pair(tmp_path, remote, "- a\n")
    committed(one, "of one\n", "REVIEW.md")
    committed(two, "of two\n", "REVIEW.md")
    (two.root / MEMORY).unlink()
    two.commit("Delete", [MEMORY])
    committed(one, "- a\n- b\n")
    assert one.exchange(remote, lambda path: path == MEMORY) is None
    assert two.exchange(remote, lambda path: path == MEMORY) is None
    assert text_of(two, "REVIEW.md") == "of two\n" and text_of(two) == "- a\n- b\n"


def test_an_edit_that_nobody_committed_survives_a_merge(tmp_path: Path, remote: str):
    one, two = pair(tmp_path, remote, "# Memory\n\n- a\n")
    committed(one, "# Memory\n\n- a\n- b\n")
    assert one.exchange(remote) is None
    (two.root / MEMORY).write_text("# Memory, by hand\n\n- a\n")
    assert two.fetch(remote)
    assert text_of(two) == "# Memory, by hand\n\n- a\n- b\n"
    assert two.at_head(MEMORY) == b"# Memory\n\n- a\n- b\n"


def test_a_merge_that_was_killed_before_its_commit_is_repeated(
    tmp_path: Path, remote: str, monkeypatch: pytest.MonkeyPatch
):
    one, two = pair(tmp_path, remote, "- a\n")
    committed(one, "- a\n- of one\n")
    committed(two, "- of two\n- a\n")
    assert one.exchange(remote) is None
    with monkeypatch.context() as killed:
        killed.setattr(
            GitRemote, "_commit_tree", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            two.fetch(remote)
    assert two.exchange(remote) is None
    assert (
        text_of(two) == "- of two\n- a\n- of one\n" and two.at_head(MEMORY) == text_of(two).encode()
    )


def test_a_remote_that_cannot_be_read_is_one_line(tmp_path: Path):
    one = workspace(tmp_path / "one")
    with pytest.raises(StoreError, match="cannot be read from") as refused:
        one.fetch(str(tmp_path / "nowhere.git"))
    assert "\n" not in str(refused.value)
    assert "cannot be read" in (one.exchange(str(tmp_path / "nowhere.git")) or "")
