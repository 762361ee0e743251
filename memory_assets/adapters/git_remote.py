"""Fetches the workspace's history from its remote and merges it, where several machines share a
store.

A merge never stops at a conflict and never leaves marks in a file. Where both changed the same
file, one that `has_both` gets the lines of both, each entry of a list once; every other file, which
is rendered from tables, stays ours until the next run renders it. Edits on disk that nobody has
committed stay.
"""

import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from memory_assets.adapters.git_workspace import BRANCH, PUSH_SECONDS, GitWorkspace, check_remote
from memory_assets.errors import StoreError
from memory_assets.text.files import bytes_of, make_folder, replace_if_same

FETCHED = "refs/memory_assets/fetched"
PUSH_ATTEMPTS = 5
"""Pushes of others that are merged before ours is left to the next run."""


class GitRemote(GitWorkspace):
    """The workspace of a store that several machines share through a remote."""

    def fetch(self, remote: str, has_both: Callable[[str], bool] = lambda _: True) -> bool:
        """Takes over or merges the remote's history; returns whether anything came. Raises
        `StoreError` if it cannot be read.

        A remote without a history is left to the next push.
        """
        check_remote(remote)
        make_folder(self.root)
        if not (self.root / ".git").is_dir():
            self._git("init", "--quiet", "--template=", f"--initial-branch={BRANCH}")
        if not self._ask(
            remote, "ls-remote", "--heads", "--end-of-options", remote, BRANCH
        ).strip():
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
        # Two machines may begin at once.
        base = self._git("merge-base", ours, theirs, may_fail=True).stdout.decode().strip()
        if base != theirs:
            self._merge(ours, theirs, base, has_both)
        return base != theirs

    def exchange(self, remote: str, has_both: Callable[[str], bool] = lambda _: True) -> str | None:
        """Pushes the history, merging first what others pushed meanwhile; returns the problem, if
        any.
        """
        problem = None
        for _ in range(PUSH_ATTEMPTS):
            try:
                self.fetch(remote, has_both)
            except StoreError as error:
                return str(error)
            problem = self.push(remote)
            if problem is None:
                return None
        return problem

    def _merge(self, ours: str, theirs: str, base: str, has_both: Callable[[str], bool]) -> None:
        """Brings the files on disk to what the merge says, then commits it; can be repeated after a
        kill.
        """
        ours_files = self._tree(ours)
        their_files = self._tree(theirs)
        base_files = self._tree(base) if base else {}
        merged = {
            path: self._merged(
                base_files.get(path),
                ours_files.get(path),
                their_files.get(path),
                keeps_both=has_both(path),
            )
            for path in {*ours_files, *their_files}
        }
        changed = {
            path: content for path, content in merged.items() if content != ours_files.get(path)
        }
        for path, content in changed.items():
            self._bring(path, ours_files.get(path), content)
        entries = b"".join(
            self._index_entry(path, content) for path, content in sorted(changed.items())
        )
        commit = theirs if base == ours else self._merge_commit(entries, ours, theirs)
        self._git("update-index", "-z", "--index-info", stdin=entries)
        self._git("update-ref", "-m", "merge", "HEAD", commit, ours)

    def _merge_commit(self, entries: bytes, ours: str, theirs: str) -> str:
        index = {"GIT_INDEX_FILE": str(self.root / ".git" / "memory_assets.index")}
        self._git("read-tree", ours, variables=index)
        self._git("update-index", "-z", "--index-info", stdin=entries, variables=index)
        tree = self._git("write-tree", variables=index).stdout.decode().strip()
        message = b"Merge what another machine committed\n"
        return (
            self._git("commit-tree", tree, "-p", ours, "-p", theirs, stdin=message)
            .stdout.decode()
            .strip()
        )

    def _merged(
        self, base: bytes | None, ours: bytes | None, theirs: bytes | None, *, keeps_both: bool
    ) -> bytes | None:
        """Returns the content with the changes of both; None where it is deleted."""
        if ours == theirs or theirs == base:
            return ours
        if ours == base:
            return theirs
        if ours is None or theirs is None:  # a change is kept, a deletion can be repeated
            return ours if theirs is None else theirs
        return self._lines_of_both(base or b"", ours, theirs) if keeps_both else ours

    def _lines_of_both(self, base: bytes, ours: bytes, theirs: bytes) -> bytes:
        with tempfile.TemporaryDirectory(dir=self.root / ".git") as folder:
            names = []
            for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
                (Path(folder) / name).write_bytes(content)
                names.append(str(Path(folder) / name))
            union = self._git("merge-file", "-p", "--union", *names).stdout
        return _once(union, ours, theirs)

    def _bring(self, path: str, old_content: bytes | None, new_content: bytes | None) -> None:
        """Brings the file on disk from one committed content to the other, with what was edited
        meanwhile.
        """
        file = self.root / path
        for _ in range(PUSH_ATTEMPTS):
            on_disk = bytes_of(file)
            if new_content is None:
                if on_disk == old_content:
                    file.unlink(missing_ok=True)
                return
            target = (
                new_content
                if on_disk in (old_content, None)
                else self._lines_of_both(old_content or b"", on_disk or b"", new_content)
            )
            if on_disk == target or replace_if_same(file, on_disk, target):
                return
        raise StoreError(
            f"{file} changed {PUSH_ATTEMPTS} times while it was merged. Save it, then try again."
        )

    def _tree(self, commit: str) -> dict[str, bytes]:
        """Returns the files of the commit."""
        listing = self._git("ls-tree", "-r", "-z", "--name-only", commit).stdout.decode(
            "utf-8", "surrogateescape"
        )
        contents = ((path, self._content(commit, path)) for path in listing.split("\0") if path)
        return {path: content for path, content in contents if content is not None}

    def _ask(self, remote: str, *arguments: str) -> bytes:
        """Runs a command of git that reads the remote; raises `StoreError` where the remote
        refuses.
        """
        try:
            process = self._run(arguments, variables=self._users(remote), seconds=PUSH_SECONDS)
        except subprocess.TimeoutExpired:
            raise StoreError(
                f"{remote} did not answer within {PUSH_SECONDS:.0f} s; the workspace comes "
                "from there."
            ) from None
        if process.returncode:
            error_lines = process.stderr.decode("utf-8", "replace").strip().splitlines()
            raise StoreError(
                f"The workspace cannot be read from {remote}: "
                f"{error_lines[0][:300] if error_lines else 'no reason given'}."
            )
        return process.stdout


def _once(merged: bytes, *sides: bytes) -> bytes:
    """Returns the lines without the entries of lists and the records that only the merge
    repeated.
    """
    counts = [Counter(side.split(b"\n")) for side in sides]
    line_counts: Counter[bytes] = Counter()
    lines: list[bytes] = []
    for line in merged.split(b"\n"):
        line_counts[line] += 1
        if not line.startswith((b"- ", b"{")) or line_counts[line] <= max(
            count[line] for count in counts
        ):
            lines.append(line)
    return b"\n".join(lines)
