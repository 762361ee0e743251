"""Branches of a store: copies of the tables, ledger and workspace to be rebuilt with other
settings.

    branches/NAME/what_if.json    the range of days, the changed settings, and the state
                  tables/         hard links to the store's files, which are never changed in place;
                                  rebuilt files replace them
                  ledger/, workspace/    copies
                  before/         the tables and files at the start, which the branch is compared
                                  with
                  dagster/        its own runs

The archive and the answers of models are shared with the store, so paid answers are kept when the
branch is deleted. A branch is filled, and deleted, in a folder whose name starts with a dot, and
appears or disappears by one rename. Such a folder is left over if the process is killed.
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
from memory_assets.services.forget.branches import FOLDER, RECORD, branch_names
from memory_assets.stages.triage.projects import memory_files
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, write_json

BEFORE = "before"
COMPARED = ("observations", "memories")
"""Tables that a branch copies when it is made, to be compared with later."""

State = Literal["making", "made", "adopting"]


@dataclass(frozen=True)
class Branch:
    """The record of a branch. Its days are those with messages from `first` to `last`."""

    name: str
    first: date
    last: date
    changes: Mapping[str, str]
    """Name and value of each changed setting, as a person wrote them."""
    began_at: float
    """Seconds since the epoch by this machine's clock. Answers of models that came later were paid
    for this branch.
    """
    made_by: str
    """Hash of the prompt and version of the standards: the settings only name their files, which
    may change later.
    """
    state: State = "making"
    seconds: float = 0.0
    leaving: tuple[str, ...] = ()
    """Proposals that rules promoted and whose lines of MEMORY.md have no evidence any more."""

    def to_dict(self) -> dict[str, object]:
        """Returns the branch as an item of the list of branches."""
        days = {"first": self.first, "last": self.last}
        return {"name": self.name, **days, "settings": self.changes, "state": self.state}


@dataclass(frozen=True)
class BranchFolder:
    """The folder of a branch of a store."""

    store: Store
    name: str

    @property
    def root(self) -> Path:
        """The path of the folder."""
        return self.store.root / FOLDER / self.name

    @property
    def past(self) -> Path:
        """The folder with the tables and files at the start, which the branch is compared with."""
        return self.root / BEFORE

    @property
    def past_tables(self) -> ParquetTables:
        """The tables at the start, which the branch is compared with."""
        return ParquetTables(self.past / "tables")

    def open(self, settings: Settings) -> Store:
        """Returns the branch as a store with its own settings and without a remote."""
        changes = {"data": self.root, "remote": "", "store": ""}
        return Store(settings.model_copy(update=changes), self.root, origin=self.store.root)

    def read(self) -> Branch:
        """Returns the record of the branch; raises `UnknownBranchError` where there is none."""
        try:
            row = json.loads((self.root / RECORD).read_bytes())
        except FileNotFoundError:
            raise UnknownBranchError(
                f"There is no branch '{self.name}'. `memory lab what-if list` lists them."
            ) from None
        days = {name: date.fromisoformat(row[name]) for name in ("first", "last")}
        return Branch(**{**row, **days, "leaving": tuple(row["leaving"])})

    def write(self, branch: Branch) -> Branch:
        """Writes the record of the branch, and returns it."""
        write_json(self.root / RECORD, _row(branch))
        return branch


def begin(place: BranchFolder, branch: Branch) -> Branch:
    """Creates the folder of the branch from the store's tables, ledger and workspace."""
    draft = _hidden_folder(place)
    store = place.store
    try:
        with store.lock():
            _link(store.root / "tables", draft / "tables")
            for table in COMPARED:
                _link(store.root / "tables" / table, draft / BEFORE / "tables" / table)
            shutil.copytree(store.root / "ledger", draft / "ledger")
            shutil.copytree(store.workspace, draft / "workspace", symlinks=True)
        workspace = draft / "workspace"
        copies = make_folder(draft / BEFORE / "workspace")
        for path in memory_files(workspace):
            if (workspace / path).is_file():
                make_folder((copies / path).parent)
                shutil.copy2(workspace / path, copies / path)
        write_json(draft / RECORD, _row(branch))
        draft.rename(place.root)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise StoreError(
            f"Cannot make a branch in {place.root.parent}: {error.strerror or error}. Free space "
            "or fix the folder's permissions, then run the same command again; nothing else was "
            "changed."
        ) from error
    return branch


def drop(place: BranchFolder) -> None:
    """Deletes the branch; raises `UnknownBranchError` where there is none."""
    place.read()
    hidden = _hidden_folder(place)
    place.root.rename(hidden)
    shutil.rmtree(hidden)
    if not any(place.root.parent.iterdir()):
        place.root.parent.rmdir()


def branches_of(store: Store) -> Iterator[BranchFolder]:
    """Yields the branches of the store by name."""
    return (BranchFolder(store, name) for name in branch_names(store))


def _row(branch: Branch) -> dict[str, object]:
    return {**asdict(branch), "first": str(branch.first), "last": str(branch.last)}


def _hidden_folder(place: BranchFolder) -> Path:
    """Returns the path beside the branch's folder; deletes what a killed process left there."""
    hidden = place.root.with_name(f".{place.name}")
    shutil.rmtree(hidden, ignore_errors=True)
    make_folder(hidden.parent)
    return hidden


def _link(source: Path, target: Path) -> None:
    """Copies the tree as hard links, or as files where the file system has none."""
    make_folder(target)
    for path in source.rglob("*"):
        if path.is_file() and path.suffix != ".tmp":
            copy = make_folder((target / path.relative_to(source)).parent) / path.name
            try:
                os.link(path, copy)
            except OSError:
                shutil.copy2(path, copy)
