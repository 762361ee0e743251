"""Chooses the file of a project that lines are published into, reads it and replaces it.

AGENTS.md or CLAUDE.md, whichever there is; of both, the one that is more than a link to the other
or an import of it. A link that leads out of the project is refused.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from memory_assets.errors import ReviewError
from memory_assets.stages.verify.file_reading import read_text
from memory_assets.text.files import replace_if_same
from memory_assets.text.published_block import BEGIN

NAMES = ("AGENTS.md", "CLAUDE.md")
NEW_MODE = 0o644


@dataclass(frozen=True)
class TargetFile:
    """The file of this name, which is at `path` if the name is a link."""

    root: Path
    name: str
    path: Path
    content: bytes

    def replace(self, content: bytes) -> None:
        """Writes the file; raises `ReviewError` if it cannot be written, or changed meanwhile."""
        is_there = self.path.exists()
        mode = self.path.stat().st_mode & 0o777 if is_there else NEW_MODE
        problem = "" if mode & 0o222 else "it is read-only; `chmod u+w` lets you write it"
        try:
            expected = self.content if is_there else None
            if not problem and not replace_if_same(self.path, expected, content, mode):
                problem = "it was changed in the meantime; publish again"
        except OSError as error:
            problem = str(error.strerror)
        if problem:
            raise ReviewError(f"Cannot write {self.path}: {problem}. It was left as it was.")


def choose_file(root: Path) -> str:
    """Returns the name of the file to publish into."""
    texts = {name: read_text(root, name).text for name in NAMES if os.path.lexists(root / name)}
    whole = [name for name in texts if not _is_only(root, name, texts)]
    marked = [name for name in whole if BEGIN in texts[name]]
    return next(iter([*marked, *whole, *texts, *NAMES]))


def open_file(root: Path, name: str) -> TargetFile:
    """Returns the file with its content; raises `ReviewError` if it cannot be published into."""
    path = Path(os.path.realpath(root / name))
    content = b""
    problem = ""
    if Path(os.path.realpath(root / ".git")) in path.parents:
        problem = "a link that leads out of the folder"
    elif os.path.lexists(root / name):
        file = read_text(root, name)
        content = b"" if file.problem else path.read_bytes()
        is_text = file.text.encode() == content
        problem = file.problem or ("" if is_text else "not a text in UTF-8")
    elif not path.is_relative_to(os.path.realpath(root)):
        problem = "a link that leads out of the folder"
    if problem:
        raise ReviewError(f"Cannot publish into {root / name}: {problem}.")
    return TargetFile(root, name, path, content)


def _is_only(root: Path, name: str, texts: dict[str, str]) -> bool:
    """Returns whether the file is only a link to another one or an import of it."""
    others = [other for other in texts if other != name]
    is_link = (root / name).is_symlink() and (root / name).resolve() in map(
        root.resolve().joinpath, others
    )
    return is_link or texts[name].strip().replace("./", "") in [f"@{other}" for other in others]
