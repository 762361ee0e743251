"""Restored stores: unpacked and checked beside what is in the folder, then moved into place, so
that a kill leaves no half one.

    .restoring/            files being unpacked; the next restore removes what a killed one left
    .restoring/complete    all files are there and match their hashes: whoever opens the store next
                           moves them into place

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
"""Files that may be in the data folder before it is a store: settings, and events that hooks sent.
"""

BESIDE_A_STORE = BEFORE_A_STORE | {"since.json", "hooks.json", "sample", "logs", FOLDER}
"""Also: the moment of `--since`, the record of hooks, the sample's store, logs of the service, a
killed restore.
"""


def strangers(root: Path) -> list[str]:
    """Returns the entries of the data folder that show that a store, or something else, is there
    already; sorted.
    """
    return sorted({path.name for path in root.iterdir()} - BESIDE_A_STORE) if root.is_dir() else []


def begin(root: Path) -> Path:
    """Returns an empty folder to unpack into, on the same disk as the store."""
    discard(root)
    return make_folder(root / FOLDER)


def discard(root: Path) -> None:
    """Removes what was unpacked."""
    shutil.rmtree(root / FOLDER, ignore_errors=True)


def commit(root: Path) -> None:
    """Marks what was unpacked as complete, and moves it into place."""
    write_atomically(root / FOLDER / COMPLETE, b"")
    finish(root)


def is_complete(root: Path) -> bool:
    """Returns whether a complete restore waits to be moved into place."""
    return (root / FOLDER / COMPLETE).is_file()


def finish(root: Path) -> None:
    """Moves a complete restore into place; repeated after a kill, it goes on where it stopped."""
    if not is_complete(root):
        return
    parts = [path for path in (root / FOLDER).iterdir() if path.name != COMPLETE]
    for path in sorted(parts, key=lambda path: (path.name == VERSION_FILE, path.name)):
        _move(path, root / path.name)
    sync_folder(root)
    discard(root)


def _move(path: Path, target: Path) -> None:
    if path.is_dir() and target.is_dir():
        for inner in path.iterdir():
            _move(inner, target / inner.name)
        path.rmdir()
    else:
        os.replace(path, target)
