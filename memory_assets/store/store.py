"""The store: one folder with the archive, the ledger, the tables, the indexes and the workspace.

    resources/      the archive of transcript bytes, and the key of its keyed hashes     permanent
    ledger/         events of people, agents and clocks                                  permanent
    answers/        raw answers of models                                                permanent
    library/        texts of documents, feeds                                            permanent
    workspace/      a git repository: MEMORY.md, REVIEW.md, lessons.md, summaries/,      permanent
                    timeline/, memory/<day>.md, slog.jsonl
    branches/       what-if branches, until they are adopted or dropped
    spool/          events that were sent and not yet read; aside/: unreadable ones
    pushed/         what was sent to other stores
    incoming/       forgettings of people who push to this store
    tables/         Parquet in Hive folders                                              derived
    index/          vectors and terms                                                    derived
    built/          input versions of files and indexes                                  derived
    dagster/        DAGSTER_HOME: runs and events                                        derived
    VERSION         version of the store's layout
    instance.json   the owner's zone, which never changes
    lock            the write lock; tasks.lock is held while a remote task list is synchronised
    status.txt      the prepared status
    tokens.json     hashes of the tokens of a shared memory
    logs/           audit.jsonl (what these tokens were used for), logs of steps and of the service

Derived data is rebuilt, never migrated: a newer release with another VERSION deletes it, and the
branches. Writers hold the lock, which builders of days share; readers do not need it.
"""

import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_assets.errors import SettingsError, StoreError, StoreVersionError
from memory_assets.schema.announcements import announce
from memory_assets.schema.extras import first_of
from memory_assets.schema.protocols import SharedCopy
from memory_assets.store import staged
from memory_assets.store.ledger import RECALLED, WORDS_ERASED, Event, Ledger
from memory_assets.store.places import INSTANCE_FILE
from memory_assets.store.settings import Settings, stored_zone
from memory_assets.store.write_locks import WriteLocks
from memory_assets.text.files import make_folder, path_within, text_of, write_atomically, write_json
from memory_assets.text.masking.records import mask_record

if TYPE_CHECKING:
    from memory_assets.store.archive import Archive
    from memory_assets.store.parquet_tables import ParquetTables

VERSION = 2
DERIVED = ("tables", "index", "built")
FOLDERS = ("resources", "ledger", "answers", "workspace", *DERIVED)
LOCK_WAIT_SECONDS = 120.0
"""Longest wait of a command for the write lock."""

PART_WAIT_SECONDS = 600.0
"""Longest wait of a step that writes one of many days: no person waits for it."""

SEND_SECONDS = 5.0
"""Least time between two synchronisations with a shared copy when write locks are released."""

SYNC_AGE_SECONDS = 60.0
"""Time after which reading compares the data folder with a shared copy again."""

NUMBERS_OF_A_FOLDER = 1_000
"""Numbers of a day's proposals that each of several folders that share a store has for itself."""

OTHER_KEYS = "other_keys"
"""File beside the key, with the keys of other machines of the same person."""

OTHERS = 0o077
"""Permissions of the group and of everybody else."""


@dataclass(frozen=True)
class Store:
    """An open store; all state is read and written through its members."""

    settings: Settings
    root: Path
    origin: Path | None = None
    """For a branch: root of the store whose archive and answers it reads."""

    @cached_property
    def tables(self) -> "ParquetTables":
        """The Parquet tables."""
        # Importing polars takes longer than some commands in all.
        from memory_assets.store.parquet_tables import ParquetTables

        return ParquetTables(self.root / "tables")

    @cached_property
    def ledger(self) -> Ledger:
        """The append-only ledger."""
        return Ledger(self.root / "ledger", self.settings.clock)

    def append_event(self, kind: str, target: str, payload: dict[str, Any]) -> Event:
        """Appends an event of the owner to the ledger, and returns it."""
        event = self.ledger.append(kind, target, payload, actor=self.settings.owner)
        if kind != RECALLED:  # recalls are sent to a shared copy with the next other change
            self.sync_if_older(0)
        return event

    @cached_property
    def archive(self) -> "Archive":
        """The archive of transcript bytes."""
        from memory_assets.store.archive import Archive

        return Archive(self.permanent / "resources")

    @property
    def answers(self) -> Path:
        """The folder of raw answers of models."""
        return self.permanent / "answers"

    @cached_property
    def key(self) -> bytes:
        """The key of keyed hashes, stored with the archive; only backups and exports of everything
        contain it.
        """
        path = self.permanent / "resources" / "key"
        if not path.is_file():
            write_atomically(path, secrets.token_hex(32).encode())
        return path.read_bytes()

    @property
    def keys(self) -> tuple[bytes, ...]:
        """The key, then those of the stores that exchange their content with this one."""
        others = self.permanent / "resources" / OTHER_KEYS
        return (self.key, *(others.read_bytes().split() if others.is_file() else ()))

    @property
    def workspace(self) -> Path:
        """The folder of MEMORY.md, a git repository."""
        return self.root / "workspace"

    def memory_md(self) -> str:
        """Returns MEMORY.md, with secrets that a person typed masked; empty if there is none."""
        from memory_assets.schema.records import MEMORY_MD

        return mask_record(text_of(path_within(self.workspace, MEMORY_MD)))

    def note_of(self, name: str) -> str | None:
        """Returns the input version that a file or index was built from; None if it never was."""
        return text_of(self.root / "built" / f"{name}.txt") or None

    def note(self, name: str, version: str) -> None:
        """Stores the input version that a file or index was built from."""
        write_atomically(make_folder(self.root / "built") / f"{name}.txt", version.encode())

    @property
    def dagster_home(self) -> Path:
        """Dagster's own folder."""
        return self.root / "dagster"

    @property
    def permanent(self) -> Path:
        """The folder of archive, answers and documents, which a branch shares with its store."""
        return self.origin or self.root

    @cached_property
    def shared(self) -> SharedCopy | None:
        """The copy of this store that several machines use, if there is one; a branch has none."""
        return first_of("shared_copy", self) if self.origin is None else None

    @property
    def first_number(self) -> int:
        """The first number of a day's proposals. Folders that share the store start at different
        numbers, so that no number is given twice.
        """
        return 1 + NUMBERS_OF_A_FOLDER * (self.shared.place if self.shared else 0)

    def sync(self, *, is_erasing: bool = False, wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
        """Exchanges changes with the shared copy, if there is one; raises `StoreError` if that
        fails. With `is_erasing`, the files of this folder replace those of the copy.
        """
        if self.shared is not None:
            self.shared.sync(is_erasing=is_erasing, wait_seconds=wait_seconds)

    def sync_if_older(self, seconds: float = SYNC_AGE_SECONDS) -> None:
        """Exchanges changes with the shared copy, unless this process did within so many seconds or
        another process writes.
        """
        if self.shared is not None:
            self.shared.sync_if_older(seconds)

    @property
    def has_to_erase(self) -> bool:
        """Whether this folder still holds words that were forgotten on another machine."""
        erased = self.shared.erased() if self.shared else None
        return erased is not None and not erased.issuperset(self.finished_forgettings())

    def finished_forgettings(self) -> list[str]:
        """Returns the ids of the forgettings that are finished."""
        return [event.target for event in self.ledger.events([WORDS_ERASED])]

    @contextmanager
    def lock(self, wait_seconds: float = LOCK_WAIT_SECONDS) -> Iterator[None]:
        """Holds the write lock; raises `StoreBusyError` after waiting. Re-entrant within one store
        object.

        A shared store is synchronised before the lock is released, at most every few seconds.
        """
        with self.locks.whole(wait_seconds):
            yield
            if self.locks.depth == 1:
                self.sync_if_older(SEND_SECONDS)

    @contextmanager
    def lock_day(self) -> Iterator[None]:
        """Holds the write lock, which other processes that build days hold at the same time.

        `lock` must not be called in the block; a holder of `lock` may call this. A shared store is
        synchronised afterwards, at most every few seconds and not while other processes write.
        """
        with self.locks.day(PART_WAIT_SECONDS):
            yield
        if self.locks.depth == 0:
            self.sync_if_older(SEND_SECONDS)

    @cached_property
    def locks(self) -> WriteLocks:
        """The write lock."""
        return WriteLocks(self.root)


PATTERN_CHARACTERS = "%?*["
"""Polars reads the last three as a pattern of paths, SQLAlchemy the first two as parts of an
address: rows would be missed, or written beside the data folder.
"""


def open_store(settings: Settings) -> Store:
    """Opens the store in `settings.data`, or creates it.

    Removes the permissions of other users. Raises `StoreVersionError` if a newer release wrote it,
    `SettingsError` if the zone differs from the store's, and `StoreError` if the folder cannot be
    used.
    """
    store = Store(settings, settings.data)
    _refuse_patterns(store.root)
    os.umask(0o077)  # also for what Chroma, SQLite, git and Dagster write below the store
    try:
        refuse_links(store.root)
        _deny_others(store.root)
        if staged.is_complete(store.root):
            with store.lock():
                staged.finish(store.root)
        for name in FOLDERS:
            make_folder(store.root / name)
        if store.shared is not None:
            store.shared.open()
        _check_version(store)
        _check_zone(store)
    except OSError as error:
        raise StoreError(
            f"Cannot use {store.root} as the data folder: {error.filename or store.root}: "
            f"{error.strerror or error}. Fix that, or set MEMORY_DATA to a writable folder."
        ) from error
    return store


def _refuse_patterns(root: Path) -> None:
    character = next((char for char in str(root) if char in PATTERN_CHARACTERS), None)
    if character:
        raise StoreError(
            f"Cannot use {root} as the data folder: its path contains {character}, which databases "
            "do not read as a part of a name. Set MEMORY_DATA to a folder without it."
        )


def refuse_links(root: Path) -> None:
    """Raises `StoreError` where a link in the place of a folder of the store, or in it, leads out
    of the store: nothing is read or written there.
    """
    for name in (*FOLDERS, "logs", "built/locks"):
        folder = path_within(root, name)
        for entry in os.scandir(folder) if folder.is_dir() else ():
            if entry.is_symlink():
                path_within(root, f"{name}/{entry.name}")


def _deny_others(root: Path) -> None:
    """Removes the permissions of other users from the folder and everything in it, if they have any
    for the folder.

    Raises `StoreError` if the folder belongs to another user, or is not a store.
    """
    if os.name != "posix" or not root.is_dir() or not stat.S_IMODE(root.stat().st_mode) & OTHERS:
        return
    objection = _objection(root)
    if objection:
        raise StoreError(
            f"Other users may read {root}, which {objection}. Run `chmod go-rwx '{root}'`, or set "
            "MEMORY_DATA to another folder."
        )
    for folder, names, files in os.walk(root, topdown=False):
        for name in (*names, *files, ""):
            path = Path(folder, name)
            mode = stat.S_IMODE(path.lstat().st_mode)
            if mode & OTHERS and not path.is_symlink():
                path.chmod(mode & ~OTHERS)


def _objection(root: Path) -> str:
    """Returns why the permissions of the folder may not be changed; empty if it is a store of this
    user.
    """
    entries = {path.name for path in root.iterdir()}
    if "VERSION" not in entries and not entries <= staged.BEFORE_A_STORE:
        return "holds other files"
    return "" if root.stat().st_uid == os.geteuid() else "belongs to another user"


def remove_derived(store: Store) -> None:
    """Deletes what can be rebuilt from the archive, the ledger, the answers and the workspace."""
    for name in DERIVED:
        shutil.rmtree(store.root / name, ignore_errors=True)
        make_folder(store.root / name)
    (store.root / "instance.json").unlink(missing_ok=True)
    _check_zone(store)


def _check_version(store: Store) -> None:
    """Deletes what an earlier release derived, and writes VERSION; raises `StoreVersionError` if a
    newer release wrote it.
    """
    path = store.root / "VERSION"
    current = f"{VERSION}\n".encode()
    content = path.read_bytes() if path.is_file() else None
    if content is None or not content.strip().isdigit():
        if content is not None:
            announce(f"{path} was damaged and is written again; older tables are rebuilt.")
        write_atomically(path, current)
        return
    version = int(content)
    if version > VERSION:
        raise StoreVersionError(
            f"{store.root} was written by a newer release (store version {version}, this one "
            f"supports {VERSION}). Upgrade memory_assets, or set MEMORY_DATA to another folder."
        )
    if version < VERSION:
        with store.lock():
            remove_derived(store)
            _remove_branches(store)
            write_atomically(path, current)


def _remove_branches(store: Store) -> None:
    """Deletes what-if branches; one whose adoption has started is kept, because the next run
    finishes it.
    """
    for path in (store.root / "branches").glob("*"):
        record = path / "what_if.json"
        if not record.is_file() or _read_json(record).get("state", "") != "adopting":
            shutil.rmtree(path)


def _check_zone(store: Store) -> None:
    """Writes the zone into a new store; raises `SettingsError` if the store has another one."""
    path = store.root / INSTANCE_FILE
    zone = store.settings.timezone
    stored = stored_zone(store.root)
    if not stored:
        if path.is_file():
            announce(f"{path} was damaged and is written again, with the zone {zone}.")
        write_json(path, {"timezone": zone})
    elif stored != zone:
        raise SettingsError(
            f"The days of {store.root} use the zone {stored}, but MEMORY_TIMEZONE is {zone}. Set "
            f"MEMORY_TIMEZONE={stored}, or run `memory data rebuild` to rebuild all days in {zone}."
        )


def _read_json(path: Path) -> dict[str, Any]:
    """Returns the object in the file; empty where it is damaged."""
    try:
        value = json.loads(path.read_bytes())
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
