"""The write locks of a store: one of the whole store, and one of each part, such as a day
(`part_locks`).

Every writer takes the file `lock` first: who writes the whole store keeps it, who writes a part
only until it has that part's lock. So a process that waits for the whole store comes before the
next part: many short locks of parts do not keep it waiting.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memory_assets.errors import StoreBusyError
from memory_assets.store.part_locks import PartLocks, PartsBusyError

if TYPE_CHECKING:
    import filelock


class WriteLocks:
    """The locks of the store in one folder. Re-entrant within one object; each wait ends with
    `StoreBusyError`.
    """

    def __init__(self, root: Path) -> None:
        self._root, self._parts = root, PartLocks(root / "built" / "locks")

    @property
    def depth(self) -> int:
        """How many blocks of this object hold the lock of the whole store, or wait for it."""
        return self._file.lock_counter

    @contextmanager
    def whole(self, wait_seconds: float) -> Iterator[None]:
        """Holds what every writer of the store or of a part of it needs."""
        with self._first(wait_seconds) as is_outermost, ExitStack() as held:
            if is_outermost:
                held.enter_context(self._or_busy(self._parts.all(wait_seconds), wait_seconds))
            yield

    @contextmanager
    def part(self, name: str, wait_seconds: float) -> Iterator[None]:
        """Holds the lock of one part: other processes may write others, unless one holds the whole
        store.

        Inside it the lock of the whole store must not be taken; a holder of that lock may take it.
        """
        with ExitStack() as held:
            with self._first(wait_seconds) as is_outermost:
                if is_outermost and PartLocks.is_supported:
                    held.enter_context(
                        self._or_busy(self._parts.shared(wait_seconds), wait_seconds)
                    )
                else:
                    held.enter_context(self._first(wait_seconds))
            if is_outermost and PartLocks.is_supported:
                held.enter_context(self._or_busy(self._parts.one(name, wait_seconds), wait_seconds))
            yield

    @contextmanager
    def _first(self, wait_seconds: float) -> Iterator[bool]:
        """Holds the file that every writer takes first; yields whether this object did not hold it
        before.
        """
        import filelock  # readers do not need it

        try:
            taken = self._file.acquire(timeout=wait_seconds)
        except filelock.Timeout:
            raise self._busy(wait_seconds) from None
        with taken:
            yield self._file.lock_counter == 1

    @contextmanager
    def _or_busy(self, lock: AbstractContextManager[None], wait_seconds: float) -> Iterator[None]:
        with ExitStack() as held:
            try:
                held.enter_context(lock)
            except PartsBusyError:
                raise self._busy(wait_seconds) from None
            yield

    def _busy(self, wait_seconds: float) -> StoreBusyError:
        return StoreBusyError(
            f"Another process has been writing {self._root} for more than {wait_seconds:.0f} s. "
            "Wait until it ends (a run in the Dagster UI, another `memory` command), then "
            "try again."
        )

    @cached_property
    def _file(self) -> "filelock.FileLock":
        import filelock

        return filelock.FileLock(self._root / "lock", mode=0o600, thread_local=False)
