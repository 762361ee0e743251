"""The workspace under git: every promotion is a commit, and edits by hand are committed before we
write.

git runs under this program's name and without the user's settings, hooks, signatures, ignore rules
or line-ending conversions, so that bytes are unchanged. Only `push` and `git_remote` read the
user's settings, to authenticate. Our commits contain exactly the bytes that we wrote, even if a
file on disk has changed since; other changes are committed in the person's name. Commits are only
added; forgetting alone rewrites them (`git_history`).
"""

import hashlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memory_assets.errors import SettingsError, StoreError
from memory_assets.text.files import bytes_of, make_folder, write_atomically

OUR_NAME = "memory_assets"
"""Author of our commits."""

ATTRIBUTES = "* -text\n"
IGNORED = "/briefing.md\n/briefings/\n.*.tmp\n"
"""Briefings, which are derived and change every day, and our temporary files."""

BRANCH = "main"
ABANDONED_SECONDS = 5.0
"""Age from which a lock file of git counts as left by a killed process: git holds one for
milliseconds.
"""

LATEST_COMMITS = 50
"""Commits of a file that are searched for lines that we removed."""

PUSH_SECONDS = 60.0
"""Timeout of a push."""

TRANSPORTS = "file:git:http:https:ssh"
"""Transports that git may use. Others, such as `ext::` and `fd::`, run a command that the address
names.
"""

_FOLDER = re.compile(r"(?:file://)?(?:/|~/|\.{1,2}/|[A-Za-z]:[\\/])[^\0]*")
_REMOTE = re.compile(
    rf"(?:git|https?|ssh)://[^\s/-]\S*|(?:[\w.+-]+@)?\w[\w.-]*:(?!:|//)[^\s:-]\S*|{_FOLDER.pattern}"
)
"""A URL of these transports, `user@host:path`, or a path."""

_OPTIONS = {
    **dict.fromkeys(("core.autocrlf", "core.fsmonitor", "core.quotePath"), "false"),
    **dict.fromkeys(("core.attributesFile", "core.excludesFile", "core.hooksPath"), os.devnull),
    "commit.gpgsign": "false",
    "gc.auto": "0",
}
_ENVIRONMENT = {
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), OUR_NAME),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), f"{OUR_NAME}@localhost"),
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git's id of a folder without files."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
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
        """Whether this program is the author, and not a person."""
        return self.author == OUR_NAME


@dataclass(frozen=True)
class ChangedLine:
    """A line that a range of commits added to a file or removed from it."""

    path: str
    line: int
    """Its number, from 1; of a removed line, its number before."""
    is_added: bool
    text: str
    commit: str = ""
    """Beginning of the id of the commit that changed it."""


def check_remote(remote: str) -> None:
    """Raises `SettingsError` for an address that could run a command or be taken for an option of
    git.
    """
    if not _REMOTE.fullmatch(remote):
        raise SettingsError(
            f"MEMORY_REMOTE {remote[:80]!r} is not an address to push to. Use https://…, "
            "ssh://…, user@host:path or a folder."
        )


class GitWorkspace:
    """Commits and reads the files of one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> None:
        """Creates the repository if there is none and restores a deleted working tree; raises
        `StoreError` without git.
        """
        make_folder(self.root)
        if not (self.root / ".git").is_dir():
            self._git("init", "--quiet", "--template=", f"--initial-branch={BRANCH}")
        if self.at_head(".gitattributes") is None:
            write_atomically(self.root / ".gitattributes", ATTRIBUTES.encode())
            write_atomically(self.root / ".gitignore", IGNORED.encode())
            self.commit("Begin the workspace", [".gitattributes", ".gitignore"])
        elif not (self.root / ".gitattributes").exists():
            self.restore(self.missing())

    def commit(
        self, message: str, paths: Sequence[str], *, author: str | None = None
    ) -> str | None:
        """Commits the files as they are on disk; returns the commit, None if nothing changed."""
        contents = {path: bytes_of(self.root / path) for path in paths}
        return self.commit_content(message, contents, author=author)

    def commit_by_hand(self, paths: Sequence[str], owner: str) -> str | None:
        """Commits a person's changes of the files since our last commit, in their name."""
        return self.commit("Edited by hand", paths, author=owner)

    def commit_content(
        self, message: str, contents: Mapping[str, bytes | None], *, author: str | None = None
    ) -> str | None:
        """Commits the files with exactly this content (None: deleted), whatever is on disk; returns
        the commit, None if nothing changed.
        """
        blobs = self._blobs()
        changed = {
            path: content
            for path, content in sorted(contents.items())
            if blobs.get(path) != _blob_id(content)
        }
        if not changed:
            return None
        parent = self.head()
        entries = b"".join(self._index_entry(*file) for file in changed.items())
        parents = [parent] if parent else []
        commit = self._commit_tree(entries, parents, message, author)
        # `git status` reads the ordinary index, which is updated before HEAD: after a kill between
        # the two, the content is staged, and the next run makes the same commit.
        self._git("update-index", "-z", "--index-info", stdin=entries)
        self._git("update-ref", "-m", "commit", "HEAD", commit, *parents)
        return commit

    def head(self) -> str | None:
        """Returns the id of the last commit; None if there is none."""
        process = self._git("rev-parse", "--verify", "--quiet", "HEAD", may_fail=True)
        return process.stdout.decode().strip() or None

    def paths(self) -> list[str]:
        """Returns the committed files."""
        return list(self._blobs())

    def at_head(self, path: str) -> bytes | None:
        """Returns the file as last committed, or None if it never was."""
        return self._content("HEAD", path)

    def as_of(self, path: str, moment: datetime) -> bytes | None:
        """Returns the file as committed at the moment, else its first commit after it; None if it
        never was.
        """
        commits = self.history(path)
        earlier = (commit for commit in commits if commit.at <= moment)
        last = next(earlier, commits[-1] if commits else None)
        return None if last is None else self._content(last.id, path) or b""

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
        log = self._text("log", f"-{limit}", "-z", _FORMAT, "--", path)
        return [_commit(entry) for entry in log.split("\0") if entry.strip()]

    def commit_of_line(self, path: str, number: int) -> Commit | None:
        """Returns the commit that added the line (from 1) of the file on disk; None if it is not
        committed yet.
        """
        options = ("--porcelain", "-L", f"{number},{number}")
        blame = self._git("blame", *options, "--", path, may_fail=True)
        id = blame.stdout.split(b" ", 1)[0].decode()
        if blame.returncode != 0 or not id.strip("0"):  # git names what is not committed by zeros
            return None
        return _commit(self._git("show", "-s", _FORMAT, id).stdout.decode("utf-8", "replace"))

    def changed_lines(self, since: str | None, paths: Sequence[str]) -> list[ChangedLine]:
        """Returns the lines of the files that differ between the commit and the last one.

        Each line names the commit that added it; a removed line, the last commit of its file.
        """
        range = f"{since}..HEAD" if since else "HEAD"
        options = "--unified=0 --no-color --no-ext-diff --no-renames --no-prefix".split()
        diff = self._text("diff", *options, since or EMPTY_TREE, "HEAD", "--", *paths)
        lines = list(_lines_of(diff))
        latest = {
            path: self._text("log", "-1", "--format=%h", range, "--", path).strip()
            for path in {line.path for line in lines}
        }
        return [
            replace(line, commit=self._short_commit_of(line) or latest[line.path]) for line in lines
        ]

    def _short_commit_of(self, line: ChangedLine) -> str:
        commit = self.commit_of_line(line.path, line.line) if line.is_added else None
        return commit.id[:7] if commit else ""

    def push(self, remote: str) -> str | None:
        """Pushes the history and returns the problem, if any; never pulls, never forces."""
        if self.head() is None:
            return None
        try:
            check_remote(remote)
        except SettingsError as error:
            return str(error)
        options = "--quiet --no-verify --no-signed --recurse-submodules=no --end-of-options".split()
        arguments = ("push", *options, remote, f"HEAD:refs/heads/{BRANCH}")
        process = self._run_at(remote, arguments)
        if process is None:
            waited = f"{remote} did not answer within {PUSH_SECONDS:.0f} s"
            return f"{waited}; the next triage pushes again."
        if process.returncode == 0:
            return None
        problem = first_line(process.stderr) or "git gave no reason"
        return f"The history could not be pushed to {remote}: {problem}."

    def _run_at(
        self, remote: str, arguments: Sequence[str]
    ) -> subprocess.CompletedProcess[bytes] | None:
        """Runs git with a connection to the remote: with the user's settings, which authenticate,
        unless it is a folder. Returns None if the remote does not answer in time.
        """
        variables: dict[str, str | None] = {"GIT_ALLOW_PROTOCOL": TRANSPORTS}
        if not _FOLDER.fullmatch(remote):
            variables["GIT_CONFIG_GLOBAL"] = os.environ.get("GIT_CONFIG_GLOBAL")
            variables["GIT_CONFIG_NOSYSTEM"] = None
        try:
            return self._run(arguments, variables=variables, seconds=PUSH_SECONDS)
        except subprocess.TimeoutExpired:
            return None

    def lines_lost_by_us(
        self, path: str, find_lost: Callable[[bytes, bytes], list[bytes]]
    ) -> list[tuple[str, list[bytes]]]:
        """Returns id and removed lines of each of our last commits of the file that removed any;
        `find_lost` takes the old and the new version.
        """
        commits = []
        for commit in self.history(path, LATEST_COMMITS):
            old_content = self._content(f"{commit.id}^", path) if commit.is_ours else None
            if old_content is not None:
                lost_lines = find_lost(old_content, self._content(commit.id, path) or b"")
                if lost_lines:
                    commits.append((commit.id, lost_lines))
        return commits

    def _content(self, commit: str, path: str) -> bytes | None:
        process = self._git("cat-file", "blob", f"{commit}:{path}", may_fail=True)
        return process.stdout if process.returncode == 0 else None

    def _blobs(self) -> dict[str, str]:
        """Returns path → id of its blob for the committed files."""
        output = self._git("ls-tree", "-r", "-z", "HEAD", may_fail=True).stdout
        listing = output.decode("utf-8", "surrogateescape")
        # An entry is `100644 blob ID<tab>PATH`.
        pairs = (entry.split("\t", 1) for entry in listing.split("\0") if entry)
        return {path: blob.split(" ")[2] for blob, path in pairs}

    def _index_entry(self, path: str, content: bytes | None) -> bytes:
        """Returns the line of `update-index --index-info` that stages the content, after writing
        its blob.
        """
        entry = b"0 " + b"0" * 40
        if content is not None:
            written = self._git("hash-object", "-w", "--no-filters", "--stdin", stdin=content)
            entry = b"100644 " + written.stdout.strip()
        return entry + f"\t{path}\0".encode("utf-8", "surrogateescape")

    def _commit_tree(
        self, entries: bytes, parents: Sequence[str], message: str, author: str | None = None
    ) -> str:
        """Commits the tree of the first parent with the entries staged; HEAD stays."""
        index = {"GIT_INDEX_FILE": str(self.root / ".git" / "memory_assets.index")}
        self._git("read-tree", *(parents[:1] or ["--empty"]), variables=index)
        self._git("update-index", "-z", "--index-info", stdin=entries, variables=index)
        tree = self._git("write-tree", variables=index).stdout.decode().strip()
        names = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": f"{author}@localhost"}
        arguments = [tree, *(word for parent in parents for word in ("-p", parent))]
        content = message.strip().encode() + b"\n"
        process = self._git(
            "commit-tree", *arguments, stdin=content, variables=names if author else {}
        )
        return process.stdout.decode().strip()

    def _text(self, *arguments: str) -> str:
        """Returns what git prints, even if it fails."""
        return self._git(*arguments, may_fail=True).stdout.decode("utf-8", "replace")

    def _git(
        self,
        *arguments: str,
        may_fail: bool = False,
        stdin: bytes = b"",
        variables: Mapping[str, str | None] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        process = self._run(arguments, stdin, variables)
        if process.returncode != 0 and b".lock': File exists" in process.stderr:
            self._clear_abandoned_locks()
            process = self._run(arguments, stdin, variables)
        if process.returncode != 0 and not may_fail:
            problem = process.stderr.decode("utf-8", "replace").strip()[:500]
            raise StoreError(
                f"git {arguments[0]} failed in {self.root}: {problem}. Fix the repository, "
                "then try again."
            )
        return process

    def _run(
        self, arguments: Sequence[str], stdin: bytes = b"",
        variables: Mapping[str, str | None] | None = None, *, seconds: float | None = None,
    ) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
        """Runs git in its own environment with these variables; those that are None are not set."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_")
        }
        # Else git could use a repository in a folder above.
        environment["GIT_DIR"] = str(self.root / ".git")
        environment["GIT_WORK_TREE"] = str(self.root)
        changes = {**_ENVIRONMENT, **(variables or {})}
        environment |= {name: value for name, value in changes.items() if value is not None}
        options = [word for name, value in _OPTIONS.items() for word in ("-c", f"{name}={value}")]
        try:
            return subprocess.run(
                ["git", *options, *arguments],
                cwd=self.root,
                env=environment,
                input=stdin,
                capture_output=True,
                timeout=seconds,
            )
        except FileNotFoundError as error:
            if not self.root.is_dir():
                problem = f"{self.root} does not exist".encode()
                return subprocess.CompletedProcess(arguments, 128, b"", problem)
            raise StoreError(
                "git is not installed; it keeps the history of MEMORY.md. Install git, then "
                "try again."
            ) from error

    def _clear_abandoned_locks(self) -> None:
        """Waits until git's lock files are removed, and deletes those left by a killed process."""
        git = self.root / ".git"
        for lock in [*git.glob("*.lock"), *(git / "refs").rglob("*.lock")]:
            deadline = time.monotonic() + ABANDONED_SECONDS
            while lock.exists() and time.monotonic() < deadline and _is_fresh(lock):
                time.sleep(0.05)
            lock.unlink(missing_ok=True)


def _blob_id(content: bytes | None) -> str | None:
    """Returns git's id of the content."""
    if content is None:
        return None
    blob = b"blob %d\0" % len(content) + content
    return hashlib.sha1(blob, usedforsecurity=False).hexdigest()


def first_line(problem: bytes) -> str:
    """Returns the beginning of what git printed."""
    return "".join(problem.decode("utf-8", "replace").strip().splitlines()[:1])[:300]


def _is_fresh(lock: Path) -> bool:
    return time.time() - lock.stat().st_mtime < ABANDONED_SECONDS


def _commit(entry: str) -> Commit:
    id, author, committed_at, message = entry.strip("\n").split("\x1f", 3)
    return Commit(id, author, datetime.fromisoformat(committed_at), message.strip())


def _lines_of(diff: str) -> Iterator[ChangedLine]:
    """Yields the added and removed lines of a unified diff without context."""
    path = ""
    old = 0
    new = 0
    for text in diff.splitlines():
        hunk = _HUNK.match(text)
        if text.startswith(("--- ", "+++ ")) and old == new == 0:
            name = text[4:].removesuffix("\t")  # git ends a name with blanks so
            path = name if name != os.devnull else path
        elif text.startswith("diff "):
            old = new = 0
        elif hunk:
            old = int(hunk[1])
            new = int(hunk[2])
        elif text.startswith("-"):
            yield ChangedLine(path, old, is_added=False, text=text[1:])
            old += 1
        elif text.startswith("+"):
            yield ChangedLine(path, new, is_added=True, text=text[1:])
            new += 1
