"""Keeps the store in an object store: the data folder is a cache of it, and several machines may
share it.

    manifest.json.zst    path of each file → key, hash and size of the object that holds it
    tables/observations/day=2026-04-08/data-3f9c….parquet
                         one version of a file: never changed, deleted once it is replaced
    mirror.json          in the data folder only: the manifest of the last synchronisation, and
                         the stamps that the files here had then

Objects are written before the manifest that names them. The manifest is replaced only if nobody
else has replaced it meanwhile; otherwise it is read again, merged, and replaced again. A file that
only one side changed is taken from that side. Where both changed a file, this is the result:

    tables             the other machine's version: tables are derived, and a partition that does
                       not fit its inputs is built again
    ledger segments    the other machine's version, with the lines that were appended here; only
                       one process appends to a segment
    catalog            the lines of both machines; of a source that both captured, the other
                       machine's lines: capture reads the rest of the source again
    ranges, answers    the other machine's version: the same input gave both

Files that are missing here are fetched, except files that people may delete: tables, and the
folders of optional capabilities. Deleting one of these here deletes it in the object store. A range
that was masked here is sent. A damaged range and a changed answer are fetched again. While words
are forgotten (`is_erasing`), the tables, ranges and answers of this folder replace all others. The
manifest also lists the folders that share the store. Each numbers its proposals in a range that
follows from its place in that list (`Store.first_number`).
"""

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from memory_assets.errors import ObjectStoreError, StoreError
from memory_assets.extras.scaling.mirror_state import (
    FILES,
    FOLDERS,
    MANIFEST,
    STATE_FILE,
    MirrorState,
    StoredFile,
    is_of_store,
    pack,
    parse_manifest,
    read_state,
    write_state,
)
from memory_assets.extras.scaling.s3_objects import AT_ONCE, S3Objects, Unchanged
from memory_assets.schema.extras import added_folders
from memory_assets.store.archive import Archive, merge_catalogs
from memory_assets.text.files import Stamp, bytes_of, stamp_of, write_atomically

OF_MACHINE = frozenset({"resources/seen.json", "resources/unreadable.json"})
"""What this machine's last scan of its own transcripts saw: never sent."""

CATALOG = "resources/catalog.jsonl"
KEY = "resources/key"
BATCHES = "answers/batches/"
"""Requests that this machine sent to a model and whose answers it waits for: never exchanged."""

DERIVED = "tables/"
REMOVABLE = tuple(f"{folder}/" for folder in added_folders())
"""Folders whose files people may delete."""

RANGES = "resources/ranges/"
ANSWERS = "answers/"
IMMUTABLE = (RANGES, ANSWERS)
"""Folders whose files only forgetting changes."""

ATTEMPTS = 20
"""Attempts to replace the manifest before a synchronisation gives up. Each one that fails means
that another machine replaced it.
"""

READ_ATTEMPTS = 3
"""Attempts to read the objects that a manifest names. Another machine may replace an object after
the manifest was read; after the third attempt the object counts as lost.
"""

KEEP_UNNAMED = timedelta(days=1)
"""Age until which an object that no manifest names is kept: another machine may have written it
just now.
"""


class _MissingObjectError(ObjectStoreError):
    """An object is missing, or does not have the hash that the manifest names."""


class Mirror:
    """Synchronises the data folder with the object store; the caller holds the store's lock."""

    def __init__(self, root: Path, objects: S3Objects) -> None:
        self.root = root
        self.objects = objects
        self._cached_state: tuple[Stamp | None, MirrorState] | None = None

    @property
    def is_known(self) -> bool:
        """Whether this folder was synchronised before: then it is usable without the server."""
        return bool(self._state().tag)

    @cached_property
    def place(self) -> int:
        """This folder's place in the list of those that share the store, from 0."""
        state = self._state()
        return state.machines.index(state.machine) if state.machine in state.machines else 0

    def erased(self) -> frozenset[str] | None:
        """Returns the ids of the forgettings that were carried out in this folder; None where
        none was ever noted.
        """
        ids = self._state().erased
        return None if ids is None else frozenset(ids)

    def note_erased(self, ids: Iterable[str]) -> None:
        """Notes that these forgettings were carried out in this folder."""
        state = self._state()
        all_ids = dict.fromkeys([*(state.erased or ()), *ids])
        self._write_state(replace(state, erased=tuple(all_ids)))

    def sync(self, *, is_erasing: bool = False) -> None:
        """Fetches what others changed and sends what changed here; can be repeated after a kill."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                if self._exchange(is_erasing=is_erasing):
                    return
            except _MissingObjectError:  # replaced since the manifest was read
                if attempt >= READ_ATTEMPTS:
                    raise
        raise ObjectStoreError(
            f"{self.objects.url} was changed by others {ATTEMPTS} times in a row; try again later."
        )

    def faults(self, is_chosen: Callable[[str], bool]) -> tuple[list[str], int]:
        """Reads the objects of the chosen files; returns the files whose object is missing or
        damaged, and how many objects were read.

        Where this folder has the file as the manifest says, its object is sent again, and the file
        is not returned.
        """
        files = {
            path: entry for path, entry in self._read_manifest("").files.items() if is_chosen(path)
        }
        results = self._in_parallel(self._is_whole, files.values())
        damaged = [path for path, is_whole in zip(files, results, strict=True) if not is_whole]
        for path in damaged:
            content = bytes_of(self.root / path)
            if content is not None and _matches(content, files[path]):
                self.objects.put(files[path].key, content)
        return [path for path in damaged if not self._is_whole(files[path])], len(files)

    def sweep(self, now: datetime) -> int:
        """Deletes objects that the manifest does not name and that are older than a day; returns
        their number.
        """
        # Listed before the manifest is read, so that an object that it names later is not deleted.
        objects = list(self.objects.list())
        named = {entry.key for entry in self._read_manifest("").files.values()} | {MANIFEST}
        old = [key for key, at in objects if key not in named and now - at > KEEP_UNNAMED]
        self.objects.delete(old)
        return len(old)

    def _exchange(self, *, is_erasing: bool) -> bool:
        """Synchronises once; returns False where another machine replaced the manifest meanwhile.

        `base` is the state after the last synchronisation, `theirs` the present manifest.
        """
        base = self._state()
        base = base if base.machine else replace(base, machine=secrets.token_hex(4))
        theirs = self._read_manifest(base.tag, base)
        self._check_same_store(base, theirs)
        present = dict(self._present())
        mine = self._changed(base, present, is_erasing=is_erasing)
        contents, deleted = self._merge(base, theirs, mine, is_erasing=is_erasing)
        is_fetched = self._fetch(base, theirs, present, {*contents, *deleted})
        for path, content in contents.items():  # merged files are written here before they are sent
            self._write(path, content)
        sent = _entries_to_send(contents, theirs)
        files = {**theirs.files, **sent}
        for path in deleted:
            files.pop(path, None)
        sent_keys = [entry.key for entry in sent.values()]
        unnamed = [*base.unnamed, *_replaced_keys(theirs, files), *sent_keys]
        machines = theirs.machines
        if base.machine not in machines:
            machines = (*machines, base.machine)
        tag = theirs.tag
        if files != theirs.files or machines != theirs.machines:
            self._write_state(replace(base, unnamed=tuple(unnamed)))
            self._in_parallel(lambda path: self.objects.put(sent[path].key, contents[path]), sent)
            tag = self.objects.replace(MANIFEST, pack(files, machines), theirs.tag)
        if tag is None:
            return False
        state = replace(base, tag=tag, files=files, machines=machines)
        if is_fetched or unnamed or state != base:
            self._finish(base, state, unnamed)
        return True

    def _finish(self, base: MirrorState, state: MirrorState, unnamed: Iterable[str]) -> None:
        """Deletes the unnamed objects that the new manifest does not name either, then writes the
        state.
        """
        named = {entry.key for entry in state.files.values()}
        self.objects.delete([key for key in unnamed if key not in named])
        stamps = {}
        for path, entry in state.files.items():
            stamp = stamp_of(self.root / path)
            # A file that changed meanwhile gets no stamp, and is sent the next time.
            if stamp and self._has_content(path, stamp, entry, base):
                stamps[path] = stamp
        self._write_state(replace(state, stamps=stamps, unnamed=()))

    def _has_content(self, path: str, stamp: Stamp, entry: StoredFile, base: MirrorState) -> bool:
        """Returns whether the file here has the content of the entry; reads it only if its stamp or
        its entry changed since the last synchronisation.
        """
        if stamp == base.stamps.get(path) and entry.sha256 == _sha_of(base.files.get(path)):
            return True
        content = bytes_of(self.root / path)
        return content is not None and _matches(content, entry)

    def _changed(
        self, base: MirrorState, present: Mapping[str, Stamp], *, is_erasing: bool
    ) -> dict[str, bytes | None]:
        """Returns the content of the files that changed since the last synchronisation; None for a
        file that was deleted.
        """
        changed: dict[str, bytes | None] = {}
        for path, stamp in present.items():
            is_fixed = path.startswith(ANSWERS) and not is_erasing
            if path in base.files and (is_fixed or stamp == base.stamps.get(path)):
                continue
            content = self._changed_content(path, base.files.get(path))
            if content is not None:
                changed[path] = content
        deletable = (DERIVED, *IMMUTABLE) if is_erasing else (DERIVED,)
        for path in base.files.keys() - present.keys():
            is_removed = path.startswith(REMOVABLE) and (self.root / path).parent.is_dir()
            if is_removed or path.startswith(deletable):
                changed[path] = None
        return changed

    def _changed_content(self, path: str, base_entry: StoredFile | None) -> bytes | None:
        """Returns the content of the file; None where it did not change, or is a damaged range."""
        content = bytes_of(self.root / path)
        if content is None or _hash(content) == _sha_of(base_entry):
            return None
        if not base_entry or not path.startswith(RANGES):
            return content
        is_whole = self._archive.is_as_written(path.removeprefix("resources/"), content)
        return content if is_whole else None

    @cached_property
    def _archive(self) -> Archive:
        return Archive(self.root / "resources")

    def _present(self) -> Iterator[tuple[str, Stamp]]:
        """Yields the files to exchange and their stamps.

        The catalog comes before the ranges: a range that it names is then always among the files.
        """
        for path in (*FILES, CATALOG, *filter(_is_exchanged, self._walk())):
            stamp = stamp_of(self.root / path)
            if stamp:
                yield path, stamp

    def _walk(self) -> Iterator[str]:
        for top in FOLDERS:
            for folder, folders, names in os.walk(self.root / top):
                folders[:] = [name for name in folders if not name.startswith(".")]
                for name in names:
                    yield Path(folder, name).relative_to(self.root).as_posix()

    def _merge(
        self,
        base: MirrorState,
        theirs: MirrorState,
        mine: Mapping[str, bytes | None],
        *,
        is_erasing: bool,
    ) -> tuple[dict[str, bytes], list[str]]:
        """Returns the content of the files to send, and the files to delete in the object store."""
        contents = {}
        deleted = []
        for path, content in mine.items():
            base_entry = base.files.get(path)
            their_entry = theirs.files.get(path)
            wins = is_erasing and path.startswith((DERIVED, *IMMUTABLE))
            if wins or _sha_of(base_entry) == _sha_of(their_entry):
                if content is None and their_entry:
                    deleted.append(path)
            elif content is not None:
                content = self._merged_with(path, base_entry, content, their_entry)
            else:
                continue
            if content is not None:
                contents[path] = content
        return contents, deleted

    def _merged_with(
        self,
        path: str,
        base_entry: StoredFile | None,
        mine: bytes,
        their_entry: StoredFile | None,
    ) -> bytes | None:
        """Returns the content to send of a file that both changed; None where the other machine's
        version is kept.
        """
        if their_entry is None:  # deleted there
            return None if path.startswith((DERIVED, *REMOVABLE, *IMMUTABLE)) else mine
        if _matches(mine, their_entry):
            return None
        theirs = self._object(path, their_entry)
        if path.startswith("ledger/"):
            return _merged_segment(base_entry.size if base_entry else 0, mine, theirs)
        return self._merged_catalog(mine, theirs) if path == CATALOG else None

    def _merged_catalog(self, mine: bytes, theirs: bytes) -> bytes:
        merged, has_left_out = merge_catalogs(mine, theirs)
        if has_left_out:
            # Capture reads these sources again, from where the other machine stopped.
            (self.root / "resources" / "seen.json").unlink(missing_ok=True)
        return merged

    def _fetch(
        self,
        base: MirrorState,
        theirs: MirrorState,
        present: Mapping[str, Stamp],
        merged_paths: set[str],
    ) -> bool:
        """Makes all other files here what the manifest says; returns whether any changed."""
        unchanged = {path for path, stamp in present.items() if stamp == base.stamps.get(path)}
        outdated = []
        for path in theirs.files.keys() - merged_paths:
            is_same = theirs.files[path].sha256 == _sha_of(base.files.get(path))
            if not path.startswith(BATCHES) and not (is_same and path in unchanged):
                outdated.append(path)
        changed = []
        for _, group in groupby(sorted(sorted(outdated), key=_fetch_order), _fetch_order):
            paths = list(group)
            results = self._in_parallel(
                lambda path: self._fetch_one(path, theirs.files[path]), paths
            )
            changed += [path for path, is_written in zip(paths, results, strict=True) if is_written]
        for path in base.files.keys() - theirs.files.keys() - merged_paths:
            (self.root / path).unlink(missing_ok=True)
            changed.append(path)
        self._touch_tables(changed)
        return bool(changed)

    def _fetch_one(self, path: str, entry: StoredFile) -> bool:
        """Writes the file unless it has this content; returns whether it was written."""
        content = bytes_of(self.root / path)
        if content is not None and _matches(content, entry):
            return False
        self._write(path, self._object(path, entry))
        return True

    def _write(self, path: str, content: bytes) -> None:
        """Writes the file. A segment of the ledger is overwritten in place, so that lines that a
        process appends at the same moment are kept.
        """
        target = self.root / path
        if bytes_of(target) == content:
            return
        is_segment = path.startswith("ledger/") and target.is_file()
        if is_segment and target.stat().st_size >= len(content):
            with target.open("r+b") as file:
                file.write(content)
                os.fsync(file.fileno())
            os.utime(target.parent)
            return
        write_atomically(target, content)

    def _touch_tables(self, paths: Iterable[str]) -> None:
        """Sets the time of the folder of each changed table, as writing a partition does."""
        tables = {PurePosixPath(path).parts[1] for path in paths if path.startswith(DERIVED)}
        for table in tables:
            folder = self.root / DERIVED / table
            if folder.is_dir():
                os.utime(folder)

    def _object(self, path: str, entry: StoredFile) -> bytes:
        """Returns the content of the file's object, after checking its hash."""
        content = self.objects.get(entry.key)
        if content is None or not _matches(content, entry):
            what = "is missing" if content is None else "does not match its hash"
            raise _MissingObjectError(
                f"The object of {path} in {self.objects.url} {what}. If another machine was "
                "writing, try again; else run `memory doctor --deep` on a machine that has the "
                "file, which sends it again."
            )
        return content

    def _is_whole(self, entry: StoredFile) -> bool:
        content = self.objects.get(entry.key)
        return content is not None and _matches(content, entry)

    def _read_manifest(self, tag: str, state: MirrorState | None = None) -> MirrorState:
        """Returns the present manifest; the state, if the manifest still has its tag."""
        answer = self.objects.get_changed(MANIFEST, tag)
        if isinstance(answer, Unchanged) and state:
            return state
        if answer is None or isinstance(answer, Unchanged):
            return MirrorState()
        return parse_manifest(*answer, self.objects.url)

    def _check_same_store(self, base: MirrorState, theirs: MirrorState) -> None:
        """Raises `StoreError` if the object store holds another store, or lost its manifest.

        A key that this folder made for a store without content is deleted where the manifest has
        one.
        """
        if base.tag and not theirs.tag:
            raise StoreError(
                f"{self.objects.url} has no {MANIFEST} any more, although this folder was "
                "synchronised with it. Restore the bucket; or delete "
                f"{self.root / STATE_FILE} to send this folder's copy."
            )
        key = bytes_of(self.root / KEY)
        is_new = (
            KEY not in base.files
            and not any((self.root / "ledger").glob("*.jsonl"))
            and not (self.root / CATALOG).is_file()
        )
        # Two machines created the store at once: nothing was hashed with this machine's key yet.
        if is_new and KEY in theirs.files:
            (self.root / KEY).unlink(missing_ok=True)
        elif key is not None and KEY in theirs.files and _hash(key) != theirs.files[KEY].sha256:
            raise StoreError(
                f"{self.objects.url} holds another store than {self.root}. Set MEMORY_DATA to "
                "another folder, or `store` to another prefix."
            )

    def _state(self) -> MirrorState:
        stamp = stamp_of(self.root / STATE_FILE)
        if self._cached_state is None or self._cached_state[0] != stamp:
            self._cached_state = stamp, read_state(self.root, self.objects.url)
        return self._cached_state[1]

    def _write_state(self, state: MirrorState) -> None:
        write_state(self.root, self.objects.url, state)

    def _in_parallel(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Returns the results of the function, in the order of the items."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(function, items))


def _merged_segment(base_size: int, mine: bytes, theirs: bytes) -> bytes | None:
    """Returns the segment of the ledger with the changes of both; None where it is that of the
    other machine.

    One side may have masked words, which keeps the length; the other may have appended lines to the
    first `base_size` bytes.
    """
    if base_size and len(mine) == base_size:
        return mine + theirs[base_size:]
    if base_size and len(theirs) == base_size:
        return theirs + mine[base_size:]
    return mine if mine.startswith(theirs) else None


def _fetch_order(path: str) -> int:
    """Returns the step in which the file is fetched: after the files that it refers to."""
    if path in FILES:
        return 3
    if path.startswith(DERIVED):
        return 2
    return 1 if path == CATALOG else 0


def _is_exchanged(path: str) -> bool:
    """Returns whether the file is kept in the object store; False for the catalog, which
    `_present` lists first.
    """
    is_local = path in OF_MACHINE or path.startswith(BATCHES) or path.endswith(".tmp")
    return is_of_store(path) and not is_local and path != CATALOG


def _entries_to_send(contents: Mapping[str, bytes], theirs: MirrorState) -> dict[str, StoredFile]:
    entries = {}
    for path, content in contents.items():
        sha256 = _hash(content)
        if sha256 != _sha_of(theirs.files.get(path)):
            entries[path] = StoredFile(_key_of(path), sha256, len(content))
    return entries


def _replaced_keys(theirs: MirrorState, files: Mapping[str, StoredFile]) -> list[str]:
    return [entry.key for path, entry in theirs.files.items() if files.get(path) != entry]


def _key_of(path: str) -> str:
    """Returns the key of a new version of the file."""
    place = PurePosixPath(path)
    return place.with_name(f"{place.stem}-{secrets.token_hex(8)}{place.suffix}").as_posix()


def _matches(content: bytes, entry: StoredFile) -> bool:
    return _hash(content) == entry.sha256


def _sha_of(entry: StoredFile | None) -> str | None:
    return entry.sha256 if entry else None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
