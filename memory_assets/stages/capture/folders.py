"""Walks the folders of transcripts: each real folder once, links as far as they stay inside.

Yields the files whose names may be those of transcripts. What is not searched is noted with the
reason. Which of the files are transcripts is decided in `discover`.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from stat import S_ISDIR

from memory_assets.errors import TranscriptError

DEEPEST = 12
"""Levels of folders that are searched below a configured one; from a home folder to sub-agents of
Claude Code there are 7.
"""

_SKIPPED_FOLDERS = frozenset({"node_modules", ".git", ".venv", "tool-results", "__pycache__"})


class FolderWalk:
    """A search of configured folders; a link that leads out of all of them is not followed."""

    def __init__(self, tops: Sequence[Path], is_candidate: Callable[[str], bool]) -> None:
        self._roots = [Path(os.path.realpath(top)) for top in tops]
        self._is_candidate = is_candidate
        self.skipped: dict[Path, str] = {}
        """Links and folders that are not followed or cannot be read, with the reason."""

    def files(self, top: Path) -> Iterator[Path]:
        """Yields the candidates in and below the folder, or the file itself.

        Raises `TranscriptError` if the folder itself cannot be read.
        """
        try:
            is_folder = S_ISDIR(top.stat().st_mode)
        except OSError as error:
            raise _folder_error(top, error) from error
        if not is_folder:
            yield top
            return
        for parent, names in self._folders(top):
            for name in names:
                path = f"{parent}{os.sep}{name}"
                is_wanted = self._is_candidate(path) or _is_lost_folder(name, path)
                if is_wanted and self._is_followed(Path(path)):
                    yield Path(path)

    def _folders(self, top: Path) -> Iterator[tuple[str, list[str]]]:
        """Yields each folder once, with the names of its files; those behind links come last."""

        def fail(error: OSError) -> None:
            """Notes a folder that cannot be read."""
            if error.filename == str(top):
                raise _folder_error(top, error) from error
            self.skipped[Path(error.filename)] = f"this folder cannot be read: {error.strerror}"

        visited: set[str] = set()
        starts = [top]
        while starts:
            for parent, folders, names in os.walk(starts.pop(0), onerror=fail):
                real_parent = os.path.realpath(parent)
                is_deepest = len(Path(parent).parts) - len(top.parts) == DEEPEST
                is_ended = is_deepest or real_parent in visited
                searched = [] if is_ended else folders
                folders[:] = [name for name in searched if name not in _SKIPPED_FOLDERS]
                links = filter(_is_link, [Path(parent, name) for name in folders])
                starts += filter(self._is_followed, links)
                if real_parent not in visited:
                    yield parent, names
                visited.add(real_parent)

    def _is_followed(self, path: Path) -> bool:
        """Returns whether the path is no link, or one that stays inside; others are noted."""
        if not _is_link(path):
            return True
        try:
            path.stat()
        except OSError as error:
            self.skipped[path] = f"it is a link that cannot be followed: {error.strerror}"
            return False
        place = Path(os.path.realpath(path))
        is_inside = any(place.is_relative_to(root) for root in self._roots)
        if not is_inside:
            self.skipped[path] = (
                f"it is a link to {place}, outside of the folders that are searched; move that "
                "here, or name it in MEMORY_SOURCES beside the others"
            )
        return is_inside


def _is_lost_folder(name: str, path: str) -> bool:
    """Returns whether it is a link to nothing, which may have been a folder of transcripts."""
    return "." not in name and _is_link(Path(path)) and not Path(path).is_file()


def _is_link(path: Path) -> bool:
    """Returns whether it is a link; False also for what cannot be looked at.

    Windows raises `ValueError` for a file of another kind in the place of a link.
    """
    try:
        path.readlink()
    except (OSError, ValueError):
        return False
    return True


def _folder_error(path: Path, error: OSError) -> TranscriptError:
    is_missing = isinstance(error, FileNotFoundError)
    why = "does not exist" if is_missing else f"cannot be read ({error.strerror})"
    return TranscriptError(
        f"The transcript path {path} {why}. Correct or remove it in MEMORY_SOURCES, or "
        "grant reading."
    )
