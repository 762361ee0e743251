"""The manifest in the object store, and what a data folder stores of it after each synchronisation
(`mirror.json`).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import zstandard

from memory_assets.errors import ObjectStoreError, StoreVersionError
from memory_assets.schema.extras import added_folders
from memory_assets.store.places import INSTANCE_FILE
from memory_assets.text.files import Stamp, write_atomically

VERSION = 1
MANIFEST = "manifest.json.zst"
STATE_FILE = "mirror.json"
FOLDERS = ("ledger", "answers", "resources", *added_folders(), "tables")
FILES = (INSTANCE_FILE, "VERSION")
"""Folders and files that are kept in the object store; all others in the data folder belong to one
machine.
"""


@dataclass(frozen=True)
class StoredFile:
    """The object that holds a file: its key, and the hash and size of its content."""

    key: str
    sha256: str
    size: int


@dataclass(frozen=True)
class MirrorState:
    """A manifest and, for the last synchronised one, the state of this folder at that time."""

    tag: str = ""
    """The tag of the manifest's object; empty where there is no manifest."""
    files: Mapping[str, StoredFile] = field(default_factory=dict)
    machines: tuple[str, ...] = ()
    """The folders that share the store, in the order in which they joined."""
    machine: str = ""
    """This folder's id in that list."""
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    """Path → stamp of the file in this folder."""
    unnamed: tuple[str, ...] = ()
    """Keys of objects that a killed process may have left behind."""
    erased: tuple[str, ...] | None = None
    """Ids of the forgettings that were carried out in this folder; None before the first note."""


def pack(files: Mapping[str, StoredFile], machines: Iterable[str]) -> bytes:
    """Returns the content of a manifest."""
    rows = {path: asdict(entry) for path, entry in sorted(files.items())}
    content = json.dumps({"v": VERSION, "files": rows, "machines": list(machines)})
    return zstandard.ZstdCompressor(level=3).compress(content.encode())


def parse_manifest(content: bytes, tag: str, url: str) -> MirrorState:
    """Returns the manifest; raises `StoreVersionError` if a newer release wrote it,
    `ObjectStoreError` if it is damaged.
    """
    try:
        row = json.loads(zstandard.ZstdDecompressor().decompress(content))
        if row["v"] > VERSION:
            raise StoreVersionError(f"{url} was written by a newer release; upgrade memory_assets.")
        files = {path: StoredFile(**fields) for path, fields in row["files"].items()}
        for path in files:
            if not is_of_store(path):
                raise ValueError(f"it names the file {path[:80]!r}")
        return MirrorState(tag, files, tuple(row["machines"]))
    except (ValueError, KeyError, TypeError, zstandard.ZstdError) as error:
        raise ObjectStoreError(
            f"{MANIFEST} in {url} is damaged ({error}). Restore it from a backup."
        ) from error


def is_of_store(path: str) -> bool:
    """Returns whether a file that a manifest names may be written below the data folder.

    Anybody may have written the manifest: no path may lead out of the folders of a store.
    """
    first, *others = path.split("/")
    if "\\" in path or "\0" in path or any(part == "" or part.startswith(".") for part in others):
        return False
    return path in FILES or (first in FOLDERS and bool(others))


def read_state(root: Path, url: str) -> MirrorState:
    """Returns the state in the folder; an empty one for another address, or where a killed process
    left a torn file.
    """
    try:
        row = json.loads((root / STATE_FILE).read_bytes())
        if row["url"] != url:
            return MirrorState()
        return MirrorState(
            row["tag"],
            {path: StoredFile(**fields) for path, fields in row["files"].items()},
            tuple(row["machines"]),
            row["machine"],
            {path: tuple(stamp) for path, stamp in row["stamps"].items()},
            tuple(row["unnamed"]),
            None if row["erased"] is None else tuple(row["erased"]),
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return MirrorState()


def write_state(root: Path, url: str, state: MirrorState) -> None:
    """Writes the state into the folder."""
    files = {path: asdict(entry) for path, entry in state.files.items()}
    row = {**vars(state), "files": files, "url": url}
    write_atomically(root / STATE_FILE, json.dumps(row).encode())
