"""The workspace under git: every promotion is a commit, and what a person wrote by hand is committed before we write.

git runs with its own identity and without the user's settings, hooks, signatures or line-ending conversions, so that bytes
stay as they are. History is only ever added to.
"""

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_assets.errors import StoreError
from memory_assets.files import make_folder, write_atomically

OURS = ("memory_assets", "memory_assets@localhost")
ATTRIBUTES = "* -text\n"
IGNORED = "/briefing.md\n.*.tmp\n"
"""The briefing is derived and changes with every day; temporary files are ours."""


@dataclass(frozen=True)
class Commit:
    """One commit of the workspace."""

    id: str
    author: str
    at: datetime
    message: str


class GitWorkspace:
    """Commits and reads back the files of one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> None:
        """Makes the repository where there is none; raises `StoreError` where git is missing."""
        make_folder(self.root)
        if (self.root / ".git").is_dir():
            return
        self._git("init", "--quiet", "--initial-branch=main")
        write_atomically(self.root / ".gitattributes", ATTRIBUTES.encode())
        write_atomically(self.root / ".gitignore", IGNORED.encode())
        self.commit("Begin the workspace", [".gitattributes", ".gitignore"])

    def commit(self, message: str, paths: Sequence[str], *, author: str | None = None) -> str | None:
        """Commits the files as they lie on disk and returns the commit, or None when nothing changed."""
        present = [path for path in paths if (self.root / path).exists() or self.at_head(path) is not None]
        if not present:
            return None
        self._git("add", "--all", "--", *present)
        if self._git("diff", "--cached", "--quiet", "--", *present, may_fail=True).returncode == 0:
            return None
        name = author or OURS[0]
        mail = OURS[1] if author is None else f"{author}@localhost"
        self._git("commit", "--quiet", "--no-verify", "-m", message, f"--author={name} <{mail}>", "--", *present)
        return self.head()

    def commit_by_hand(self, paths: Sequence[str], owner: str) -> str | None:
        """Commits what a person changed in the files since our last commit, in their name."""
        return self.commit("Edited by hand", paths, author=owner)

    def head(self) -> str | None:
        """Returns the id of the last commit."""
        found = self._git("rev-parse", "--verify", "--quiet", "HEAD", may_fail=True)
        return found.stdout.decode().strip() or None

    def at_head(self, path: str) -> bytes | None:
        """Returns the file as last committed, or None where it never was."""
        found = self._git("cat-file", "blob", f"HEAD:{path}", may_fail=True)
        return found.stdout if found.returncode == 0 else None

    def history(self, path: str, limit: int = 1_000) -> list[Commit]:
        """Returns the commits that touched the file, newest first."""
        found = self._git("log", f"-{limit}", "-z", "--format=%H%x1f%an%x1f%aI%x1f%B", "--", path, may_fail=True)
        return [_commit(entry) for entry in found.stdout.decode("utf-8", "replace").split("\0") if entry.strip()]

    def commit_of_line(self, path: str, number: int) -> Commit | None:
        """Returns the commit that brought the line (from 1) of the file as committed, or None where there is none."""
        blamed = self._git("blame", "--porcelain", "-L", f"{number},{number}", "HEAD", "--", path, may_fail=True)
        if blamed.returncode != 0 or not blamed.stdout:
            return None
        id = blamed.stdout.split(b" ", 1)[0].decode()
        found = self._git("show", "-s", "--format=%H%x1f%an%x1f%aI%x1f%B", id)
        return _commit(found.stdout.decode("utf-8", "replace"))

    def lines_lost_by_us(self, path: str, lost: Callable[[bytes, bytes], list[bytes]], limit: int = 50) -> list[tuple[str, int]]:
        """Returns our last commits of the file that lost lines of the version before, with how many; `lost` compares two."""
        found = []
        for commit in self.history(path, limit):
            if commit.author != OURS[0]:
                continue
            before = self._git("cat-file", "blob", f"{commit.id}^:{path}", may_fail=True)
            after = self._git("cat-file", "blob", f"{commit.id}:{path}", may_fail=True)
            if before.returncode == 0 and (gone := lost(before.stdout, after.stdout)):
                found.append((commit.id, len(gone)))
        return found

    def _git(self, *arguments: str, may_fail: bool = False) -> subprocess.CompletedProcess[bytes]:
        options = ["-c", "core.autocrlf=false", "-c", "commit.gpgsign=false", "-c", f"core.hooksPath={os.devnull}", "-c", "gc.auto=0"]
        try:
            done = subprocess.run(["git", *options, *arguments], cwd=self.root, env=_environment(), capture_output=True, check=False)
        except FileNotFoundError as error:
            raise StoreError("git is not installed, and the history of MEMORY.md is kept with it. Install git, then try again.") from error
        if done.returncode != 0 and not may_fail:
            problem = done.stderr.decode("utf-8", "replace").strip()[:500]
            raise StoreError(f"git {arguments[0]} failed in {self.root}: {problem}. Mend the repository there, then try again.")
        return done


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": OURS[0],
        "GIT_AUTHOR_EMAIL": OURS[1],
        "GIT_COMMITTER_NAME": OURS[0],
        "GIT_COMMITTER_EMAIL": OURS[1],
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
    }


def _commit(entry: str) -> Commit:
    id, author, at, message = entry.strip("\n").split("\x1f", 3)
    return Commit(id, author, datetime.fromisoformat(at), message.strip())
