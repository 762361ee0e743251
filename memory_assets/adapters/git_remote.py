"""Fetches the workspace's history from its remote and merges it, where several machines share a
store.

A merge never stops at a conflict and never leaves conflict marks in a file. If both machines
changed a file, `is_merged` decides: a file for which it returns True gets the lines of both, each
entry of a list once. Every other file is rendered from tables: it keeps our version until the next
run renders it. Edits on disk that nobody has committed are kept.
"""

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from memory_assets.adapters.git_workspace import (
    BRANCH,
    PUSH_SECONDS,
    GitWorkspace,
    check_remote,
    first_line,
)
from memory_assets.errors import StoreError
from memory_assets.text.files import bytes_of, make_folder, replace_if_same

FETCHED = "refs/memory_assets/fetched"
PUSH_ATTEMPTS = 5
"""Attempts to push, after merging what others pushed, or to merge a file that somebody edits."""


class GitRemote(GitWorkspace):
    """The workspace of a store that several machines share through a remote."""

    def fetch(self, remote: str, is_merged: Callable[[str], bool] = lambda _: True) -> bool:
        """Merges the remote's history, or adopts it if there is none here; returns whether it has
        anything new.

        A remote without a history has nothing new. Raises `StoreError` if the remote cannot be
        read.
        """
        check_remote(remote)
        make_folder(self.root)
        if not (self.root / ".git").is_dir():
            self._git("init", "--quiet", "--template=", f"--initial-branch={BRANCH}")
        heads = self._ask(remote, "ls-remote", "--heads", "--end-of-options", remote, BRANCH)
        if not heads.strip():
            return False
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options")
        self._ask(remote, "fetch", *options, remote, f"+refs/heads/{BRANCH}:{FETCHED}")
        theirs = self._git("rev-parse", FETCHED).stdout.decode().strip()
        self._git("update-ref", "-d", FETCHED)
        ours = self.head()
        if ours is None:
            self._git("update-ref", "HEAD", theirs)
            self._git("read-tree", "HEAD")
            self.restore(self.missing())
            return True
        # Histories that two machines began at once have no common base: it is empty then.
        base = self._git("merge-base", ours, theirs, may_fail=True).stdout.decode().strip()
        if base != theirs:
            self._merge(ours, theirs, base, is_merged)
        return base != theirs

    def exchange(
        self, remote: str, is_merged: Callable[[str], bool] = lambda _: True
    ) -> str | None:
        """Fetches, merges and pushes; tries again if others push meanwhile. Returns the problem, if
        any.
        """
        problem = None
        for _ in range(PUSH_ATTEMPTS):
            try:
                self.fetch(remote, is_merged)
            except StoreError as error:
                return str(error)
            problem = self.push(remote)
            if problem is None:
                return None
        return problem

    def _merge(self, ours: str, theirs: str, base: str, is_merged: Callable[[str], bool]) -> None:
        """Writes the merged files to disk, then commits the merge; can be repeated after a kill."""
        our_files = self._tree(ours)
        their_files = self._tree(theirs)
        base_files = self._tree(base) if base else {}
        changed: dict[str, bytes | None] = {}
        for path in {*our_files, *their_files}:
            versions = (base_files.get(path), our_files.get(path), their_files.get(path))
            content = self._merged(*versions, is_merged=is_merged(path))
            if content != our_files.get(path):
                changed[path] = content
        for path, content in changed.items():
            self._update_on_disk(path, our_files.get(path), content)
        entries = b"".join(
            self._index_entry(path, content) for path, content in sorted(changed.items())
        )
        commit = theirs
        if base != ours:
            message = "Merge what another machine committed"
            commit = self._commit_tree(entries, [ours, theirs], message)
        self._git("update-index", "-z", "--index-info", stdin=entries)
        self._git("update-ref", "-m", "merge", "HEAD", commit, ours)

    def _merged(
        self, base: bytes | None, ours: bytes | None, theirs: bytes | None, *, is_merged: bool
    ) -> bytes | None:
        """Returns the merged content; None for a file that is deleted."""
        if ours == theirs or theirs == base:
            return ours
        if ours == base:
            return theirs
        if theirs is None:  # a change is kept: the deletion can be repeated
            return ours
        if ours is None:
            return theirs
        return self._lines_of_both(base or b"", ours, theirs) if is_merged else ours

    def _lines_of_both(self, base: bytes, ours: bytes, theirs: bytes) -> bytes:
        with tempfile.TemporaryDirectory(dir=self.root / ".git") as folder:
            names = []
            for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
                (Path(folder) / name).write_bytes(content)
                names.append(str(Path(folder) / name))
            union = self._git("merge-file", "-p", "--union", *names).stdout
        return _without_repeated(union, ours, theirs)

    def _update_on_disk(
        self, path: str, old_content: bytes | None, new_content: bytes | None
    ) -> None:
        """Replaces the old committed content of the file on disk by the new one; keeps edits that
        are not committed.
        """
        file = self.root / path
        for _ in range(PUSH_ATTEMPTS):
            on_disk = bytes_of(file)
            if new_content is None:
                if on_disk == old_content:
                    file.unlink(missing_ok=True)
                return
            target = new_content
            if on_disk is not None and on_disk != old_content:
                target = self._lines_of_both(old_content or b"", on_disk, new_content)
            if on_disk == target or replace_if_same(file, on_disk, target):
                return
        raise StoreError(
            f"{file} changed {PUSH_ATTEMPTS} times while it was merged. Save it, then try again."
        )

    def _tree(self, commit: str) -> dict[str, bytes]:
        """Returns path → content of the files of the commit."""
        output = self._git("ls-tree", "-r", "-z", "--name-only", commit).stdout
        listing = output.decode("utf-8", "surrogateescape")
        contents = ((path, self._content(commit, path)) for path in listing.split("\0") if path)
        return {path: content for path, content in contents if content is not None}

    def _ask(self, remote: str, *arguments: str) -> bytes:
        """Returns the output of a git command that reads the remote; raises `StoreError` if the
        remote refuses.
        """
        process = self._run_at(remote, arguments)
        if process is None:
            raise StoreError(
                f"{remote} did not answer within {PUSH_SECONDS:.0f} s; the workspace comes "
                "from there."
            )
        if process.returncode:
            reason = first_line(process.stderr) or "no reason given"
            raise StoreError(f"The workspace cannot be read from {remote}: {reason}.")
        return process.stdout


def _without_repeated(merged: bytes, *sides: bytes) -> bytes:
    """Returns the merged lines; an entry of a list or a record occurs at most as often as in the
    side that has it most often.
    """
    counts = [Counter(side.split(b"\n")) for side in sides]
    line_counts: Counter[bytes] = Counter()
    lines: list[bytes] = []
    for line in merged.split(b"\n"):
        line_counts[line] += 1
        limit = max(count[line] for count in counts)
        if not line.startswith((b"- ", b"{")) or line_counts[line] <= limit:
            lines.append(line)
    return b"\n".join(lines)
