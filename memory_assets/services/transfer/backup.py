"""Backups: one compressed file with everything that cannot be rebuilt, and the store made from it.

The file is a tar in one zstd frame, with a checksum and a mark at the end. Its members are:

    backup.json      the manifest without hashes: the store, the time, the release
    ...              the files of the store
    manifest.json    the manifest with the hash of each file; without it the backup is not complete
"""

import io
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import zstandard

from memory_assets.errors import StoreError
from memory_assets.schema.progress import track
from memory_assets.services.settings.which_store import is_sample
from memory_assets.services.transfer import contents
from memory_assets.services.transfer.contents import MANIFEST, Manifest, hash_of
from memory_assets.services.transfer.exported_settings import with_identity
from memory_assets.services.transfer.place import Placed, place_store, write_below
from memory_assets.store.places import SETTINGS_FILE
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, sync_folder

HEADER = "backup.json"
"""Name of the first member."""

LEVEL = 6
"""How hard zstd compresses."""

MAGIC = b"\x28\xb5\x2f\xfd"
"""The first bytes of a zstd frame, and so of every backup."""

END = b"\x50\x2a\x4d\x18\x04\x00\x00\x00end\n"
"""The last bytes of a backup, a frame that decompressors skip: a file without them was cut off."""

LARGEST_FILE = 4_000_000_000
"""Bytes of one file; a header that promises more is damaged."""


@dataclass(frozen=True)
class BackedUp:
    """A backup that was written."""

    path: Path
    bytes: int
    files: int


def back_up(store: Store, target: str | Path) -> BackedUp:
    """Writes a backup to the target: a file, or a folder, in which the file is named after the
    present moment.

    A folder is one that exists, or a text that ends in a slash. Waits for the store's lock. Raises
    `StoreError` where the file cannot be written; an older backup of that name is then kept.
    """
    path = Path(target).expanduser().absolute()
    if path.is_dir() or str(target).endswith("/"):
        path = path / f"memory-{store.settings.clock():%Y%m%d-%H%M%S}.tar.zst"
    _check_target(path, store)
    try:
        with store.lock(), _written_beside(path) as file:
            manifest = _write(file, store)
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(
            f"Cannot write the backup {path}: {reason}. Free space, or name another file; "
            "nothing was replaced."
        ) from error
    return BackedUp(path, path.stat().st_size, len(manifest.files))


def restore(path: Path, settings: Settings) -> Placed:
    """Makes the store of the settings from the backup; the tables are built by the next run.

    Raises `StoreError` where the backup is damaged or cut off, or where there is a store already;
    then nothing is changed.
    """
    path = path.expanduser().absolute()
    if not path.is_file():
        raise StoreError(f"There is no backup {path}.")
    with _as_damage(path), _members(path) as members:
        if not _is_whole(path):
            # `_as_damage` turns this into a `StoreError`.
            raise tarfile.ReadError("its end is missing")
        name, content = next(members, ("", b""))
        if name != HEADER:
            raise StoreError(f"{path} is not a backup of memory_assets.")
        header = contents.parse_manifest(content, path)
        with place_store(settings, header, path) as folder:
            _unpack(members, folder, path)
    return Placed.of(settings, header)


def _check_target(path: Path, store: Store) -> None:
    if path.is_relative_to(store.root):
        raise StoreError(
            f"A backup belongs outside of the data folder; {path} is inside. Name another file."
        )
    is_backup = path.is_file() and path.open("rb").read(len(MAGIC)) == MAGIC
    if path.exists() and not is_backup:
        raise StoreError(f"{path} exists and is no backup. Name another file.")


@contextmanager
def _written_beside(path: Path) -> Iterator[IO[bytes]]:
    """Yields a file of mode 0600 in the folder of the path, then renames it to the path. Removes
    the files that killed backups left.
    """
    folder = make_folder(path.parent)
    for leftover in folder.glob(f".{path.name}.*.tmp"):
        leftover.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.write(END)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)
    sync_folder(folder)


def _write(file: IO[bytes], store: Store) -> Manifest:
    manifest = contents.manifest_of(store)
    files = contents.files_to_transfer(store)
    hashes = {}
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    with (
        compressor.stream_writer(file, closefd=False) as stream,
        tarfile.open(fileobj=stream, mode="w|") as tar,
    ):
        _add(tar, HEADER, manifest.to_json())
        for name, content in _with_settings(track(files, "Backing up"), store):
            _add(tar, name, content)
            hashes[name] = hash_of(content)
        manifest = replace(manifest, files=hashes)
        _add(tar, MANIFEST, manifest.to_json())
    return manifest


def _with_settings(files: Iterable[tuple[str, bytes]], store: Store) -> Iterator[tuple[str, bytes]]:
    """Yields the files, the settings among them or after them with what the rows depend on.

    The sample has settings of its own.
    """
    settings = b""
    for name, content in files:
        if name == SETTINGS_FILE:
            settings = content
        else:
            yield name, content
    if not is_sample(store.settings):
        yield SETTINGS_FILE, with_identity(settings, store.settings)


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    entry.mode = 0o600
    tar.addfile(entry, io.BytesIO(content))


@contextmanager
def _members(path: Path) -> Iterator[Iterator[tuple[str, bytes]]]:
    """Yields an iterator over name and content of the regular files in the backup."""
    with (
        path.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as stream,
        tarfile.open(fileobj=stream, mode="r|") as tar,
    ):
        yield _read(tar, stream)


def _read(tar: tarfile.TarFile, stream: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yields name and content of each member, then reads on to the end of the zstd frame."""
    for entry in tar:
        yield entry.name, _content(tar, entry)
    while stream.read(1 << 20):  # the checksum is compared at the end
        pass


def _is_whole(path: Path) -> bool:
    """Returns whether the file has the mark at its end."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - len(END), 0))
        return file.read() == END


def _content(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    is_file = entry.isreg() and entry.size <= LARGEST_FILE
    file = tar.extractfile(entry) if is_file else None
    if file is None:
        raise tarfile.ReadError(f"{entry.name} is not a file of a backup")
    return file.read()


def _unpack(members: Iterator[tuple[str, bytes]], folder: Path, origin: Path) -> None:
    """Writes the files into the folder; raises `TarError` unless they are exactly those of the
    manifest.
    """
    hashes: dict[str, str] = {}
    manifest: Manifest | None = None
    for name, content in track(members, "Unpacking"):
        if name == MANIFEST:
            manifest = contents.parse_manifest(content, origin)
            continue
        # The manifest is the last member: nothing may follow it.
        if manifest is not None or not contents.is_safe(name):
            raise tarfile.ReadError(f"{name} is not a file of a store")
        write_below(folder, name, content)
        hashes[name] = hash_of(content)
    if manifest is None:
        raise tarfile.ReadError("it has no manifest")
    faults = contents.differences(hashes, manifest.files)
    if faults:
        more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise tarfile.ReadError(f"{faults[0]}{more}")


@contextmanager
def _as_damage(path: Path) -> Iterator[None]:
    """Raises one `StoreError` for every error that a damaged backup can cause."""
    try:
        yield
    except (tarfile.TarError, zstandard.ZstdError, EOFError, ValueError) as error:
        raise StoreError(
            f"The backup {path} is damaged or cut off ({error}). Nothing was restored; use "
            "another backup."
        ) from error
