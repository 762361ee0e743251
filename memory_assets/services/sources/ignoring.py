"""Decides which transcripts are left out on purpose: those that the owner's `.memoryignore` names,
and those that their harness marked.

`.memoryignore` has the syntax of `.gitignore` and lies in the home folder or in the user's
configuration folder; never in a working folder, which may be a stranger's (docs/decisions.md).
Patterns are compared with the folder in which the session began. If the transcript names no such
folder, they are compared with its own path. Both are relative to the home folder if they are in it.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from memory_assets.errors import SettingsError
from memory_assets.harnesses.damaged_lines import records_in
from memory_assets.harnesses.harness_list import HARNESSES
from memory_assets.harnesses.readers import HEADER_LINES, folder_of, open_reader, origin_of
from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.capture.discover import TranscriptFile, harness_of
from memory_assets.store.places import home_folder, user_settings_file
from memory_assets.store.settings import Settings

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

FILE = ".memoryignore"
MARKED = "marked by {} as not for memory"
"""The reason for leaving out a session that its harness marked."""
ORIGIN_LINES = 5
"""First lines of a transcript that name the session it came from."""


@dataclass(frozen=True)
class IgnoreFile:
    """A `.memoryignore` and its patterns."""

    path: Path
    lines: tuple[str, ...]
    spec: "GitIgnoreSpec"

    def pattern_for(self, path: str) -> str | None:
        """Returns the pattern that excludes the path; None if none does, or a later one includes it
        again.
        """
        result = self.spec.check_file(path)
        if not result.include or result.index is None:
            return None
        return self.lines[result.index].strip()


@dataclass(frozen=True)
class IgnoreRules:
    """What is left out on this machine."""

    files: tuple[IgnoreFile, ...]
    homes: tuple[str, ...]
    """The home folder as it is named, and as it is once links are followed."""
    honours_marks: bool

    def reasons_for(self, files: Iterable[TranscriptFile]) -> dict[TranscriptFile, str]:
        """Returns why transcripts are left out, by file.

        The sub-agents and forks of a session that is left out are left out too, wherever they ran.
        """
        own_reasons = {file: self._reason_for(file) for file in files}
        reasons = {file: reason for file, reason in own_reasons.items() if reason}
        children: dict[str, list[TranscriptFile]] = defaultdict(list)
        for file in own_reasons if reasons else ():
            children[_origin(file)[1] or ""].append(file)
        waiting = [*reasons]
        while waiting:
            parent = waiting.pop()
            for child in children.pop(_origin(parent)[0], ()):
                reasons.setdefault(child, reasons[parent])
                waiting.append(child)
        return reasons

    def _reason_for(self, file: TranscriptFile) -> str | None:
        """Returns why the transcript itself is left out; None if it is not."""
        heeds_mark = self.honours_marks and HARNESSES[file.harness].is_not_for_memory
        if not self.files and not heeds_mark:
            return None
        path = str(file.path)
        return self._reason(*_header(path, file.inode, file), path, file.harness)

    def reason_for_archived(
        self, path: str, harness: Harness, first_lines: Iterable[bytes], place: str
    ) -> str | None:
        """Returns why an archived transcript would be left out today; None if it would not.

        `place` is the working folder where the records do not name it.
        """
        folder, is_marked = _header_in(first_lines, path, harness)
        return self._reason(folder or place, is_marked, path, harness)

    def _reason(self, folder: str, is_marked: bool, path: str, harness: Harness) -> str | None:
        mark = MARKED.format(HARNESSES[harness].title)
        return self._match(folder, path) or (mark if is_marked and self.honours_marks else None)

    def ignores(self, path: Path, sessions: str) -> bool:
        """Returns whether a harness's memory file is left out, because its path is, or because the
        transcripts in the folder `sessions` are. If that is empty, only the path counts.
        """
        if not self.files:
            return False
        folder = _folder_of_sessions(Path(sessions)) if sessions else ""
        return self._match(folder, str(path)) is not None

    def ignores_folder(self, folder: str) -> bool:
        """Returns whether sessions in the working folder are left out."""
        return self._match(folder, "") is not None

    def _match(self, folder: str, path: str) -> str | None:
        """Returns in words the pattern that excludes the working folder, or else the path.

        A folder is compared as a file in it, so that the pattern `acme/` matches.
        """
        relative_path = self._relative(f"{folder}/session" if folder else path)
        for file in self.files:
            pattern = file.pattern_for(relative_path)
            if pattern:
                return f"by `{pattern}` in {file.path}"
        return None

    def _relative(self, path: str) -> str:
        home = next((home for home in self.homes if path.startswith(home + os.sep)), "")
        return path.removeprefix(home).replace(os.sep, "/").lstrip("/")


def read_ignore_rules(settings: Settings) -> IgnoreRules:
    """Returns the rules; raises `SettingsError` for a file that cannot be read or has an invalid
    pattern.
    """
    home = home_folder()
    homes = tuple(dict.fromkeys((home, os.path.realpath(home))))
    files = tuple(filter(None, map(_read, ignore_paths())))
    return IgnoreRules(files, homes, settings.harness_opt_outs)


def ignore_paths() -> tuple[Path, Path]:
    """Returns the places of the file, whether or not it exists."""
    return Path(home_folder()) / FILE, Path(user_settings_file()).with_name(FILE)


def ignored_files_of_projects(folders: Iterable[str]) -> list[Path]:
    """Returns the files of that name in these folders, which have no effect."""
    read = {path.resolve() for path in ignore_paths()}
    paths = sorted(Path(folder) / FILE for folder in folders if folder)
    return [path for path in paths if path.is_file() and path.resolve() not in read]


def _read(path: Path) -> IgnoreFile | None:
    if not path.is_file():
        return None
    try:
        all_lines = path.read_text("utf-8-sig").splitlines()
        lines = tuple(line for line in all_lines if line.strip() and not line.startswith("#"))
        return IgnoreFile(path, lines, _spec_of(lines))
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"Cannot use {path}: {error}. Fix the file; until then nothing is read."
        ) from error


@lru_cache(maxsize=8)
def _spec_of(lines: Sequence[str]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


@lru_cache(maxsize=100_000)
def _header(path: str, inode: int, file: TranscriptFile) -> tuple[str, bool]:
    """Returns the working folder in which the session began, which may be empty, and whether its
    harness marked it. The inode is part of the cache's key.
    """
    try:
        with file.open() as stream:
            folder, is_marked = _header_in(stream, path, file.harness)
            return folder or folder_of(file.harness, path), is_marked
    except (OSError, EOFError):
        return "", False  # the intake reports files that cannot be read


@lru_cache(maxsize=100_000)
def _origin(file: TranscriptFile) -> tuple[str, str | None]:
    """Returns the session in the file, and its parent: the one it was forked from or spawned by."""
    try:
        lines = file.first_lines(ORIGIN_LINES)
    except (OSError, EOFError):
        lines = []
    return origin_of(file.harness, str(file.path), lines)


def _header_in(lines: Iterable[bytes], path: str, harness: Harness) -> tuple[str, bool]:
    """Returns the working folder in which the session began, and whether its harness marked it."""
    reader = open_reader(harness, path, session_id=path)
    is_marked = HARNESSES[harness].is_not_for_memory
    for record in chain.from_iterable(map(records_in, islice(lines, HEADER_LINES))):
        folder = reader.read_record(dict(record)).cwd
        if folder:
            return folder, bool(is_marked and is_marked(record))
    return "", False


def _folder_of_sessions(sessions: Path) -> str:
    """Returns the working folder of the first transcript in the folder; empty where there is
    none.
    """
    for path in sorted(sessions.glob("*.jsonl")):
        harness = harness_of(path)
        if harness:
            file = TranscriptFile(path, harness, 0, 0, path.stat().st_ino)
            return _header(str(path), file.inode, file)[0]
    return ""
