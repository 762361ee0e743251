"""Looks names up in a repository: does what they name still hold, and if not, since when?

Where in doubt, a name holds or is unknown. Only what the history shows to have been there once is
gone; what was never tracked, such as `.env` or build output, is unknown. Without a history, what
is absent from a folder that is there is missing.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from memory_assets.schema.protocols import History, Removal
from memory_assets.stages.verify.file_reading import is_there
from memory_assets.stages.verify.named import Named, NamedKind
from memory_assets.stages.verify.tasks import TASK_FILES, Tasks, read_tasks

State = Literal["holds", "moved", "gone", "missing", "unknown"]

MOST_FILES = 50_000
"""Files of a folder without git that are listed."""

NOT_LISTED = frozenset({".git", "node_modules", ".venv", "venv", "target", "__pycache__"})


@dataclass(frozen=True)
class Verdict:
    """What became of a name."""

    state: State
    since: date | None = None
    """The day from which it is gone, where the history says."""
    commit: str = ""
    moved_to: str = ""

    @property
    def is_gone(self) -> bool:
        """Whether what is named is not there."""
        return self.state in ("moved", "gone", "missing")


HOLDS = Verdict("holds")
UNKNOWN = Verdict("unknown")


class Lookups:
    """Names looked up in one folder, with the history of its repository if it has one."""

    def __init__(self, root: Path, history: History | None) -> None:
        self._root = root
        self._history = history
        self._tasks = cache(self._read_tasks)

    def verdict(self, named: Named, folder: Path) -> Verdict:
        """Returns what became of the name, written in a file of that folder of the working tree."""
        if named.kind == "path":
            return self._verdict_of_path(named, folder)
        return self._verdict_of_task(named.kind, named.text)

    def _verdict_of_path(self, named: Named, folder: Path) -> Verdict:
        path = named.text.removeprefix("./").strip("/")
        if any(is_there(start / path) for start in (folder, self._root)):
            return HOLDS
        if path in self._endings:
            return HOLDS
        if self._history is not None:
            is_ignored = self._history.is_ignored(path)
            return UNKNOWN if is_ignored else _removed(self._removal_of(path), UNKNOWN)
        first, _, rest = path.partition("/")
        is_beside = bool(rest) and any((start / first).is_dir() for start in (folder, self._root))
        return Verdict("missing") if named.is_linked or is_beside else UNKNOWN

    def _removal_of(self, path: str) -> Removal | None:
        """Returns when the path was removed, with the place that it has now after all renames."""
        assert self._history is not None
        first = latest = self._history.removal_of(path)
        visited = {path, ""}
        while latest and latest.moved_to not in visited and not self._exists(latest.moved_to):
            visited.add(latest.moved_to)
            latest = self._history.removal_of(latest.moved_to)
        moved_to = latest.moved_to if latest and self._exists(latest.moved_to) else ""
        return replace(first, moved_to=moved_to) if first else None

    def _exists(self, path: str) -> bool:
        return bool(path) and is_there(self._root / path)

    def _verdict_of_task(self, kind: NamedKind, name: str) -> Verdict:
        files = self.files_named(TASK_FILES[kind].names)
        tasks = self._tasks(kind)
        if name in tasks.names:
            return HOLDS
        if tasks.is_open or not files:
            return UNKNOWN
        if self._history is None:
            return Verdict("missing")
        line = TASK_FILES[kind].line.format(name.replace(".", r"\."))
        return _removed(self._history.removal_of_line(line, files), Verdict("missing"))

    def _read_tasks(self, kind: NamedKind) -> Tasks:
        return read_tasks(kind, self._root, self.files_named(TASK_FILES[kind].names))

    def files_named(self, names: Iterable[str]) -> list[str]:
        """Returns the files of these names, in any folder."""
        wanted = frozenset(names)
        return sorted(path for path in self._paths if path.rpartition("/")[2] in wanted)

    @cached_property
    def _paths(self) -> frozenset[str]:
        """The files that are tracked and there; of a folder without git, all."""
        if self._history is None:
            return frozenset(_listed(self._root))
        return frozenset(path for path in self._history.paths() if is_there(self._root / path))

    @cached_property
    def _endings(self) -> frozenset[str]:
        """The ends of these paths, and of their folders, from each folder on."""
        return frozenset(
            ending
            for path in self._paths
            for folder in (path, *_folders_of(path))
            for ending in (folder, *_without_first(folder))
        )


def _removed(removal: Removal | None, otherwise: Verdict) -> Verdict:
    if removal is None:
        return otherwise
    state = "moved" if removal.moved_to else "gone"
    return Verdict(state, removal.day, removal.commit, removal.moved_to)


def _folders_of(path: str) -> Iterator[str]:
    """Yields the folders that the path is in, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _without_first(path: str) -> Iterator[str]:
    """Yields the path without its first folder, its first two, and so on."""
    while "/" in path:
        path = path.partition("/")[2]
        yield path


def _listed(root: Path) -> Iterator[str]:
    """Yields the files below the folder, relative to it."""
    count = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - NOT_LISTED)
        for file in files:
            count += 1
            yield str((Path(folder) / file).relative_to(root))
        if count > MOST_FILES:
            return
