"""Puts a store that was restored or imported where the settings say, as a whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memory_assets.errors import MemoryAssetsError, StoreError
from memory_assets.services.transfer.contents import OF_MACHINE, Manifest
from memory_assets.store import staged
from memory_assets.store.places import SAMPLE
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder


@dataclass(frozen=True)
class Placed:
    """A store that was put in place; its tables are not built yet."""

    root: Path
    is_sample: bool
    manifest: Manifest
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings, manifest: Manifest, warnings: tuple[str, ...] = ()) -> "Placed":
        """Returns the store of the manifest at the settings' place."""
        return cls(root_of(settings, manifest), manifest.is_sample, manifest, warnings)


def root_of(settings: Settings, manifest: Manifest) -> Path:
    """Returns the folder for the store; the bundled sample has one of its own, so that it never
    replaces the owner's store.
    """
    return settings.data / SAMPLE if manifest.is_sample else settings.data


@contextmanager
def place_store(settings: Settings, manifest: Manifest, origin: Path) -> Iterator[Path]:
    """Yields a folder to write the files into. At the end its content becomes the store; after an
    error it is deleted.

    Raises `StoreError` where there is a store already, or the disk fails; its text names `origin`,
    the backup or export.
    """
    root = root_of(settings, manifest)
    if settings.shared_at:
        raise StoreError(
            f"The store is in {settings.shared_at}, so nothing can be placed in {root}. Run "
            "`memory config unset store`, do this again, then set `store` to a prefix "
            "without objects, which the next run fills."
        )
    try:
        with Store(settings, make_folder(root)).lock():
            staged.finish(root)
            _check_empty(root)
            folder = staged.begin(root)
            try:
                yield folder
                for name in OF_MACHINE:
                    if (root / name).is_file():
                        (folder / name).unlink(missing_ok=True)
                _check_empty(root)
                if hasattr(os, "sync"):
                    os.sync()
                staged.commit(root)
            except BaseException:
                if not staged.is_complete(root):
                    staged.discard(root)
                raise
    except MemoryAssetsError:
        raise
    except OSError as error:
        raise StoreError(
            f"Cannot make the store {root} from {origin}: {error.strerror or error}. Free space or "
            "fix the permissions, then run the same command again."
        ) from error


def write_below(folder: Path, name: str, content: bytes) -> None:
    """Writes the file below the folder, with mode 0600; callers flush all of them together."""
    path = folder / name
    make_folder(path.parent)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def _check_empty(root: Path) -> None:
    strangers = staged.other_entries(root)
    if strangers:
        more = " and more" if len(strangers) > 3 else ""
        names = f"{', '.join(strangers[:3])}{more}"
        raise StoreError(
            f"{root} is not empty: it has {names}. Nothing was changed. Move it away (`mv '{root}' "
            f"'{root}.old'`), or name another folder with --store, then run the same command again."
        )
