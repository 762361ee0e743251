"""Locks of parts of a store: several processes write different days at once, and none while one has
the whole store.

The system releases a lock when its process ends, however it ends. On several machines the folder
must be on a file system that knows locks, such as NFS 4. Where the system has no shared locks
(Windows), the store's own lock is used instead.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_assets.text.files import make_folder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

POLL_SECONDS = 0.01
SHARED = "shared.lock"


class PartsBusyError(Exception):
    """Other processes held locks of parts for too long."""


class PartLocks:
    """The locks below one folder, which is made with the first lock of a part."""

    is_supported = fcntl is not None

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def all(self, wait_seconds: float) -> Iterator[None]:
        """Waits until no part is locked, and keeps it so; entered and left under the store's
        lock.
        """
        if (
            fcntl is None or not (self._folder / SHARED).is_file()
        ):  # made under the store's lock only
            yield
            return
        with _locked(self._folder / SHARED, fcntl.LOCK_EX, wait_seconds):
            yield

    @contextmanager
    def shared(self, wait_seconds: float) -> Iterator[None]:
        """Keeps others from locking all parts; entered under the store's lock, and kept longer than
        that.
        """
        assert fcntl is not None
        with _locked(make_folder(self._folder) / SHARED, fcntl.LOCK_SH, wait_seconds):
            yield

    @contextmanager
    def one(self, name: str, wait_seconds: float) -> Iterator[None]:
        """Holds the lock of one part, under `shared`."""
        assert fcntl is not None
        with _locked(self._folder / f"{name}.lock", fcntl.LOCK_EX, wait_seconds):
            yield


@contextmanager
def _locked(path: Path, kind: int, wait_seconds: float) -> Iterator[None]:
    assert fcntl is not None
    until = time.monotonic() + wait_seconds
    path.touch(mode=0o600)
    with path.open("rb+") as file:
        while True:
            try:
                fcntl.flock(file, kind | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise PartsBusyError(str(path)) from None
                time.sleep(POLL_SECONDS)
        yield
