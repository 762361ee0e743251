"""Deletes a whole store: everything that this program wrote into the data folder, and nothing else
that lies there.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from memory_assets.errors import StoreError
from memory_assets.schema.extras import extras
from memory_assets.services.search.corpus import open_vectors
from memory_assets.services.transfer.contents import FILES, FOLDERS, OF_SAMPLE
from memory_assets.store import damage, staged
from memory_assets.store.places import SAMPLE
from memory_assets.store.ready import STATUS
from memory_assets.store.settings import Settings
from memory_assets.store.store import DERIVED, Store

OTHERS = (
    "dagster",
    "branches",
    damage.FOLDER,
    staged.FOLDER,
    "lock",
    "tasks.lock",
    *(file for extra in extras() for file in extra.files),
    STATUS,
    SAMPLE,
)
WAIT_SECONDS = 10.0
"""How long to wait for another process that writes to the store."""


@dataclass(frozen=True)
class Erased:
    """What was deleted, and what is left in the folder."""

    path: Path
    names: tuple[str, ...]
    left: tuple[str, ...]
    objects: str = ""
    """Address of the bucket that held the store: its objects stay, because other machines may use
    them.
    """


def entries_of(root: Path) -> list[Path]:
    """Returns the entries of the data folder that this program wrote.

    `VERSION` comes first: once it is deleted, the folder is no store, whatever else is still there.
    """
    names = {*FILES, *FOLDERS, *OF_SAMPLE, *DERIVED, *OTHERS} - {"VERSION"}
    paths = (root / name for name in ("VERSION", *sorted(names)))
    return [path for path in paths if path.exists() or path.is_symlink()]


def erase(settings: Settings) -> Erased:
    """Deletes the store for good; raises `StoreBusyError` while another process writes,
    `StoreError` where it cannot delete.
    """
    root = settings.data
    if not root.is_dir():
        return Erased(root, (), (), settings.shared_at)
    # Without the shared copy, which other machines may use.
    store = Store(settings.of_folder(), root)
    with store.lock(WAIT_SECONDS):
        names = tuple(path.name for path in entries_of(root))
        _erase_server(Store(settings, root))
        try:
            for path in entries_of(root):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        except OSError as error:
            raise StoreError(
                f"Cannot delete {error.filename or root}: {error.strerror or error}. Fix its "
                "permissions, then run the same command again; what was deleted is gone."
            ) from error
    entries_left = tuple(sorted(path.name for path in root.iterdir() if path.name != "lock"))
    if not entries_left:
        shutil.rmtree(root)
    return Erased(root, names, entries_left, settings.shared_at)


def _erase_server(store: Store) -> None:
    """Deletes the vectors that a server keeps; raises `IndexFailedError` where that fails."""
    # The server's names are derived from the key.
    if (store.root / "resources" / "key").is_file():
        open_vectors(store).erase()
