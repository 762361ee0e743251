"""Reads files of somebody's folder: regular ones within it, of each at most a megabyte."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class FileText:
    """The text of a file, and why it is not whole, if it is not."""

    text: str
    problem: str = ""

    @property
    def is_read(self) -> bool:
        """Whether at least its beginning is there."""
        return bool(self.text) or not self.problem


def read_text(root: Path, file: str) -> FileText:
    """Returns the text of the file below the folder; without waiting for one that has no end."""
    path = root / file
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
        return FileText("", "a link that leads out of the folder")
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return FileText("", "not a regular file")
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        return FileText("", str(error.strerror))
    if b"\0" in content:
        return FileText("", "not a text")
    problem = "only the first megabyte is read" if len(content) > MOST_BYTES else ""
    return FileText(content[:MOST_BYTES].decode("utf-8", "replace"), problem)


def is_there(path: Path) -> bool:
    """Returns whether the path exists, as far as this user may see."""
    try:
        return path.exists()
    except OSError:
        return False
