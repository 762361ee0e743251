"""The briefing of a session: that of the project of its working folder, worktrees included."""

from pathlib import Path

import pytest

from memory_assets.store.ready import briefing_path
from memory_assets_tests.store.test_projects import repository, worktree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with a briefing of its own for the project `shop`."""
    folder = tmp_path / "store" / "workspace" / "briefings"
    folder.mkdir(parents=True)
    (folder / "shop.md").touch()
    return tmp_path / "store"


def briefing(root: Path, folder: Path | str) -> str:
    return str(Path(briefing_path(str(root), str(folder))).relative_to(root / "workspace"))


def test_a_worktree_gets_the_briefing_of_its_repository(root: Path, tmp_path: Path):
    main = repository(tmp_path / "clone", "https://example.com/harbour/shop.git")
    assert (
        briefing(root, worktree(tmp_path / "elsewhere" / "1", main) / "src") == "briefings/shop.md"
    )
    assert briefing(root, tmp_path / "gone" / "shop" / ".worktrees" / "1") == "briefings/shop.md"


def test_a_folder_below_one_with_the_projects_name_gets_its_briefing(root: Path, tmp_path: Path):
    assert briefing(root, tmp_path / "shop" / "src") == "briefings/shop.md"


def test_any_other_folder_gets_the_general_briefing(root: Path, tmp_path: Path):
    assert briefing(root, repository(tmp_path / "till")) == "briefing.md"
    assert briefing(root, "") == "briefing.md"


def test_a_repository_in_a_folder_that_is_called_like_a_project_is_not_that_project(
    root: Path, tmp_path: Path
):
    assert briefing(root, repository(tmp_path / "shop" / "till")) == "briefing.md"
