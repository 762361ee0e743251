"""What a backup or an export of everything contains: the files of a store that cannot be rebuilt,
and their manifest.

What is derived (tables, indexes, Dagster's history, briefings), what-if branches and damaged files
are left out. Callers hold the store's lock, as does every process that writes several files. A line
that is appended meanwhile is copied whole or not at all.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from memory_assets.errors import StoreError, StoreVersionError
from memory_assets.schema.extras import added_folders, places
from memory_assets.services.settings.which_store import is_sample
from memory_assets.services.sources.transcripts import EVER, SINCE_FILE, distilled_since
from memory_assets.store.places import INSTANCE_FILE
from memory_assets.store.store import VERSION, Store

RELEASE = version("memory_assets")
FORMAT = 1
"""Version of the manifest and of the layout."""

MANIFEST = "manifest.json"
FOLDERS = ("resources", "ledger", "answers", *added_folders(), "workspace", "spool", "logs")
"""Folders that cannot be rebuilt."""

LOGS = ("ledger/", "spool/", *(place.path for place in places() if place.is_log))
"""Files to which lines are appended."""
OF_MACHINE = ("memory.toml", "hooks.json")
"""Files that stay as they are where the data folder has them already."""

FILES = ("VERSION", INSTANCE_FILE, SINCE_FILE, *OF_MACHINE)
OF_SAMPLE = ("transcripts",)
"""Folder that the sample's store has in addition."""

DERIVED = ("workspace/briefings/", "workspace/briefing.md")
"""What can be rebuilt in these folders."""

_TEMPORARY = (".tmp", ".lock")
"""Endings of files that exist for a moment only."""


@dataclass(frozen=True)
class Manifest:
    """What a backup or an export was made from, and every file in it."""

    made_at: datetime
    timezone: str
    owner: str
    is_sample: bool
    release: str = RELEASE
    store_version: int = VERSION
    files: Mapping[str, str] = field(default_factory=dict)
    """Name → SHA-256 of the content."""
    rows: Mapping[str, int] = field(default_factory=dict)
    """Rows of each exported table."""

    def to_json(self) -> bytes:
        """Returns it as JSON."""
        options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
        return orjson.dumps({"format": FORMAT, **vars(self)}, option=options)


def manifest_of(store: Store) -> Manifest:
    """Returns the manifest of the store, without files."""
    settings = store.settings
    return Manifest(settings.clock(), settings.timezone, settings.owner, is_sample(settings))


def parse_manifest(content: bytes, origin: Path) -> Manifest:
    """Returns the manifest; raises `StoreVersionError` if a newer release made it, `StoreError` if
    it is not one.
    """
    try:
        manifest: dict[str, Any] = orjson.loads(content)
        layout = manifest.pop("format")
        made_by = manifest["release"]
        if layout <= FORMAT and manifest["store_version"] <= VERSION:
            manifest["made_at"] = datetime.fromisoformat(manifest["made_at"])
            return Manifest(**manifest)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{origin} is damaged: its manifest cannot be read ({error}). Use another one."
        ) from error
    raise StoreVersionError(
        f"{origin} was made by a newer release ({made_by}, this is {RELEASE}). Upgrade "
        "memory_assets."
    )


def permanent_files(root: Path, *, is_sample: bool) -> Iterator[tuple[str, bytes]]:
    """Yields name and content of each file of the store that cannot be rebuilt, sorted by name."""
    folders = (*FOLDERS, *OF_SAMPLE) if is_sample else FOLDERS
    paths = [root / name for name in FILES]
    paths += [path for folder in folders for path in sorted((root / folder).rglob("*"))]
    for path in paths:
        name = path.relative_to(root).as_posix()
        is_left_out = name.endswith(_TEMPORARY) or name.startswith(DERIVED)
        if is_left_out or path.is_symlink() or not path.is_file():
            continue
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            continue  # the spool was read meanwhile
        if name.startswith(LOGS):
            # Without the last line as long as it is being written.
            content = content[: content.rfind(b"\n") + 1]
        yield name, content


def files_to_transfer(store: Store) -> Iterator[tuple[str, bytes]]:
    """Yields the permanent files of the store; where every session is distilled because the
    settings name its sources, which stay behind, `since.json` says so.
    """
    is_whole = distilled_since(store.settings) is None
    for name, content in permanent_files(store.root, is_sample=is_sample(store.settings)):
        if name != SINCE_FILE or not is_whole:
            yield name, content
    if is_whole and not is_sample(store.settings):
        yield SINCE_FILE, orjson.dumps({"since": EVER.isoformat()})


def hash_of(content: bytes) -> str:
    """Returns the SHA-256 of the content."""
    return hashlib.sha256(content).hexdigest()


def is_safe(name: str, *, allowed: Iterable[str] = (*FOLDERS, *FILES, *OF_SAMPLE)) -> bool:
    """Returns whether the name is that of a file in a store, and leads to no file outside of it."""
    path = PurePosixPath(name)
    is_outside = path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name
    return not is_outside and bool(path.parts) and path.parts[0] in set(allowed)


def differences(actual: Mapping[str, str], expected: Mapping[str, str]) -> list[str]:
    """Returns what is wrong with the files, one text each; empty where all are as in the
    manifest.
    """
    both = [name for name in expected if name in actual]
    return [
        *(f"{name} is missing" for name in expected if name not in actual),
        *(f"{name} has changed" for name in both if actual[name] != expected[name]),
        *(f"{name} is not in the manifest" for name in actual if name not in expected),
    ]
