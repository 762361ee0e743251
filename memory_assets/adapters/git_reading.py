"""Reads the history of somebody's repository, and runs nothing that the repository says.

Its objects are read from an empty repository of our own that borrows them, so that no setting,
attribute, hook, filter, replacement or credential of theirs counts, and nothing is fetched. Only
the rules for ignored files are theirs. Nothing that is read is kept.
"""

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from functools import cache, cached_property
from itertools import count
from pathlib import Path
from stat import S_ISREG
from time import monotonic

from memory_assets.adapters.git_history import parse_objects
from memory_assets.adapters.git_patches import PATCHES, day_of, parse_patches
from memory_assets.schema.protocols import CommitText, Patch, Removal

SECONDS = 2.0
"""Most time that all questions to one repository take; those after it have no answer."""

PATCH_SHARE = 0.5
"""The share of it in which patches of all files are read; a walk through paths alone is faster."""

_COMMITS_READ = 1_000
"""Patches of so many commits are read at once: most questions are about the latest."""

MOST_BYTES = 1_000_000
"""Larger files are data."""

_BINARY_BYTES = 8_000
"""A zero in these makes a file binary, as it does for git."""

_NO_SETTINGS = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C.UTF-8",
}
_SAFE = (
    "-c core.fsmonitor=false -c core.quotePath=false -c core.bigFileThreshold=1m "
    f"-c core.hooksPath={os.devnull} -c core.attributesFile={os.devnull}"
).split()
_MARK = "//"
"""What no path begins with."""

_OF_OTHERS = ("-c", "safe.directory=*")
"""Also a folder that another user owns, as in a container; nothing of it is run."""
_SHA256_DIGITS = 64
_REQUEST = re.compile(r"(?i)(?:(?<!\w)[#!]|\bpull request |\bPR )(\d+)")
_WORD = re.compile(r"\w+")
_SPACED = {code: " " for code in range(128) if not _WORD.match(chr(code))}
_REF = re.compile(r"(?m)^(?:[0-9a-f]{40,64} )?refs/(?:heads|remotes/[^/\s]+)/(\S+)$")


class GitReading:
    """What the history of one repository says, at its HEAD."""

    def __init__(
        self, root: Path, head: str, common: Path, variables: Mapping[str, str], seconds: float
    ) -> None:
        self.root = root
        """The top of the working tree."""
        self._head = head
        self._common = common
        self._variables = variables
        self._seconds = seconds
        self._started_at = monotonic()
        self._lacks_files = False
        self.commits = cache(self._read_commits)
        self.pull_requests = cache(self._read_pull_requests)
        self._patches = cache(self._read_patches)
        self.texts = cache(self._read_texts)
        self.words = cache(self._read_words)
        self._renames = cache(self._read_renames)

    @property
    def is_incomplete(self) -> bool:
        """Whether the time for all questions has passed, or files of HEAD cannot be read."""
        return self._lacks_files or self._remaining() <= 0

    def paths(self) -> frozenset[str]:
        """Returns the files of HEAD."""
        return frozenset(self._blobs)

    @cached_property
    def _blobs(self) -> dict[str, str]:
        """The id of each file's content in HEAD."""
        entries = (entry.partition("\t") for entry in self._git("ls-tree", "-rz", self._head))
        return {path: head[12:] for head, _, path in entries if head[7:12] == "blob "}

    def _read_texts(self) -> tuple[tuple[str, str], ...]:
        """Returns path and content of each file of text in HEAD and in the working tree; twice
        where the two differ.
        """
        contents: list[tuple[str, bytes]] = []
        blobs = dict(self._blobs)
        for path in self._git("ls-files", "-z", "--others", "--exclude-standard", is_in_tree=True):
            content = None if self.is_incomplete else _content(f"{self.root}/{path}")
            if content is not None:
                contents.append((path, content))
            if content is None or blobs.get(path) == _blob_id(content, len(self._head)):
                blobs.pop(path, None)
        ids = "\n".join(blobs.values()).encode()
        output = self._output(("cat-file", "--batch"), content=ids)
        content_of = {blob.id: blob.content for blob in parse_objects(output)}
        contents += [(path, content_of[id]) for path, id in blobs.items() if id in content_of]
        self._lacks_files = not content_of.keys() >= set(blobs.values())
        return tuple(
            (path, content.decode("utf-8", "replace"))
            for path, content in contents
            if len(content) <= MOST_BYTES and b"\0" not in content[:_BINARY_BYTES]
        )

    def _read_words(self) -> dict[str, tuple[str, str]]:
        """Returns a file, as above, for each word of letters, digits and underscores in them."""
        words: dict[str, tuple[str, str]] = {}
        for file in self.texts():
            text = file[1]
            # Twice as fast as the pattern, which only other alphabets need.
            spaced = text.translate(_SPACED) if text.isascii() else " ".join(_WORD.findall(text))
            words.update(dict.fromkeys(spaced.split(), file))
        return words

    def removal_of(self, path: str) -> Removal | None:
        """Returns when the file, or the last file of the folder, was removed; None if it never was
        there. The path may lack its first folders.
        """
        wanted = f"/{path.strip('/')}/"
        for commit, seconds, removed in self._deletions:
            if wanted in f"/{removed}/":
                moved_to = self._new_path(commit, removed, path)
                return Removal(commit, day_of(seconds), moved_to)
        return None

    @cached_property
    def _deletions(self) -> list[tuple[str, str, str]]:
        """Commit, time and path of each file that was removed, the newest first."""
        options = ("--diff-filter=D", "--name-only", f"--format={_MARK}%H %ct")
        deletions: list[tuple[str, str, str]] = []
        commit = seconds = ""
        for part in self._git("log", "-z", "--no-renames", *options, self._head):
            if part.startswith(_MARK):
                commit, _, seconds = part.removeprefix(_MARK).partition(" ")
            else:
                deletions.append((commit, seconds, part.lstrip("\n")))
        return deletions

    def _new_path(self, commit: str, removed: str, asked: str) -> str:
        """Returns where the commit moved the file to; of a folder, where its files went."""
        new = self._renames(commit).get(removed, "")
        rest = removed.rpartition(asked.strip("/"))[2]
        return new.removesuffix(rest) if new.endswith(rest) else ""

    def _read_renames(self, commit: str) -> dict[str, str]:
        options = ("--no-commit-id", "--name-status", "--diff-filter=R", "--root")
        entries = iter(self._git("diff-tree", "-r", "-z", "-M", *options, commit))
        return {old: new for _, old, new in zip(entries, entries, entries, strict=False)}

    def patches(self, globs: tuple[str, ...] = ()) -> Iterator[Patch]:
        """Yields the changes that removed lines of these files, of all by default, the newest
        first.
        """
        for number in count():
            patches, is_last = self._patches(globs, number)
            yield from patches
            if is_last:
                return

    def _read_patches(self, globs: tuple[str, ...], number: int) -> tuple[list[Patch], bool]:
        """Returns those of one part of the history, and whether it is the last part."""
        part = (f"--max-count={_COMMITS_READ}", f"--skip={number * _COMMITS_READ}")
        paths = [f":(glob)**/{glob}" for glob in globs]
        share = 1 if globs else PATCH_SHARE
        log = self._git("log", *PATCHES, *part, self._head, "--", *paths, share=share)
        patches = [patch for commit in log for patch in parse_patches(commit)]
        return patches, len(log) < _COMMITS_READ

    def _read_commits(self) -> tuple[CommitText, ...]:
        """Returns the commits of HEAD, the newest first."""
        log = self._git("log", "-z", "--format=%H %ct %B", self._head)
        parts = (entry.split(" ", 2) for entry in log)
        return tuple(CommitText(id, day_of(seconds), text) for id, seconds, text in parts)

    def _read_pull_requests(self) -> frozenset[str]:
        """Returns the numbers of pull requests in the texts of these commits."""
        return frozenset(_REQUEST.findall("\0".join(commit.text for commit in self.commits())))

    def authors_of_lines(self, path: str) -> dict[str, tuple[str, date]]:
        """Returns, by the text of each line of the file in HEAD, who wrote it and when."""
        authors: dict[str, tuple[str, date]] = {}
        arguments = ("blame", "--line-porcelain", self._head, "--", path)
        name = seconds = ""
        for line in self._output(arguments).decode("utf-8", "replace").split("\n"):
            field, _, value = line.partition(" ")
            if line.startswith("\t"):
                authors[line.strip()] = (name, day_of(seconds))
            elif field == "author":
                name = value
            elif field == "author-time":
                seconds = value
        return authors

    def has_commit(self, id: str) -> bool:
        """Returns whether there is such a commit; the id may be cut."""
        return bool(self._git("rev-parse", "--verify", "--quiet", f"{id}^{{commit}}"))

    def branches(self) -> frozenset[str]:
        """Returns the branches of the repository and those that it knows of its remotes."""
        packed = (_content(f"{self._common}/packed-refs") or b"").decode("utf-8", "replace")
        loose = (path.relative_to(self._common) for path in self._common.glob("refs/**/*"))
        listing = "\n".join(path.as_posix() for path in loose)
        return frozenset(_REF.findall(f"{packed}\n{listing}"))

    def is_ignored(self, path: str) -> bool:
        """Returns whether the working tree's rules keep such a file out of the repository."""
        return bool(self._git("check-ignore", "--no-index", "--", path, is_in_tree=True))

    def _remaining(self, share: float = 1) -> float:
        return self._started_at + share * self._seconds - monotonic()

    def _git(self, *arguments: str, is_in_tree: bool = False, share: float = 1) -> list[str]:
        """Returns what git prints, cut at zeros; if it is late, the whole parts."""
        listing = self._output(arguments, is_in_tree, share).decode("utf-8", "surrogateescape")
        return [part for part in listing.split("\0") if part]

    def _output(
        self,
        arguments: Sequence[str],
        is_in_tree: bool = False,
        share: float = 1,
        content: bytes = b"",
    ) -> bytes:
        # Attributes of the working tree count only for what runs in it.
        tree = {"GIT_WORK_TREE": str(self.root)} if is_in_tree else {}
        try:
            process = subprocess.run(
                ["git", *_SAFE, *arguments],
                cwd=self.root if is_in_tree else self._variables["GIT_DIR"],
                env={**self._variables, **tree},
                input=content,
                capture_output=True,
                timeout=max(self._remaining(share), 0.01),
            )
        except subprocess.TimeoutExpired as late:
            return (late.output or b"").rpartition(b"\0")[0]
        return b"" if process.returncode else process.stdout


def _content(path: str) -> bytes | None:
    """Returns the bytes of a plain file; None of a link, a pipe or a file of data."""
    try:
        status = os.lstat(path)
        is_read = S_ISREG(status.st_mode) and status.st_size <= MOST_BYTES
        return Path(path).read_bytes() if is_read else None
    except OSError:
        return None


def _blob_id(content: bytes, digits: int) -> str:
    """Returns the id that git gives to a file of this content."""
    kind = hashlib.sha256 if digits == _SHA256_DIGITS else hashlib.sha1
    return kind(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


@contextmanager
def reading(folder: Path, seconds: float = SECONDS) -> Iterator[GitReading | None]:
    """Reads the repository that the folder is in, for so long; None where there is none with a
    commit.
    """
    asked = ("--show-toplevel", "--path-format=absolute", "--git-common-dir", "HEAD")
    answer = _asked(*_OF_OTHERS, "-C", str(folder), "rev-parse", *asked)
    if len(answer) != 3:
        yield None
        return
    root, common, head = answer
    # A setting of the repository can name another folder.
    if not folder.resolve().is_relative_to(root):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="memory-git-") as borrowed:
        kind = "sha256" if len(head) == _SHA256_DIGITS else "sha1"
        _asked("init", "--quiet", "--bare", "--template=", f"--object-format={kind}", borrowed)
        shallow = Path(common, "shallow")
        if shallow.exists():
            Path(borrowed, "shallow").write_bytes(shallow.read_bytes())
        objects = {"GIT_DIR": borrowed, "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{common}/objects"}
        yield GitReading(Path(root), head, Path(common), _environment() | objects, seconds)


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
