"""The project of a folder: its repository on disk, worktrees and sub-folders included, else what its path says."""

from pathlib import Path

import pytest

from memory_assets.store.projects import find_repository, find_worktree, project_of, read_head


def repository(folder: Path, origin: str = "") -> Path:
    """Makes a git repository, without running git."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    fork = '[remote "fork"]\n\turl = https://example.com/other/fork.git\n'
    remotes = f'{fork}[remote "origin"]\n\turl = {origin}\n' if origin else ""
    (folder / ".git" / "config").write_text(
        f'[core]\n\tbare = false\n{remotes}[branch "main"]\n\tremote = origin\n'
    )
    return folder


def worktree(folder: Path, main: Path, *, is_relative: bool = False) -> Path:
    """Makes a worktree of the repository, as `git worktree add` does."""
    own = main / ".git" / "worktrees" / folder.name
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    folder.mkdir(parents=True)
    named = Path("..") / own.relative_to(folder.parent) if is_relative else own
    (folder / ".git").write_text(f"gitdir: {named}\n")
    return folder


def test_a_sub_folder_belongs_to_its_repository_named_by_its_remote(tmp_path: Path):
    repository(tmp_path / "clone-2", "git@github.com:harbour/tidewatch.git")
    assert find_repository(str(tmp_path / "clone-2" / "src" / "api"), str(tmp_path)) == "tidewatch"


def test_a_repository_without_a_remote_has_the_name_of_its_folder(tmp_path: Path):
    repository(tmp_path / "shop")
    assert find_repository(str(tmp_path / "shop"), str(tmp_path)) == "shop"


@pytest.mark.parametrize("is_relative", [False, True])
def test_a_worktree_belongs_to_its_repository_wherever_it_lies(tmp_path: Path, is_relative: bool):
    main = repository(tmp_path / "shop")
    assert (
        find_repository(
            str(worktree(tmp_path / "1", main, is_relative=is_relative) / "src"), str(tmp_path)
        )
        == "shop"
    )


def test_a_worktree_whose_repository_was_deleted_still_names_it(tmp_path: Path):
    main = repository(tmp_path / "shop")
    folder = worktree(tmp_path / "elsewhere" / "1", main)
    main.rename(tmp_path / "moved")
    assert find_repository(str(folder), str(tmp_path)) == "shop"


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path):
    main = repository(tmp_path / "shop")
    (main / ".git" / "modules" / "fonts").mkdir(parents=True)
    (main / "vendor" / "fonts").mkdir(parents=True)
    (main / "vendor" / "fonts" / ".git").write_text("gitdir: ../../.git/modules/fonts\n")
    assert find_repository(str(main / "vendor" / "fonts"), str(tmp_path)) == "fonts"


def test_a_home_folder_under_version_control_is_no_project(tmp_path: Path):
    home = repository(tmp_path / "mira", "https://example.com/mira/dotfiles")
    assert find_repository(str(home / "notes"), str(home)) is None
    assert find_repository(str(home), str(home)) is None
    repository(home / "shop")
    assert find_repository(str(home / "shop"), str(home)) == "shop"


def test_a_password_in_a_remote_is_not_part_of_the_name(tmp_path: Path):
    repository(tmp_path / "x", "https://mira:secret-token@example.com/till.git")
    assert find_repository(str(tmp_path / "x"), str(tmp_path)) == "till"


def test_only_regular_files_are_read(tmp_path: Path):
    import os

    (tmp_path / "shop").mkdir()
    os.mkfifo(tmp_path / "shop" / ".git")
    assert find_repository(str(tmp_path / "shop"), str(tmp_path)) is None


@pytest.mark.parametrize(
    ("repository", "folder", "name"),
    [("entireio/git-sync", "/x/y", "git-sync"), ("git@host:team/tool.git", "", "tool"), (None, "/home/mira/shop/", "shop"),
     (None, r"C:\Users\mira\shop", "shop"), (None, "", "unknown")],
)  # fmt: skip
def test_a_project_is_named_by_its_repository_else_by_its_folder(repository, folder, name):
    assert project_of(repository, folder) == name


@pytest.mark.parametrize(
    "folder",
    ["/home/mira/shop/.worktrees/1", "/home/mira/shop/.claude/worktrees/vat/src", "/home/mira/.codex/worktrees/3f2a/shop",
     "/home/mira/.cursor/worktrees/shop/Xy1", "/home/mira/.claude-worktrees/shop/calm-fox", "/home/mira/worktrees/shop/1",
     "/Users/mira/Projects/wt/shop/vat", "/Users/mira/src/shop/worktrees/vat", "/Users/mira/src/shop-worktrees/1",
     "/home/mira/shop.worktrees/feature/vat", "/home/mira/shop--vat", "/srv/shop/wt/2", "/home/mira/shop/1", "/root/shop/.conductor/oslo",
     r"C:\Users\mira\shop\.worktrees\2"],
)  # fmt: skip
def test_a_worktree_in_a_known_layout_belongs_to_its_repository(folder: str):
    assert project_of(None, folder) == "shop"


@pytest.mark.parametrize(
    "folder", ["/home/mira/1", "/home/mira/work/1", "/home/mira/worktrees/2", "/1/2"]
)
def test_a_number_alone_names_no_project(folder: str):
    assert project_of(None, folder) == "unknown"


def test_a_sub_folder_and_another_worktree_are_of_the_main_one(tmp_path: Path):
    main = repository(tmp_path / "shop")
    for folder in (main, main / "src" / "gone", worktree(tmp_path / "vat", main)):
        assert find_worktree(str(folder), "/home/mira") == (str(main), str(main / ".git"))
    assert find_worktree(str(tmp_path), "/home/mira") == ("", "")


def test_head_is_a_commit_a_branch_or_a_packed_branch(tmp_path: Path):
    git = repository(tmp_path / "shop") / ".git"
    assert read_head(str(git)) == ""
    (git / "packed-refs").write_text("# pack-refs\naaa refs/heads/old-main\nbbb refs/heads/main\n")
    assert read_head(str(git)) == "bbb"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "refs" / "heads" / "main").write_text("ccc\n")
    assert read_head(str(git)) == "ccc"
    (git / "HEAD").write_text("ddd\n")
    assert read_head(str(git)) == "ddd"
