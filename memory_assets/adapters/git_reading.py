"""Reads the history of somebody's repository, and runs nothing that the repository says.

Its objects are read from an empty repository of our own that borrows them, so that no setting,
hook, filter or credential of theirs counts, and nothing is fetched. Only names and times are
returned.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from time import monotonic

from memory_assets.schema.protocols import Removal

SECONDS = 2.0
"""Most time that all questions to one repository take; those after it have no answer."""

_NO_SETTINGS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C.UTF-8",
}
_SAFE = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_OF_OTHERS = ("-c", "safe.directory=*")
"""Also a folder that another user owns, as in a container; nothing of it is run."""
_SHA256_DIGITS = 64


class GitReading:
    """What the history of one repository says, at its HEAD."""

    def __init__(self, root: Path, head: str, variables: dict[str, str]) -> None:
        self.root = root
        """The top of the working tree."""
        self._head = head
        self._variables = variables
        self._deadline = monotonic() + SECONDS

    def paths(self) -> frozenset[str]:
        """Returns the files of HEAD."""
        return frozenset(filter(None, self._git("ls-tree", "-rz", "--name-only", self._head)))

    def removal_of(self, path: str) -> Removal | None:
        """Returns when the file, or the last file of the folder, was removed; None if it never was
        there, or is not found in time. The path may lack its first folders.
        """
        pattern = f":(glob)**/{_literal(path.strip('/'))}"
        log = ("log", "-1", "--no-renames", "--diff-filter=D", "--format=%H %cs", "--name-only")
        listing = self._git(*log, "-z", self._head, "--", pattern, f"{pattern}/**")
        if len(listing) < 2:
            return None
        commit, _, day = listing[0].partition(" ")
        removed = listing[1].lstrip("\n")
        return Removal(commit, date.fromisoformat(day), self._new_path(commit, removed, path))

    def removal_of_line(self, expression: str, paths: Sequence[str]) -> Removal | None:
        """Returns the last commit that changed such a line of these files; None as above."""
        log = ("log", "-1", "--format=%H %cs", f"-G{expression}")
        listing = self._git(*log, "-z", self._head, "--", *paths)
        if not listing:
            return None
        commit, _, day = listing[0].strip().partition(" ")
        return Removal(commit, date.fromisoformat(day))

    def is_ignored(self, path: str) -> bool:
        """Returns whether the working tree's rules keep such a file out of the repository."""
        return bool(self._git("check-ignore", "--no-index", "--", path))

    def _new_path(self, commit: str, removed: str, asked: str) -> str:
        """Returns where the commit moved the file to; of a folder, where its files went."""
        options = ("--no-commit-id", "--name-status", "--diff-filter=R", "--root")
        entries = iter(self._git("diff-tree", "-r", "-z", "-M", *options, commit))
        for _, old, new in zip(entries, entries, entries, strict=False):
            if old == removed:
                rest = old.rpartition(asked.strip("/"))[2]
                return new.removesuffix(rest) if new.endswith(rest) else ""
        return ""

    def _git(self, *arguments: str) -> list[str]:
        """Returns what git prints, cut at zeros; nothing if it fails or is late."""
        remaining = self._deadline - monotonic()
        command = ["git", *_SAFE, *arguments]
        try:
            process = subprocess.run(
                command,
                cwd=self.root,
                env=self._variables,
                capture_output=True,
                timeout=max(remaining, 0.01),
            )
        except subprocess.TimeoutExpired:
            return []
        listing = process.stdout.decode("utf-8", "surrogateescape")
        return [part for part in listing.split("\0") if part] if not process.returncode else []


@contextmanager
def reading(folder: Path) -> Iterator[GitReading | None]:
    """Reads the repository that the folder is in; None where there is none with a commit."""
    asked = ("--show-toplevel", "--path-format=absolute", "--git-common-dir", "HEAD")
    answer = _asked(*_OF_OTHERS, "-C", str(folder), "rev-parse", *asked)
    if len(answer) != 3:
        yield None
        return
    root, common, head = answer
    with tempfile.TemporaryDirectory(prefix="memory-git-") as borrowed:
        kind = "sha256" if len(head) == _SHA256_DIGITS else "sha1"
        _asked("init", "--quiet", "--bare", "--template=", f"--object-format={kind}", borrowed)
        shallow = Path(common, "shallow")
        if shallow.exists():
            Path(borrowed, "shallow").write_bytes(shallow.read_bytes())
        objects = {"GIT_DIR": borrowed, "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{common}/objects"}
        variables = _environment() | objects | {"GIT_WORK_TREE": root}
        yield GitReading(Path(root), head, variables)


def _asked(*arguments: str) -> list[str]:
    try:
        process = subprocess.run(
            ["git", *_SAFE, *arguments], env=_environment(), capture_output=True, timeout=SECONDS
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return []
    answer = process.stdout.decode("utf-8", "surrogateescape")
    return answer.splitlines() if not process.returncode else []


def _environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return inherited | _NO_SETTINGS


def _literal(path: str) -> str:
    """Returns the path for a glob that means nothing but it."""
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in path)
