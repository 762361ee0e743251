"""Keeps the store in an object store: the data folder is a cache of it, and several machines may
share it.

    manifest.json.zst                     path → key, hash and size of the object that holds the
    file tables/observations/day=2026-04-08/data-3f9c….parquet     one version of a file; never
    changed, deleted when replaced mirror.json (in the data folder)      the manifest as of the last
    synchronisation, and the stamps of the files then

Objects are written before the manifest that names them. The manifest is replaced only if nobody
else has replaced it meanwhile; otherwise it is read again, merged, and replaced again. A file that
only one side changed is taken from that side. If both did:

    tables                the other machine's: they are derived, and a partition that does not fit
    its inputs is built again ledger segments       the other machine's, with the lines that were
    appended here; a segment has one process that appends catalog               the lines of both;
    of a source that both captured, the other machine's: capture reads the rest again ranges,
    answers       the other machine's: the same input gave both

Files that are missing here are fetched, except tables and what optional capabilities keep:
deleting those deletes them there, too. A range that was masked is sent; one that is damaged, and a
changed answer, are fetched again. While forgetting (`is_erasing`) this folder's side wins. The
manifest also lists the folders that share the store; by the place in that list they number apart.
"""

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from memory_assets.errors import ObjectStoreError, StoreError
from memory_assets.extras.scaling.mirror_state import (
    FILES,
    FOLDERS,
    MANIFEST,
    NOTED,
    StoredFile,
    Synchronised,
    is_of_store,
    pack,
    parse_manifest,
    read_noted,
    write_noted,
)
from memory_assets.extras.scaling.s3_objects import AT_ONCE, S3Objects, Unchanged
from memory_assets.schema.extras import added_folders
from memory_assets.store.archive import Archive, merge_catalogs
from memory_assets.text.files import Stamp, bytes_of, stamp_of, write_atomically

OF_MACHINE = frozenset({"resources/seen.json", "resources/unreadable.json"})
"""What this machine has seen of its own transcripts."""

CATALOG = "resources/catalog.jsonl"
KEY = "resources/key"
BATCHES = "answers/batches/"
"""What this machine has sent to a model and waits for."""

DERIVED = "tables/"
REMOVABLE = tuple(f"{folder}/" for folder in added_folders())
"""Folders whose files people remove."""

RANGES = "resources/ranges/"
ANSWERS = "answers/"
IMMUTABLE = (RANGES, ANSWERS)
ATTEMPTS = 20
"""Manifests of others that are merged before a synchronisation gives up; each is a write that
succeeded elsewhere.
"""

READ_ATTEMPTS = 3
"""Manifests that are read before an object that one of them names counts as lost."""

KEEP_UNNAMED = timedelta(days=1)
"""An object that no manifest names may be one that another machine has just written."""


class _MissingObjectError(ObjectStoreError):
    """An object is not there, or is not what the manifest says."""


@dataclass(frozen=True)
class Synced:
    """What a synchronisation did."""

    fetched: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


class Mirror:
    """Synchronises the data folder with the objects; the caller holds the store's lock."""

    def __init__(self, root: Path, objects: S3Objects) -> None:
        self.root = root
        self.objects = objects
        self._known: tuple[Stamp | None, Synchronised] | None = None

    @property
    def is_known(self) -> bool:
        """Whether this folder was synchronised before, so that it can be used while the server is
        down.
        """
        return bool(self._noted().tag)

    @cached_property
    def place(self) -> int:
        """This folder's place in the list of those that share the store, from 0."""
        noted = self._noted()
        return noted.machines.index(noted.machine) if noted.machine in noted.machines else 0

    def erased(self) -> frozenset[str] | None:
        """Returns the ids of the forgettings that were carried out in this folder; None where
        nothing was noted.
        """
        noted = self._noted().erased
        return None if noted is None else frozenset(noted)

    def note_erased(self, ids: Iterable[str]) -> None:
        """Notes that these forgettings were carried out in this folder."""
        noted = self._noted()
        self._note(replace(noted, erased=tuple(dict.fromkeys([*(noted.erased or ()), *ids]))))

    def sync(self, *, is_erasing: bool = False) -> Synced:
        """Fetches what others changed and sends what changed here; can be repeated after a kill."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                synced = self._try(is_erasing=is_erasing)
                if synced is not None:
                    return synced
            except _MissingObjectError:  # replaced since the manifest was read
                if attempt >= READ_ATTEMPTS:
                    raise
        raise ObjectStoreError(
            f"{self.objects.url} was changed by others {ATTEMPTS} times in a row; try again later."
        )

    def faults(self, is_chosen: Callable[[str], bool]) -> tuple[list[str], int]:
        """Returns the files whose objects are missing or not as they were sent, and how many were
        read.

        An object whose file here is whole is sent again, and not returned.
        """
        files = {
            path: one for path, one in self._read_manifest("").files.items() if is_chosen(path)
        }
        found = self._at_once(self._is_whole, files.items())
        damaged = [path for path, is_whole in zip(files, found, strict=True) if not is_whole]
        for path in damaged:
            content = bytes_of(self.root / path)
            if content is not None and _hash(content) == files[path].sha256:
                self.objects.put(files[path].key, content)
        return [path for path in damaged if not self._is_whole((path, files[path]))], len(files)

    def sweep(self, now: datetime) -> int:
        """Deletes objects that no manifest names and that are older than a day; returns how
        many.
        """
        listed = list(self.objects.list())  # before the manifest: what is named later stays
        named = {entry.key for entry in self._read_manifest("").files.values()} | {MANIFEST}
        old = [key for key, at in listed if key not in named and now - at > KEEP_UNNAMED]
        self.objects.delete(old)
        return len(old)

    def _try(self, *, is_erasing: bool) -> Synced | None:
        """Returns what was done; None if another machine replaced the manifest meanwhile."""
        base = self._noted()
        base = base if base.machine else replace(base, machine=secrets.token_hex(4))
        theirs = self._read_manifest(base.tag, base)
        self._check_same_store(base, theirs)
        mine = self._changed(base, is_erasing=is_erasing)
        contents, gone = self._merge(base, theirs, mine, is_erasing=is_erasing)
        fetched = self._fetch(base, theirs, {*contents, *gone})
        for path, content in contents.items():  # what was merged is here before it is there
            self._place(path, content)
        sent = _entries_to_send(contents, theirs)
        files = {**theirs.files, **sent}
        for path in gone:
            files.pop(path, None)
        unnamed = [*base.unnamed, *_replaced_keys(theirs, files), *(e.key for e in sent.values())]
        machines = theirs.machines
        if base.machine not in machines:
            machines = (*machines, base.machine)
        tag = theirs.tag
        if files != theirs.files or machines != theirs.machines:
            self._note(replace(base, unnamed=tuple(unnamed)))
            list(self._at_once(lambda path: self.objects.put(sent[path].key, contents[path]), sent))
            tag = self.objects.replace(MANIFEST, pack(files, machines), theirs.tag)
        if tag is None:
            return None
        done = replace(base, tag=tag, files=files, machines=machines)
        if fetched or unnamed or done != base:
            self._finish(base, done, unnamed)
        return Synced(tuple(fetched), tuple(sent), tuple(gone))

    def _finish(self, base: Synchronised, done: Synchronised, unnamed: Iterable[str]) -> None:
        """Deletes what the manifest names no more, then notes the state."""
        named = {entry.key for entry in done.files.values()}
        self.objects.delete([key for key in unnamed if key not in named])
        stamps = {}
        for path, entry in done.files.items():
            before = stamp_of(self.root / path)
            is_noted = before == base.stamps.get(path) and entry.sha256 == _sha_of(
                base.files.get(path)
            )
            content = bytes_of(self.root / path) if before and not is_noted else None
            if before and (is_noted or (content is not None and _hash(content) == entry.sha256)):
                stamps[path] = (
                    before  # a file that changed meanwhile has none, and is sent the next time
                )
        self._note(replace(done, stamps=stamps, unnamed=()))

    def _changed(self, base: Synchronised, *, is_erasing: bool) -> dict[str, bytes | None]:
        """Returns the files that changed since the last synchronisation; None for one that was
        deleted.
        """
        changed: dict[str, bytes | None] = {}
        present = dict(self._present())
        for path, stamp in present.items():
            is_fixed = path.startswith(ANSWERS) and not is_erasing
            if path in base.files and (is_fixed or stamp == base.stamps.get(path)):
                continue
            content = self._changed_content(path, base.files.get(path))
            if content is not None:
                changed[path] = content
        may_delete = (DERIVED, *IMMUTABLE) if is_erasing else (DERIVED,)
        for path in base.files.keys() - present.keys():
            is_removed = path.startswith(REMOVABLE) and (self.root / path).parent.is_dir()
            if is_removed or path.startswith(may_delete):
                changed[path] = None
        return changed

    def _changed_content(self, path: str, noted: StoredFile | None) -> bytes | None:
        """Returns the content of the file; None where it is the noted one, or a damaged range."""
        content = bytes_of(self.root / path)
        if content is None or _hash(content) == _sha_of(noted):
            return None
        if not noted or not path.startswith(RANGES):
            return content
        is_whole = self._archive.is_as_written(path.removeprefix("resources/"), content)
        return content if is_whole else None

    @cached_property
    def _archive(self) -> Archive:
        return Archive(self.root / "resources")

    def _present(self) -> Iterator[tuple[str, Stamp]]:
        """Yields the files and their stamps; the catalog before the ranges that it commits, so that
        none lacks.
        """
        for path in (*FILES, CATALOG, *filter(_is_exchanged, self._walked())):
            stamp = stamp_of(self.root / path)
            if stamp:
                yield path, stamp

    def _walked(self) -> Iterator[str]:
        for top in FOLDERS:
            for folder, folders, names in os.walk(self.root / top):
                folders[:] = [name for name in folders if not name.startswith(".")]
                for name in names:
                    yield Path(folder, name).relative_to(self.root).as_posix()

    def _merge(
        self,
        base: Synchronised,
        theirs: Synchronised,
        mine: Mapping[str, bytes | None],
        *,
        is_erasing: bool,
    ) -> tuple[dict[str, bytes], list[str]]:
        """Returns the contents to send, and the files to delete there."""
        contents = {}
        gone = []
        for path, content in mine.items():
            before = base.files.get(path)
            now = theirs.files.get(path)
            wins = is_erasing and path.startswith((DERIVED, *IMMUTABLE))
            if wins or _sha_of(before) == _sha_of(now):
                if content is None and now:
                    gone.append(path)
            elif content is not None:
                content = self._merged_with(path, before, content, now)
            else:
                continue
            if content is not None:
                contents[path] = content
        return contents, gone

    def _merged_with(
        self, path: str, before: StoredFile | None, mine: bytes, now: StoredFile | None
    ) -> bytes | None:
        """Returns the content to send of a file that both changed; None where the other machine's
        holds.
        """
        if now is None:  # deleted there
            return None if path.startswith((DERIVED, *REMOVABLE, *IMMUTABLE)) else mine
        if _hash(mine) == now.sha256:
            return None
        return self._merged(path, before, mine, self._object(path, now))

    def _merged(
        self, path: str, before: StoredFile | None, mine: bytes, theirs: bytes
    ) -> bytes | None:
        """Returns the content that has the changes of both; None where it is that of the other
        machine.
        """
        if path.startswith("ledger/"):
            shared = before.size if before else 0
            if shared and len(mine) == shared:  # masked here, and lines appended there
                return mine + theirs[shared:]
            if shared and len(theirs) == shared:
                return theirs + mine[shared:]
            return mine if mine.startswith(theirs) else None
        if path != CATALOG:
            return None
        merged, is_doubtful = merge_catalogs(mine, theirs)
        # The transcripts of these sources are read again, from where the other machine stopped.
        if is_doubtful:
            (self.root / "resources" / "seen.json").unlink(missing_ok=True)
        return merged

    def _fetch(self, base: Synchronised, theirs: Synchronised, handled: set[str]) -> list[str]:
        """Makes every other file here what the manifest says; the catalog, tables and VERSION after
        what they rest on.
        """
        unchanged = {path for path, stamp in self._present() if stamp == base.stamps.get(path)}
        wanted = []
        for path in theirs.files.keys() - handled:
            is_same = theirs.files[path].sha256 == _sha_of(base.files.get(path))
            if not path.startswith(BATCHES) and not (is_same and path in unchanged):
                wanted.append(path)
        fetched = []
        for step in _steps(wanted):
            written = self._at_once(lambda path: self._fetch_one(path, theirs.files[path]), step)
            fetched += [path for path, is_written in zip(step, written, strict=True) if is_written]
        for path in base.files.keys() - theirs.files.keys() - handled:
            (self.root / path).unlink(missing_ok=True)
            fetched.append(path)
        self._touch_tables(fetched)
        return fetched

    def _fetch_one(self, path: str, entry: StoredFile) -> bool:
        """Writes the file, unless it is there already; returns whether it was written."""
        content = bytes_of(self.root / path)
        if content is not None and _hash(content) == entry.sha256:
            return False
        self._place(path, self._object(path, entry))
        return True

    def _place(self, path: str, content: bytes) -> None:
        """Writes the file; of a segment of the ledger, lines that a process appends at the same
        moment are kept.
        """
        target = self.root / path
        if bytes_of(target) == content:
            return
        if (
            path.startswith("ledger/")
            and target.is_file()
            and target.stat().st_size >= len(content)
        ):
            with target.open("r+b") as file:
                file.write(content)
                os.fsync(file.fileno())
            os.utime(target.parent)
            return
        write_atomically(target, content)

    def _touch_tables(self, paths: Iterable[str]) -> None:
        """Marks the folders of changed tables as changed, as writing a partition does."""
        for table in {
            "/".join(PurePosixPath(path).parts[:2]) for path in paths if path.startswith(DERIVED)
        }:
            if (self.root / table).is_dir():
                os.utime(self.root / table)

    def _object(self, path: str, entry: StoredFile) -> bytes:
        """Returns the content of the file's object, after checking its hash."""
        content = self.objects.get(entry.key)
        if content is None or _hash(content) != entry.sha256:
            what = "is missing" if content is None else "does not match its hash"
            raise _MissingObjectError(
                f"The object of {path} in {self.objects.url} {what}. If another machine was "
                "writing, try again; else run "
                "`memory doctor --deep` on a machine that has the file, which sends it again."
            )
        return content

    def _is_whole(self, item: tuple[str, StoredFile]) -> bool:
        content = self.objects.get(item[1].key)
        return content is not None and _hash(content) == item[1].sha256

    def _read_manifest(self, tag: str, known: Synchronised | None = None) -> Synchronised:
        """Returns the present manifest; the known one if its tag is still that one."""
        found = self.objects.get_changed(MANIFEST, tag)
        if isinstance(found, Unchanged) and known:
            return known
        if found is None or isinstance(found, Unchanged):
            return Synchronised()
        return parse_manifest(*found, self.objects.url)

    def _check_same_store(self, base: Synchronised, theirs: Synchronised) -> None:
        """Raises `StoreError` if the objects are another store's, or gone."""
        if base.tag and not theirs.tag:
            raise StoreError(
                f"{self.objects.url} has no {MANIFEST} any more, although this folder was "
                "synchronised with it. Restore the "
                f"bucket; or delete {self.root / NOTED} to send this folder's copy."
            )
        key = bytes_of(self.root / KEY)
        is_new = (
            KEY not in base.files
            and not any((self.root / "ledger").glob("*.jsonl"))
            and not (self.root / CATALOG).is_file()
        )
        # Two machines began the store at once: nothing was hashed with this key.
        if is_new and KEY in theirs.files:
            (self.root / KEY).unlink(missing_ok=True)
        elif key is not None and KEY in theirs.files and _hash(key) != theirs.files[KEY].sha256:
            raise StoreError(
                f"{self.objects.url} holds another store than {self.root}. Set MEMORY_DATA to "
                "another folder, or `store` to another prefix."
            )

    def _noted(self) -> Synchronised:
        stamp = stamp_of(self.root / NOTED)
        if self._known is None or self._known[0] != stamp:
            self._known = stamp, read_noted(self.root, self.objects.url)
        return self._known[1]

    def _note(self, state: Synchronised) -> None:
        write_noted(self.root, self.objects.url, state)

    def _at_once(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from pool.map(work, items)


def _steps(paths: Iterable[str]) -> list[list[str]]:
    """Returns the paths in groups, to be fetched in this order: a group names files of the groups
    before it.
    """
    groups: list[list[str]] = [[], [], [], []]
    for path in sorted(paths):
        order = (
            3 if path in FILES else 2 if path.startswith(DERIVED) else 1 if path == CATALOG else 0
        )
        groups[order].append(path)
    return groups


def _is_exchanged(path: str) -> bool:
    """Returns whether the file is kept in the object store; the catalog is listed on its own."""
    of_machine = path in OF_MACHINE or path.startswith(BATCHES) or path.endswith(".tmp")
    return is_of_store(path) and not of_machine and path != CATALOG


def _entries_to_send(contents: Mapping[str, bytes], theirs: Synchronised) -> dict[str, StoredFile]:
    entries = {}
    for path, content in contents.items():
        sha256 = _hash(content)
        if sha256 != _sha_of(theirs.files.get(path)):
            entries[path] = StoredFile(_key_of(path), sha256, len(content))
    return entries


def _replaced_keys(theirs: Synchronised, files: Mapping[str, StoredFile]) -> list[str]:
    return [entry.key for path, entry in theirs.files.items() if files.get(path) != entry]


def _key_of(path: str) -> str:
    """Returns the key of a new version of the file."""
    place = PurePosixPath(path)
    return place.with_name(f"{place.stem}-{secrets.token_hex(8)}{place.suffix}").as_posix()


def _sha_of(entry: StoredFile | None) -> str | None:
    return entry.sha256 if entry else None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
