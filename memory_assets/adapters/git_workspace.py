"""The workspace under git: every promotion is a commit, and what a person wrote by hand is committed before we write.

git runs with its own identity and without the user's settings, hooks, signatures, ignore rules or line-ending conversions, so
that bytes stay as they are; a push alone asks the user's settings, for who they are at the remote. Our own commits hold exactly
the bytes we wrote, whatever lies on disk by then; what differs is a person's, and is committed in their name. History is only
ever added to (what is forgotten with it apart: `git_history`).
"""

import hashlib
import os
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_assets.errors import StoreError
from memory_assets.text.files import bytes_of, make_folder, write_atomically

OURS = ("memory_assets", "memory_assets@localhost")
ATTRIBUTES = "* -text\n"
IGNORED = "/briefing.md\n/briefings/\n.*.tmp\n"
"""The briefing is derived and changes with every day; temporary files are ours."""

BRANCH = "main"
ABANDONED_SECONDS = 5.0
"""git holds its lock files for milliseconds; one as old as this was left behind by a killed process."""

PUSH_SECONDS = 60.0
"""A triage waits no longer for a remote."""

_OPTIONS = {
    "core.autocrlf": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "commit.gpgsign": "false",
    "gc.auto": "0",
}
_FORMAT = "--format=%H%x1f%an%x1f%aI%x1f%B"


@dataclass(frozen=True)
class Commit:
    """One commit of the workspace."""

    id: str
    author: str
    at: datetime
    message: str

    @property
    def is_ours(self) -> bool:
        """Whether we wrote it, and not a person."""
        return self.author == OURS[0]


class GitWorkspace:
    """Commits and reads back the files of one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> None:
        """Makes the repository where there is none, and brings back a wiped working tree; raises `StoreError` without git."""
        make_folder(self.root)
        if not (self.root / ".git").is_dir():
            self._git("init", "--quiet", "--template=", f"--initial-branch={BRANCH}")
        if self.at_head(".gitattributes") is None:
            write_atomically(self.root / ".gitattributes", ATTRIBUTES.encode())
            write_atomically(self.root / ".gitignore", IGNORED.encode())
            self.commit("Begin the workspace", [".gitattributes", ".gitignore"])
        elif not (self.root / ".gitattributes").exists():
            self.restore(self.missing())

    def commit(self, message: str, paths: Sequence[str], *, author: str | None = None) -> str | None:
        """Commits the files as they lie on disk and returns the commit, or None when nothing changed."""
        return self.commit_content(message, {path: bytes_of(self.root / path) for path in paths}, author=author)

    def commit_by_hand(self, paths: Sequence[str], owner: str) -> str | None:
        """Commits what a person changed in the files since our last commit, in their name."""
        return self.commit("Edited by hand", paths, author=owner)

    def commit_content(self, message: str, contents: Mapping[str, bytes | None], *, author: str | None = None) -> str | None:
        """Commits the files with exactly this content (None: deleted), whatever lies on disk; None when nothing changed."""
        committed = self._blobs()
        changed = {path: content for path, content in contents.items() if committed.get(path) != _blob_id(content)}
        if not changed:
            return None
        parent, index = self.head(), {"GIT_INDEX_FILE": str(self.root / ".git" / "memory_assets.index")}
        entries = b"".join(self._index_entry(path, content) for path, content in sorted(changed.items()))
        self._git("read-tree", *([parent] if parent else ["--empty"]), variables=index)
        self._git("update-index", "-z", "--index-info", given=entries, variables=index)
        tree = self._git("write-tree", variables=index).stdout.decode().strip()
        commit = self._commit_tree(tree, parent, message, author)
        # A person who asks `git status` is told the truth by the ordinary index alone. It comes first: a kill in between
        # leaves the content staged, and the same commit, made again by the next run, mends it.
        self._git("update-index", "-z", "--index-info", given=entries)
        self._git("update-ref", "-m", "commit", "HEAD", commit, *([parent] if parent else []))
        return commit

    def head(self) -> str | None:
        """Returns the id of the last commit."""
        found = self._git("rev-parse", "--verify", "--quiet", "HEAD", may_fail=True)
        return found.stdout.decode().strip() or None

    def paths(self) -> list[str]:
        """Returns the committed files."""
        return list(self._blobs())

    def at_head(self, path: str) -> bytes | None:
        """Returns the file as last committed, or None where it never was."""
        found = self._git("cat-file", "blob", f"HEAD:{path}", may_fail=True)
        return found.stdout if found.returncode == 0 else None

    def as_of(self, path: str, moment: datetime) -> bytes | None:
        """Returns the file as it was committed at the moment, or first after it; None where it never was."""
        commits = self.history(path)
        if not commits:
            return None
        last = next((commit for commit in commits if commit.at <= moment), commits[-1])
        found = self._git("cat-file", "blob", f"{last.id}:{path}", may_fail=True)
        return found.stdout if found.returncode == 0 else b""

    def missing(self) -> list[str]:
        """Returns the committed files that are not on disk."""
        return [path for path in self._blobs() if not (self.root / path).exists()]

    def restore(self, paths: Sequence[str]) -> None:
        """Writes the files to disk as last committed."""
        for path in paths:
            content = self.at_head(path)
            if content is not None:
                write_atomically(self.root / path, content)

    def history(self, path: str, limit: int = 1_000_000) -> list[Commit]:
        """Returns the commits that touched the file, newest first."""
        found = self._git("log", f"-{limit}", "-z", _FORMAT, "--", path, may_fail=True)
        return [_commit(entry) for entry in found.stdout.decode("utf-8", "replace").split("\0") if entry.strip()]

    def commit_of_line(self, path: str, number: int) -> Commit | None:
        """Returns the commit that brought the line (from 1) of the file on disk; None where it is not committed yet."""
        blamed = self._git("blame", "--porcelain", "-L", f"{number},{number}", "--", path, may_fail=True)
        if blamed.returncode != 0 or not blamed.stdout:
            return None
        id = blamed.stdout.split(b" ", 1)[0].decode()
        if not id.strip("0"):
            return None
        return _commit(self._git("show", "-s", _FORMAT, id).stdout.decode("utf-8", "replace"))

    def push(self, remote: str) -> str | None:
        """Pushes the history to the remote and returns what stood in the way, or nothing; never pulls, never forces."""
        if self.head() is None:
            return None
        arguments = ("push", "--quiet", "--no-verify", remote, f"HEAD:refs/heads/{BRANCH}")
        users = {name: os.environ[name] for name in ("GIT_CONFIG_GLOBAL",) if name in os.environ}
        try:
            done = self._run(arguments, None, users, without=("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"), seconds=PUSH_SECONDS)
        except subprocess.TimeoutExpired:
            return f"{remote} did not answer within {PUSH_SECONDS:.0f} s; the next triage pushes again."
        if done.returncode == 0:
            return None
        problem = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"The history could not be pushed to {remote}: {problem[0][:300] if problem else 'git gave no reason'}."

    def lines_lost_by_us(
        self, path: str, lost: Callable[[bytes, bytes], list[bytes]], limit: int = 50
    ) -> list[tuple[str, list[bytes]]]:
        """Returns our last commits of the file that lost lines of the version before, with those; `lost` compares two."""
        found = []
        for commit in self.history(path, limit):
            if not commit.is_ours:
                continue
            before = self._git("cat-file", "blob", f"{commit.id}^:{path}", may_fail=True)
            after = self._git("cat-file", "blob", f"{commit.id}:{path}", may_fail=True)
            if before.returncode == 0 and (gone := lost(before.stdout, after.stdout)):
                found.append((commit.id, gone))
        return found

    def _blobs(self) -> dict[str, str]:
        """Returns the committed files with the ids of their contents."""
        listed = self._git("ls-tree", "-r", "-z", "HEAD", may_fail=True).stdout.decode("utf-8", "surrogateescape")
        pairs = (entry.split("\t", 1) for entry in listed.split("\0") if entry)
        return {path: described.split(" ")[2] for described, path in pairs}

    def _index_entry(self, path: str, content: bytes | None) -> bytes:
        """Returns the line of `update-index --index-info` that stages the content, written as an object first."""
        if content is None:
            return b"0 " + b"0" * 40 + f"\t{path}\0".encode("utf-8", "surrogateescape")
        blob = self._git("hash-object", "-w", "--no-filters", "--stdin", given=content).stdout.strip()
        return b"100644 " + blob + f"\t{path}\0".encode("utf-8", "surrogateescape")

    def _commit_tree(self, tree: str, parent: str | None, message: str, author: str | None) -> str:
        name = author or OURS[0]
        variables = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": OURS[1] if author is None else f"{author}@localhost"}
        parents = ["-p", parent] if parent else []
        made = self._git("commit-tree", tree, *parents, given=message.strip().encode() + b"\n", variables=variables)
        return made.stdout.decode().strip()

    def _git(
        self, *arguments: str, may_fail: bool = False, given: bytes | None = None, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        done = self._run(arguments, given, variables or {})
        if done.returncode != 0 and b".lock': File exists" in done.stderr:
            self._clear_abandoned_locks()
            done = self._run(arguments, given, variables or {})
        if done.returncode != 0 and not may_fail:
            problem = done.stderr.decode("utf-8", "replace").strip()[:500]
            raise StoreError(f"git {arguments[0]} failed in {self.root}: {problem}. Mend the repository there, then try again.")
        return done

    def _run(
        self,
        arguments: Sequence[str],
        given: bytes | None,
        variables: Mapping[str, str],
        *,
        without: Collection[str] = (),
        seconds: float | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        own = {name: value for name, value in self._environment().items() if name not in without}
        options = [word for name, value in _OPTIONS.items() for word in ("-c", f"{name}={value}")]
        try:
            return subprocess.run(
                ["git", *options, *arguments],
                cwd=self.root,
                env={**own, **variables},
                input=given or b"",
                capture_output=True,
                check=False,
                timeout=seconds,
            )
        except FileNotFoundError as error:
            if not self.root.is_dir():
                return subprocess.CompletedProcess(arguments, 128, b"", f"{self.root} does not exist".encode())
            raise StoreError(
                "git is not installed, and the history of MEMORY.md is kept with it. Install git, then try again."
            ) from error

    def _clear_abandoned_locks(self) -> None:
        """Waits for git's own lock files to go, and removes those that a killed process left behind."""
        for lock in [*(self.root / ".git").glob("*.lock"), *(self.root / ".git" / "refs").rglob("*.lock")]:
            deadline = time.monotonic() + ABANDONED_SECONDS
            while lock.exists() and time.monotonic() < deadline and time.time() - lock.stat().st_mtime < ABANDONED_SECONDS:
                time.sleep(0.05)
            lock.unlink(missing_ok=True)

    def _environment(self) -> dict[str, str]:
        """Returns the environment of git: this repository and no other, however deep in another one it lies."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return {
            **kept,
            "GIT_DIR": str(self.root / ".git"),
            "GIT_WORK_TREE": str(self.root),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": OURS[0],
            "GIT_AUTHOR_EMAIL": OURS[1],
            "GIT_COMMITTER_NAME": OURS[0],
            "GIT_COMMITTER_EMAIL": OURS[1],
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C.UTF-8",
        }


def _blob_id(content: bytes | None) -> str | None:
    """Returns the id that git gives the content."""
    return None if content is None else hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _commit(entry: str) -> Commit:
    id, author, at, message = entry.strip("\n").split("\x1f", 3)
    return Commit(id, author, datetime.fromisoformat(at), message.strip())
