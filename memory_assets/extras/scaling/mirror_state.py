"""What the object store says of a store (its manifest), and what a data folder noted of it at the
last synchronisation.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import zstandard

from memory_assets.errors import ObjectStoreError, StoreVersionError
from memory_assets.schema.extras import added_folders
from memory_assets.text.files import Stamp, write_atomically

VERSION = 1
MANIFEST = "manifest.json.zst"
NOTED = "mirror.json"
FOLDERS = ("ledger", "answers", "resources", *added_folders(), "tables")
FILES = ("instance.json", "VERSION")
"""What is kept in the object store: all else in the data folder belongs to one machine."""

NUMBERS_OF_A_FOLDER = 1_000
"""Of several folders that share a store, each numbers the proposals of a day in a thousand of its
own.
"""


@dataclass(frozen=True)
class StoredFile:
    """The object that holds a file."""

    key: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Synchronised:
    """The manifest as of the last synchronisation, and what this folder knows besides."""

    tag: str = ""
    files: Mapping[str, StoredFile] = field(default_factory=dict)
    machines: tuple[str, ...] = ()
    """The folders that share the store, in the order in which they joined."""
    machine: str = ""
    """This folder, in that list."""
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    """The files here, as they were then."""
    unnamed: tuple[str, ...] = ()
    """Keys of objects that a killed process may have left."""
    erased: tuple[str, ...] | None = None
    """The forgettings that were carried out in this folder; None before anything was noted."""


def pack(files: Mapping[str, StoredFile], machines: Iterable[str]) -> bytes:
    """Returns the content of a manifest."""
    rows = {path: asdict(entry) for path, entry in sorted(files.items())}
    content = json.dumps({"v": VERSION, "files": rows, "machines": list(machines)})
    return zstandard.ZstdCompressor(level=3).compress(content.encode())


def parse_manifest(content: bytes, tag: str, url: str) -> Synchronised:
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
        return Synchronised(tag, files, tuple(row["machines"]))
    except (ValueError, KeyError, TypeError, zstandard.ZstdError) as error:
        raise ObjectStoreError(
            f"{MANIFEST} in {url} is damaged ({error}). Restore it from a backup."
        ) from error


def is_of_store(path: str) -> bool:
    """Returns whether a file of a manifest may be written below the data folder, whoever wrote the
    manifest.
    """
    first, *others = path.split("/")
    is_plain = not any(part in ("", ".", "..") or part.startswith(".") for part in others) and not {
        "\\",
        "\0",
    } & set(path)
    return path in FILES or (first in FOLDERS and bool(others) and is_plain)


def read_noted(root: Path, url: str) -> Synchronised:
    """Returns what the folder noted; nothing for another address, or a file that a killed process
    tore.
    """
    try:
        row = json.loads((root / NOTED).read_bytes())
        if row["url"] != url:
            return Synchronised()
        files = {path: StoredFile(**one) for path, one in row["files"].items()}
        stamps = {path: tuple(one) for path, one in row["stamps"].items()}
        erased = None if row["erased"] is None else tuple(row["erased"])
        lists = {name: tuple(row[name]) for name in ("machines", "unnamed")}
        return Synchronised(
            row["tag"], files, machine=row["machine"], stamps=stamps, erased=erased, **lists
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return Synchronised()


def write_noted(root: Path, url: str, state: Synchronised) -> None:
    """Notes the state in the folder."""
    files = {path: asdict(entry) for path, entry in state.files.items()}
    write_atomically(root / NOTED, json.dumps({**vars(state), "files": files, "url": url}).encode())
