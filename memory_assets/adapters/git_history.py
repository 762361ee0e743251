"""The git objects of the workspace, and the rewriting of its history.

Only forgetting rewrites history, at a person's request: words become asterisks in every version of
every file and in every message. The number of commits stays the same; unreachable objects are
deleted.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memory_assets.adapters.git_workspace import GitWorkspace

ORIGINAL = re.compile(rb"mark :(\d+)\noriginal-oid ([0-9a-f]{40})\n")
"""A commit in the output of `fast-export`: its mark, and its id before the rewrite."""

LEFT_OVERS = "ORIG_HEAD FETCH_HEAD MERGE_HEAD COMMIT_EDITMSG memory_assets.index".split()
"""Files of git that may name or contain old commits."""

_DATA = re.compile(rb"(?m)^data (\d+)\n")


@dataclass(frozen=True)
class GitObject:
    """One object: its id, its type (blob, tree, commit or tag) and its bytes."""

    id: str
    kind: str
    content: bytes


class GitHistory(GitWorkspace):
    """Reads all objects of the workspace's repository and rewrites its history."""

    def objects(self) -> Iterator[GitObject]:
        """Yields every object on disk, reachable or not."""
        output = self._git("cat-file", "--batch", "--batch-all-objects", may_fail=True).stdout
        return parse_objects(output)

    def commits_about(self, ids: Iterable[str]) -> int:
        """Returns the number of commits that added or removed one of these blobs, or whose own id
        is given.
        """
        options = ("--all", "--root", "-m", "--raw", "--no-abbrev", "--format=commit %H")
        commits = set()
        commit = ""
        all_ids = frozenset(ids)
        for line in self._text("log", *options).splitlines():
            words = line.split(" ")
            if words[0] == "commit":
                commit = words[1]
            if not all_ids.isdisjoint(words):
                commits.add(commit)
        return len(commits)

    def remotes(self) -> list[str]:
        """Returns the names of the repository's remotes."""
        return self._git("remote", may_fail=True).stdout.decode().split()

    def rewrite(self, mask: Callable[[bytes], bytes]) -> dict[str, str]:
        """Masks every version of every file, and every message; returns old id → new id of each
        changed commit.

        `mask` must keep the length. Files on disk are unchanged. After a kill, the same call can be
        repeated.
        """
        if self.head() is None:
            return {}
        exported = self._git(
            "fast-export", "--all", "--show-original-ids", "--signed-tags=strip", "--reencode=no"
        ).stdout
        marks = self.root / ".git" / "memory_assets.marks"
        options = ("--force", "--quiet", f"--export-marks={marks}")
        self._git("fast-import", *options, stdin=_masked(exported, mask))
        new_ids = dict(line.removeprefix(":").split(" ") for line in marks.read_text().splitlines())
        marks.unlink()
        self._git("read-tree", "HEAD")
        self._drop_unreachable()
        marked = ((mark.decode(), id.decode()) for mark, id in ORIGINAL.findall(exported))
        id_pairs = ((id, new_ids[mark]) for mark, id in marked if mark in new_ids)
        return {old_id: new_id for old_id, new_id in id_pairs if old_id != new_id}

    def _drop_unreachable(self) -> None:
        for name in LEFT_OVERS:
            (self.root / ".git" / name).unlink(missing_ok=True)
        self._git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
        self._git("gc", "--prune=now", "--quiet")


def _masked(stream: bytes, mask: Callable[[bytes], bytes]) -> bytes:
    """Returns the stream of `fast-export` with the content of each block masked."""
    pieces = []
    position = 0
    header = _DATA.search(stream)
    while header is not None:
        end = header.end() + int(header[1])
        pieces += [stream[position : header.end()], mask(stream[header.end() : end])]
        position = end
        header = _DATA.search(stream, position)
    return b"".join([*pieces, stream[position:]])


def parse_objects(output: bytes) -> Iterator[GitObject]:
    """Yields the objects that `cat-file --batch` printed; those that are missing are left out."""
    position = 0
    # A line with id, type and size, or with id and "missing"; the content; a newline.
    while position < len(output):
        start = output.index(b"\n", position) + 1
        id, kind, *size = output[position:start].decode().split()
        position = start
        if size:
            end = start + int(size[0])
            yield GitObject(id, kind, output[start:end])
            position = end + 1
