"""Finds the repositories of this machine that the owner's sessions worked in, each in its main
worktree.

Runs no process: the files of a repository tell what HEAD is. Folders that are gone and those that
`.memoryignore` names are left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memory_assets.services.sources.ignoring import read_ignore_rules
from memory_assets.stages.verify.verifications import Worktree
from memory_assets.store.places import home_folder
from memory_assets.store.projects import find_worktree, read_head
from memory_assets.store.store import Store

Place = tuple[Worktree, Path]
"""A worktree, and a folder in it."""


@dataclass(frozen=True)
class Worktrees:
    """Where sessions worked."""

    by_folder: Mapping[str, Place]
    """By working folder; those of later sessions come later."""
    by_session: Mapping[str, str]
    """The working folder of each session."""

    @cached_property
    def by_root(self) -> dict[Path, Worktree]:
        """The worktrees, each once."""
        return {tree.root: tree for tree, _ in self.by_folder.values()}

    @cached_property
    def by_project(self) -> dict[str, Place]:
        """The worktree of each project's last session, and its top."""
        return {tree.project: (tree, tree.root) for tree, _ in self.by_folder.values()}

    def place_of(self, sessions: Iterable[str], project: str) -> Place | None:
        """Returns where the first of the sessions worked, else the top of the project; None where
        neither is known.
        """
        folders = (self.by_session.get(session, "") for session in sessions)
        places = (self.by_folder[folder] for folder in folders if folder in self.by_folder)
        return next(places, self.by_project.get(project))


def read_worktrees(store: Store) -> Worktrees:
    """Returns the worktrees of the owner's sessions that have a commit."""
    columns = ["session_id", "folder", "project", "ended_at", "person"]
    windows = store.tables.read("windows", columns=columns).filter(person=store.settings.owner)
    windows = windows.sort("ended_at", "session_id")
    rules = read_ignore_rules(store.settings)
    by_folder = {}
    last_of_folder = windows.unique("folder", keep="last", maintain_order=True)
    for folder, project in last_of_folder.select("folder", "project").iter_rows():
        root, git = find_worktree(folder, home_folder())
        head = read_head(git) if git else ""
        is_ignored = any(map(rules.ignores_folder, (folder, root)))
        if head and Path(root).is_dir() and not is_ignored:
            worktree = Worktree(Path(root), Path(git), project, head)
            is_inside = Path(folder).is_relative_to(root)
            by_folder[folder] = (worktree, Path(folder) if is_inside else worktree.root)
    return Worktrees(by_folder, dict(windows.select("session_id", "folder").iter_rows()))
