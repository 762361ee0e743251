"""Restores a store in two steps, so that a kill never leaves half a store: files are unpacked and
checked in a folder of their own, then moved into place.

    .restoring/            files being unpacked; the next restore removes those of a killed one
    .restoring/complete    an empty file: all files are unpacked and match their hashes. After a
                           kill, the next process that opens the store moves them into place.

`VERSION`, which makes a folder a store, is moved last.
"""

import os
import shutil
from pathlib import Path

from memory_assets.text.files import make_folder, sync_folder, write_atomically

FOLDER = ".restoring"
COMPLETE = "complete"
VERSION_FILE = "VERSION"

BEFORE_A_STORE = frozenset({"memory.toml", "spool", "lock"})
"""Entries that a data folder may have before it is a store: settings, events that hooks sent, the
write lock.
"""

BESIDE_A_STORE = BEFORE_A_STORE | {"since.json", "hooks.json", "sample", "logs", FOLDER}
"""These, and entries that a store does not need: the moment of `--since`, the record of hooks, the
sample's store, logs of the service, a killed restore.
"""


def other_entries(root: Path) -> list[str]:
    """Returns the other entries of the data folder, sorted: of a store, or of another program."""
    if not root.is_dir():
        return []
    return sorted({path.name for path in root.iterdir()} - BESIDE_A_STORE)


def begin(root: Path) -> Path:
    """Returns an empty folder to unpack into, on the same disk as the store."""
    discard(root)
    return make_folder(root / FOLDER)


def discard(root: Path) -> None:
    """Removes the unpacked files."""
    shutil.rmtree(root / FOLDER, ignore_errors=True)


def commit(root: Path) -> None:
    """Marks the unpacked files as complete, and moves them into place."""
    write_atomically(root / FOLDER / COMPLETE, b"")
    finish(root)


def is_complete(root: Path) -> bool:
    """Returns whether a complete restore waits to be moved into place."""
    return (root / FOLDER / COMPLETE).is_file()


def finish(root: Path) -> None:
    """Moves a complete restore into place; after a kill, the next call continues."""
    if not is_complete(root):
        return
    parts = [path for path in (root / FOLDER).iterdir() if path.name != COMPLETE]
    for path in sorted(parts, key=lambda path: (path.name == VERSION_FILE, path.name)):
        _move(path, root / path.name)
    sync_folder(root)
    discard(root)


def _move(path: Path, target: Path) -> None:
    if path.is_dir() and target.is_dir():
        for child in path.iterdir():
            _move(child, target / child.name)
        path.rmdir()
    else:
        os.replace(path, target)
