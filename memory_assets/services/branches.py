"""Branches of a store: today's tables, to be made otherwise beside today's, with a ledger and a workspace of their own.

    branches/NAME/what_if.json    the range of days, the settings that differ, and how far it got
                  tables/         hard links to today's files, which nobody ever changes in place; what is rebuilt replaces them
                  ledger/, workspace/    copies
                  before/         the tables and files that the branch is compared with, as they were when it began
                  dagster/        its own runs

Archive and raw answers are read where they are: what was paid for is kept with all other answers, whatever becomes of the
branch. A branch appears, and goes, in one step; what a killed process left half done begins with a dot.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from memory_assets.errors import StoreError, UnknownBranchError
from memory_assets.stages.triage.projects import memory_files
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, write_json

FOLDER, RECORD, BEFORE = "branches", "what_if.json", "before"
COMPARED = ("observations", "memories")
"""Tables that are kept as they were."""

State = Literal["making", "made", "adopting"]


@dataclass(frozen=True)
class Branch:
    """What a branch is made of; its days are those with messages from the first to the last."""

    name: str
    first: date
    last: date
    changes: Mapping[str, str]
    """Settings that differ from today's, as they were given."""
    began_at: float
    """Seconds since the epoch by this machine's clock: answers that came later were paid for this branch."""
    made_by: str
    """Hash of the prompt and version of the standards; files that a setting names may change later."""
    state: State = "making"
    seconds: float = 0.0
    leaving: tuple[str, ...] = ()
    """Proposals by rules whose lines of MEMORY.md nothing says any more."""


@dataclass(frozen=True)
class Place:
    """Where a branch of a store lies."""

    store: Store
    name: str

    @property
    def root(self) -> Path:
        """Its folder."""
        return self.store.root / FOLDER / self.name

    @property
    def before(self) -> Path:
        """The folder of what it is compared with."""
        return self.root / BEFORE

    @property
    def tables_before(self) -> ParquetTables:
        """The tables that it is compared with."""
        return ParquetTables(self.before / "tables")

    def open(self, settings: Settings) -> Store:
        """Returns the branch as a store, with settings of its own; it pushes nothing anywhere."""
        own = settings.model_copy(update={"data": self.root, "remote": ""})
        return Store(own, self.root, origin=self.store.root)

    def read(self) -> Branch:
        """Returns what the branch is made of; raises `UnknownBranchError` where there is none."""
        try:
            row = json.loads((self.root / RECORD).read_bytes())
        except FileNotFoundError:
            raise UnknownBranchError(
                f"There is no branch '{self.name}'. `memory lab what-if list` names those there are."
            ) from None
        days = {name: date.fromisoformat(row[name]) for name in ("first", "last")}
        return Branch(**{**row, **days, "leaving": tuple(row["leaving"])})

    def write(self, branch: Branch) -> Branch:
        """Keeps how far the branch got, and returns it."""
        write_json(self.root / RECORD, _row(branch))
        return branch


def begin(place: Place, branch: Branch) -> Branch:
    """Makes the branch out of today's tables, ledger and workspace, and returns it."""
    beside = _beside(place)
    today = place.store
    try:
        with today.lock():
            _link(today.root / "tables", beside / "tables")
            for table in COMPARED:
                _link(today.root / "tables" / table, beside / BEFORE / "tables" / table)
            shutil.copytree(today.root / "ledger", beside / "ledger")
            shutil.copytree(today.workspace, beside / "workspace", symlinks=True)
        workspace, kept = beside / "workspace", make_folder(beside / BEFORE / "workspace")
        for path in memory_files(workspace):
            if (workspace / path).is_file():
                _copy(workspace / path, kept / path)
        write_json(beside / RECORD, _row(branch))
        beside.rename(place.root)
    except OSError as error:
        shutil.rmtree(beside, ignore_errors=True)
        raise StoreError(
            f"Cannot make a branch in {place.root.parent}: {error.strerror or error}. Free space or mend the folder's "
            "permissions, then run the same command again; nothing else was changed."
        ) from error
    return branch


def drop(place: Place) -> None:
    """Deletes the branch; raises `UnknownBranchError` where there is none."""
    place.read()
    beside = _beside(place)
    place.root.rename(beside)
    shutil.rmtree(beside)
    if not any(place.root.parent.iterdir()):
        place.root.parent.rmdir()


def branches_of(store: Store) -> Iterator[Place]:
    """Yields where the branches of the store lie, by name."""
    for path in sorted((store.root / FOLDER).glob("*")):
        if not path.name.startswith(".") and (path / RECORD).is_file():
            yield Place(store, path.name)


def is_adopting(store: Store) -> bool:
    """Returns whether an adoption was begun and not finished."""
    return any(place.read().state == "adopting" for place in branches_of(store))


def drop_all(store: Store) -> int:
    """Deletes every branch, whole or half made, and returns how many there were."""
    count = sum(1 for _ in branches_of(store))
    shutil.rmtree(store.root / FOLDER, ignore_errors=True)
    return count


def _row(branch: Branch) -> dict[str, object]:
    return {**asdict(branch), "first": str(branch.first), "last": str(branch.last)}


def _beside(place: Place) -> Path:
    """Returns a free folder beside the branch's, rid of what a killed process left there."""
    beside = place.root.with_name(f".{place.name}")
    shutil.rmtree(beside, ignore_errors=True)
    make_folder(beside.parent)
    return beside


def _link(source: Path, target: Path) -> None:
    """Makes the same tree of hard links, or of copies where the file system has none."""
    make_folder(target)
    for path in source.rglob("*"):
        if path.is_file() and path.suffix != ".tmp":
            there = make_folder((target / path.relative_to(source)).parent) / path.name
            try:
                os.link(path, there)
            except OSError:
                shutil.copy2(path, there)


def _copy(path: Path, target: Path) -> None:
    make_folder(target.parent)
    shutil.copy2(path, target)
