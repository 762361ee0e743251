"""Ends a process, or its luck, behind the nth write: every rename, appended line, deletion and change of git counts."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.store import archive, ledger

WRITING = {"hash-object", "read-tree", "update-index", "commit-tree", "update-ref"}
"""What of git changes something; the rest only reads."""


class KilledError(BaseException):
    """Stands for a process that is killed: nothing catches it."""


def killed(name: str) -> BaseException:
    """Returns the end of the process."""
    return KilledError(name)


def failing_behind(
    patch: pytest.MonkeyPatch, last: int | None, error: Callable[[str], BaseException] = killed
) -> list[str]:
    """Counts every write from now on; those behind the last allowed one fail, a line in its middle."""
    done: list[str] = []

    def count(name: str) -> bool:
        """Whether the write is behind the last."""
        if last is not None and len(done) >= last:
            return True
        done.append(name)
        return False

    def counted(name: str, write: Callable) -> Callable:
        def do(*arguments, **options):
            if count(name):
                raise error(name)
            return write(*arguments, **options)

        return do

    def appended(name: str, append: Callable[[Path, bytes], None]) -> Callable[[Path, bytes], None]:
        def do(path: Path, line: bytes) -> None:
            if count(name):
                with path.open("ab") as file:
                    file.write(line[: len(line) // 2])
                raise error(name)
            append(path, line)

        return do

    run = GitWorkspace._run

    def git(self, arguments, *others, **options):
        if arguments[0] in WRITING and count(f"git {arguments[0]}"):
            raise error(arguments[0])
        return run(self, arguments, *others, **options)

    for module in (ledger, archive.files):
        patch.setattr(module, "append_line", appended(module.__name__, module.append_line))
    patch.setattr(GitWorkspace, "_run", git)
    patch.setattr(os, "replace", counted("file", os.replace))
    patch.setattr(shutil, "rmtree", counted("folder", shutil.rmtree))
    return done
