"""Looks names up in a repository: does what they name still hold, and if not, since when?

Where in doubt, a name holds or is unknown. Only what the history shows to have been there once is
gone; what was never tracked, such as `.env` or build output, is unknown. Without a history, what
is absent from a folder that is there is missing.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import cache, cached_property
from pathlib import Path

from memory_assets.schema.protocols import History, Removal
from memory_assets.stages.verify.contents import SearchedHistory, Trace, in_text
from memory_assets.stages.verify.file_reading import is_there
from memory_assets.stages.verify.kinds import verdict_of
from memory_assets.stages.verify.named import Named, NamedKind
from memory_assets.stages.verify.tasks import TASK_FILES, Tasks, read_tasks
from memory_assets.stages.verify.verdict import HOLDS, UNKNOWN, Verdict, removed

MOST_FILES = 50_000
"""Files of a folder without git that are listed."""

NOT_LISTED = frozenset({".git", "node_modules", ".venv", "venv", "target", "__pycache__"})


class Lookups:
    """Names looked up in one folder, with the history of its repository if it has one."""

    def __init__(self, root: Path, history: History | None) -> None:
        self._root = root
        self._history = history
        self._tasks = cache(self._read_tasks)
        self._verdicts = cache(verdict_of)

    def verdict(self, named: Named, folder: Path, written_on: date | None = None) -> Verdict:
        """Returns what became of the name, written in a file of that folder of the working tree,
        or on that day in a memory, which may also speak of another project.
        """
        if named.kind == "path":
            return self._verdict_of_path(named, folder)
        if named.kind in TASK_FILES:
            return self._verdict_of_task(named.kind, named.text, written_on)
        if self._history is None or self._history.is_incomplete:
            return UNKNOWN
        return self._verdicts(replace(named, line=0), self._history, written_on)

    def _verdict_of_path(self, named: Named, folder: Path) -> Verdict:
        path = _relative(named.text, self._root)
        if any(is_there(start / path) for start in (folder, self._root)):
            return HOLDS
        if path in self._endings:
            return HOLDS
        if self._history is not None:
            removal = self._removal_of(path)
            is_other = path.startswith("/") or (removal and self._history.is_ignored(path))
            return UNKNOWN if is_other else removed(removal, UNKNOWN)
        first, _, rest = path.partition("/")
        is_beside = bool(rest) and any((start / first).is_dir() for start in (folder, self._root))
        return Verdict("missing") if named.is_linked or is_beside else UNKNOWN

    def _removal_of(self, path: str) -> Removal | None:
        """Returns when the path was removed, with the place that it has now after all renames."""
        assert self._history is not None
        first = removal = latest = self._history.removal_of(path)
        visited = {path}
        while latest and latest.moved_to not in visited:
            removal = latest
            visited.add(latest.moved_to)
            if self._exists(latest.moved_to):
                return replace(first, moved_to=latest.moved_to) if first else None
            latest = self._history.removal_of(latest.moved_to) if latest.moved_to else None
        return replace(removal, moved_to="") if removal else None

    def _exists(self, path: str) -> bool:
        return path in self._endings or (bool(path) and is_there(self._root / path))

    def _verdict_of_task(self, kind: NamedKind, name: str, written_on: date | None) -> Verdict:
        files = self.files_named(TASK_FILES[kind].names)
        tasks = self._tasks(kind)
        if name.casefold() in map(str.casefold, tasks.names):
            return HOLDS
        absent = Verdict("missing") if files and written_on is None else UNKNOWN
        if tasks.is_open:
            return UNKNOWN
        if self._history is None:
            return absent
        line = re.compile(TASK_FILES[kind].line.format(re.escape(name)), re.MULTILINE)
        trace = Trace(in_text(line), in_text(line), name, tuple(TASK_FILES[kind].names))
        return removed(SearchedHistory(self._history).removal_of(trace), absent)

    def _read_tasks(self, kind: NamedKind) -> Tasks:
        return read_tasks(kind, self._root, self.files_named(TASK_FILES[kind].names))

    def files_named(self, names: Iterable[str]) -> list[str]:
        """Returns the files of these names, in any folder."""
        wanted = frozenset(names)
        files = (path for path in self._paths if path.rpartition("/")[2] in wanted)
        return sorted(path for path in files if is_there(self._root / path))

    @cached_property
    def _paths(self) -> frozenset[str]:
        """The files that are tracked; of a folder without git, all."""
        return self._history.paths() if self._history else frozenset(_listed(self._root))

    @cached_property
    def _endings(self) -> frozenset[str]:
        """The ends of these paths, and of their folders, from each folder on."""
        return frozenset(
            ending
            for path in self._paths
            for folder in (path, *_folders_of(path))
            for ending in (folder, *_without_first(folder))
        )


def _relative(path: str, root: Path) -> str:
    """Returns the path from the top of the repository on, where it begins above."""
    inside = path.removeprefix(f"{root}/").removeprefix("./")
    below = inside.removeprefix(f"{root.name}/")
    is_above = below != inside and not (root / root.name).exists()
    return (below if is_above else inside).rstrip("/")


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
