"""The write lock of a store: held by one process alone, or shared by several that build days.

Every writer first takes the file `lock`. A process that writes the whole store keeps it, and also
takes `days.lock` exclusively. A process that builds a day takes a shared `days.lock`, then releases
`lock`. So a process that waits for the whole store comes before the next day. The system releases a
lock when its process ends, even if it is killed. If several machines use the folder, its file
system must support locks, as NFS 4 does. Where the system has no shared locks (Windows), building a
day also takes the lock of the whole store.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memory_assets.errors import StoreBusyError
from memory_assets.schema.progress import waits
from memory_assets.text.files import make_folder

if TYPE_CHECKING:
    import filelock

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

NOTICE_SECONDS = 2.0
"""After this time a waiting command says for whom it waits."""

POLL_SECONDS = 0.01
"""Pause between attempts to take `days.lock`: `flock` cannot wait for a limited time."""


class WriteLocks:
    """The locks of the store in one folder; re-entrant within one object. Waiting in vain raises
    `StoreBusyError`.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def depth(self) -> int:
        """How many blocks of this object hold the lock of the whole store, or wait for it."""
        return self._file.lock_counter

    @contextmanager
    def whole(self, wait_seconds: float) -> Iterator[None]:
        """Holds the lock of the whole store: no other process writes."""
        with self._first(wait_seconds) as is_outermost, ExitStack() as days:
            # Only a holder of `lock` creates `days.lock`: nobody can create it from here on.
            if is_outermost and fcntl is not None and self._days_lock.is_file():
                days.enter_context(self._days(fcntl.LOCK_EX, wait_seconds))
            if is_outermost:
                self._note_writer()
            yield

    @contextmanager
    def day(self, wait_seconds: float) -> Iterator[None]:
        """Holds the lock of a builder of a day: other processes may build days at the same time.

        `whole` must not be called in the block; a holder of `whole` may call this.
        """
        with ExitStack() as locks:
            with self._first(wait_seconds) as is_outermost:
                if is_outermost and fcntl is not None:
                    make_folder(self._days_lock.parent)
                    self._days_lock.touch(mode=0o600)
                    locks.enter_context(self._days(fcntl.LOCK_SH, wait_seconds))
                    self._note_writer()
                else:
                    locks.enter_context(self._first(wait_seconds))
            yield

    @contextmanager
    def _first(self, wait_seconds: float) -> Iterator[bool]:
        """Holds the file `lock`; yields True unless this object already held it."""
        import filelock  # readers do not need it

        try:
            lock = self._acquire(wait_seconds)
        except filelock.Timeout:
            raise self._busy(wait_seconds) from None
        with lock:
            yield self._file.lock_counter == 1

    def _acquire(self, wait_seconds: float) -> "filelock.AcquireReturnProxy":
        """Takes the file `lock`; tells a person after a while for whom it waits."""
        import filelock

        with suppress(filelock.Timeout):
            return self._file.acquire(timeout=min(wait_seconds, NOTICE_SECONDS))
        rest = wait_seconds - NOTICE_SECONDS
        if rest > 0:
            self._tell()
        return self._file.acquire(timeout=max(rest, 0))

    def _tell(self) -> None:
        waits(f"Waiting for {self._writer()}, which writes {self._root} ...")

    def _note_writer(self) -> None:
        """Notes the process and the command that hold the lock, without their arguments.

        A folder that is no store yet stays as it is.
        """
        if not self._writer_file.parents[1].is_dir():
            return
        words = [Path(sys.argv[0]).name, *filter(str.isalpha, sys.argv[1:2])]
        with suppress(OSError):
            make_folder(self._writer_file.parent)
            self._writer_file.write_text(f"process {os.getpid()} (`{' '.join(words)}`)")

    def _writer(self) -> str:
        try:
            return self._writer_file.read_text() or "another process"
        except (OSError, UnicodeDecodeError):
            return "another process"

    @property
    def _writer_file(self) -> Path:
        return self._root / "built" / "locks" / "writer"

    @contextmanager
    def _days(self, kind: int, wait_seconds: float) -> Iterator[None]:
        """Holds `days.lock`, shared or exclusively (`kind`, as for `flock`)."""
        assert fcntl is not None
        until = time.monotonic() + wait_seconds
        notice_at = time.monotonic() + NOTICE_SECONDS
        with self._days_lock.open("rb+") as file:
            while True:
                try:
                    fcntl.flock(file, kind | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise self._busy(wait_seconds) from None
                    if time.monotonic() > notice_at:
                        self._tell()
                        notice_at = until
                    time.sleep(POLL_SECONDS)
            yield

    def _busy(self, wait_seconds: float) -> StoreBusyError:
        return StoreBusyError(
            f"Another process has been writing {self._root} for more than {wait_seconds:.0f} s: "
            f"{self._writer()}. Wait until it ends, then try again."
        )

    @property
    def _days_lock(self) -> Path:
        return self._root / "built" / "locks" / "days.lock"

    @cached_property
    def _file(self) -> "filelock.FileLock":
        import filelock

        return filelock.FileLock(self._root / "lock", mode=0o600, thread_local=False)
