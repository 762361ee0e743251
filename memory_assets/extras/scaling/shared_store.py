"""A store that several machines share: its copy in an object store, and its workspace at a git
remote.

A run first fetches what other machines changed, and at its end sends what changed here. In the
workspace, the files of entries, the lessons and logs of optional capabilities are merged: they get
the lines of both machines. The other files of the workspace are rendered from tables.
"""

import time
from collections.abc import Iterable
from math import inf

from memory_assets.adapters.git_remote import GitRemote
from memory_assets.errors import ObjectStoreError, SettingsError, StoreBusyError
from memory_assets.extras.scaling.mirror import Mirror
from memory_assets.extras.scaling.s3_objects import S3Objects
from memory_assets.extras.scaling.settings import scaling
from memory_assets.schema.announcements import announce
from memory_assets.schema.extras import places
from memory_assets.services.search.brief_inputs import LESSONS_MD
from memory_assets.stages.triage.projects import is_memory_file
from memory_assets.store.store import LOCK_WAIT_SECONDS, Store

WAIT_AFTER_FAILURE_SECONDS = 60.0
"""Pause before the next attempt after the object store did not answer."""


class SharedStore:
    """Implements `schema.protocols.SharedCopy` with objects in a bucket."""

    def __init__(self, store: Store) -> None:
        settings = scaling(store.settings)
        self.address = settings.store
        self.mirror = Mirror(store.root, S3Objects(settings.store, settings.store_endpoint))
        self.place = self.mirror.place
        self._store = store
        self._synchronised_at = -inf
        self._paused_until = -inf

    def open(self) -> None:
        """Fetches the store from its bucket, or creates it there; fetches the workspace from its
        remote. Raises `SettingsError` without a remote.
        """
        store = self._store
        if not store.settings.remote:
            raise SettingsError(
                f"The store {self.address} needs a git remote for the workspace (MEMORY.md and its "
                "history), which is not kept as objects. Set MEMORY_REMOTE to a repository, such "
                "as git@example.org:me/memory.git."
            )
        forgettings_here = store.finished_forgettings()
        if self.mirror.is_known:
            self._try_sync()
        else:
            self._create()
        if self.mirror.erased() is None:
            # A folder with forgettings of its own has carried out these, and not yet those that it
            # fetched. A new folder never had what was forgotten earlier: nothing is to erase in it.
            self.mirror.note_erased(forgettings_here or store.finished_forgettings())
        if not (store.workspace / ".git").is_dir():
            GitRemote(store.workspace).fetch(store.settings.remote)

    def _create(self) -> None:
        """Fetches the store; if it has no key yet, writes and sends one."""
        store = self._store
        self.sync()
        if not (store.root / "resources" / "key").is_file():
            _ = store.key  # reading it writes the file
            self.sync()
            # Another machine may have sent its key first, which has now replaced the file. `key` is
            # a cached property: without its cached value, it is read again.
            vars(store).pop("key")

    def sync(self, *, is_erasing: bool = False, wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
        """Exchanges changes with the bucket; raises `ObjectStoreError` if it cannot.

        With `is_erasing`, the files of this folder replace those of the bucket.
        """
        with self._store.locks.whole(wait_seconds):
            self.mirror.sync(is_erasing=is_erasing)
            self._synchronised_at = time.monotonic()

    def sync_if_older(self, seconds: float) -> None:
        """Exchanges changes unless this process did within so many seconds, or another process
        writes.
        """
        if time.monotonic() >= self._synchronised_at + seconds:
            self._try_sync()

    def _try_sync(self) -> None:
        """Synchronises, unless another process writes, which then synchronises itself.

        Announces a bucket that does not answer, and waits before the next attempt. Raises
        `ObjectStoreError` where this folder has no copy yet.
        """
        if time.monotonic() < self._paused_until:
            return
        try:
            self.sync(wait_seconds=0)
        except StoreBusyError:
            return
        except ObjectStoreError as error:
            if not self.mirror.is_known:
                raise
            self._paused_until = time.monotonic() + WAIT_AFTER_FAILURE_SECONDS
            root = self._store.root
            announce(
                f"{error} The copy in {root} is used; what is new there is sent by the next run "
                "that can.",
                about=f"object store {root}",
            )

    def erased(self) -> frozenset[str] | None:
        """Returns the ids of the forgettings that were carried out in this folder."""
        return self.mirror.erased()

    def note_erased(self, ids: Iterable[str]) -> None:
        """Notes that these forgettings were carried out in this folder."""
        self.mirror.note_erased(ids)

    def fetch(self) -> None:
        """Fetches what other machines changed; raises `StoreError` if it cannot."""
        store = self._store
        self.sync()
        with store.lock():
            GitRemote(store.workspace).fetch(store.settings.remote, _is_merged)

    def send(self) -> None:
        """Sends what changed here; announces a remote that does not take the workspace."""
        self.sync()
        problem = self.exchange_workspace()
        if problem:
            about = f"workspace {self._store.root}"
            announce(f"{problem} The next run tries again.", about=about)

    def exchange_workspace(self) -> str | None:
        """Exchanges the workspace with the other machines; returns the problem, if any."""
        store = self._store
        with store.lock():
            return GitRemote(store.workspace).exchange(store.settings.remote, _is_merged)


def _is_merged(path: str) -> bool:
    """Returns whether a file gets the lines of both machines; `path` is relative to the workspace.

    The paths of `places` are relative to the store.
    """
    logs = [place.path for place in places() if place.is_log]
    return is_memory_file(path) or path == LESSONS_MD or f"workspace/{path}" in logs
