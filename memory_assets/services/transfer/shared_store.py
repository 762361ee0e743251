"""Exchanges a store in an object store, and its workspace, with the other machines that share them.

A run begins with what the others changed and ends by sending what changed here. The files of
entries, the lessons and the log of what was done to systems get the lines of both machines; the
other files of the workspace are rendered from tables.
"""

from memory_assets.adapters.git_remote import GitRemote
from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import StoreError
from memory_assets.schema.announcements import announce
from memory_assets.services.search.brief_inputs import LESSONS_MD
from memory_assets.stages.triage.projects import is_memory_file
from memory_assets.store.slog import SLOG
from memory_assets.store.store import Store


def fetch(store: Store) -> None:
    """Fetches what other machines changed; raises `StoreError` if it cannot."""
    if store.mirror is not None:
        store.sync()
        with store.lock():
            GitRemote(store.workspace).fetch(store.settings.remote, _has_both)


def hand_over(store: Store) -> None:
    """Sends what changed here; a remote that does not take the workspace is announced, and tried
    again by the next run.
    """
    if store.mirror is not None:
        store.sync()
        problem = _exchange(store)
        if problem:
            announce(f"{problem} The next run tries again.", about=f"workspace {store.root}")


def send_workspace(store: Store) -> None:
    """Sends the workspace of a shared store to its remote; raises `StoreError` if it cannot."""
    problem = _exchange(store) if store.mirror is not None else None
    if problem:
        raise StoreError(f"{problem} Run the same command again once the remote can be reached.")


def push_workspace(store: Store) -> str | None:
    """Pushes the workspace to its remote, of a shared store after merging what others pushed;
    returns the problem, if any.
    """
    if store.mirror is not None:
        return _exchange(store)
    return GitWorkspace(store.workspace).push(store.settings.remote)


def _exchange(store: Store) -> str | None:
    with store.lock():
        return GitRemote(store.workspace).exchange(store.settings.remote, _has_both)


def _has_both(path: str) -> bool:
    return is_memory_file(path) or path in (LESSONS_MD, SLOG)
