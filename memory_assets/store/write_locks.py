"""The write lock of a store, which one process holds exclusively, or several share that build days.

Every writer takes the file `lock` first: who writes the whole store keeps it, who builds a day only
until it has its share of `days.lock`. So a process that waits for the whole store comes before the
next day. The system releases a lock when its process ends, however it ends. On several machines the
folder must be on a file system that knows locks, such as NFS 4. Where the system has no shared
locks (Windows), a day needs the whole store, too.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memory_assets.errors import StoreBusyError
from memory_assets.text.files import make_folder

if TYPE_CHECKING:
    import filelock

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

POLL_SECONDS = 0.01


class WriteLocks:
    """The lock of the store in one folder. Re-entrant within one object; each wait ends with
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
        """Holds what every writer needs."""
        with self._first(wait_seconds) as is_outermost, ExitStack() as days:
            # The file is made under the first lock alone, so that it does not appear from here on.
            if is_outermost and fcntl is not None and self._days_lock.is_file():
                days.enter_context(self._days(fcntl.LOCK_EX, wait_seconds))
            yield

    @contextmanager
    def day(self, wait_seconds: float) -> Iterator[None]:
        """Holds what a builder of a day needs: other processes may build days, too.

        Inside it the lock of the whole store must not be taken; a holder of that lock may take it.
        """
        with ExitStack() as held:
            with self._first(wait_seconds) as is_outermost:
                if is_outermost and fcntl is not None:
                    make_folder(self._days_lock.parent)
                    self._days_lock.touch(mode=0o600)
                    held.enter_context(self._days(fcntl.LOCK_SH, wait_seconds))
                else:
                    held.enter_context(self._first(wait_seconds))
            yield

    @contextmanager
    def _first(self, wait_seconds: float) -> Iterator[bool]:
        """Holds the file that every writer takes first; yields whether this object did not hold it
        already.
        """
        import filelock  # readers do not need it

        try:
            lock = self._file.acquire(timeout=wait_seconds)
        except filelock.Timeout:
            raise self._busy(wait_seconds) from None
        with lock:
            yield self._file.lock_counter == 1

    @contextmanager
    def _days(self, kind: int, wait_seconds: float) -> Iterator[None]:
        assert fcntl is not None
        until = time.monotonic() + wait_seconds
        with self._days_lock.open("rb+") as file:
            while True:
                try:
                    fcntl.flock(file, kind | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise self._busy(wait_seconds) from None
                    time.sleep(POLL_SECONDS)
            yield

    def _busy(self, wait_seconds: float) -> StoreBusyError:
        return StoreBusyError(
            f"Another process has been writing {self._root} for more than {wait_seconds:.0f} s. "
            "Wait until it ends (a run in the Dagster UI, another `memory` command), then "
            "try again."
        )

    @property
    def _days_lock(self) -> Path:
        return self._root / "built" / "locks" / "days.lock"

    @cached_property
    def _file(self) -> "filelock.FileLock":
        import filelock

        return filelock.FileLock(self._root / "lock", mode=0o600, thread_local=False)
