"""Damaged files of the store: put aside, listed, and announced with the next answer.

    damaged/000001-data.parquet    a damaged derived file; the next run rebuilds it
    damaged/list.jsonl             one line for each of these files (`Damage`)

Files that cannot be rebuilt (archive, ledger, answers) are never moved: they are reported, and
their readable part is used.
"""

import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TypeVar

from memory_assets.errors import DamagedError, causes_of
from memory_assets.schema.announcements import announce
from memory_assets.store.store import Store
from memory_assets.text.files import append_line, make_folder

T = TypeVar("T")

FOLDER = "damaged"
LIST = "list.jsonl"
DATABASES = ("history/runs.db", "history/runs/index.db", "schedules/schedules.db")
"""Dagster's databases, below its home."""

SUFFIXES = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite keeps beside a database."""


@dataclass(frozen=True)
class Damage:
    """A file that was put aside."""

    place: str
    """Its path below the store, from which it was moved."""
    reason: str
    aside: str
    """Its path below the store now."""
    found_at: str

    @property
    def message(self) -> str:
        """What happened and what follows, as one line."""
        return (
            f"{self.place} was damaged ({self.reason}) and put aside as {self.aside}; `memory "
            "ingest` rebuilds it."
        )


def put_aside(store: Store, path: Path, reason: str) -> Damage:
    """Moves a derived file into the folder of damaged files, lists it there and announces it."""
    folder = make_folder(store.root / FOLDER)
    number = sum(1 for _ in folder.iterdir()) + 1
    aside = folder / f"{number:06d}-{path.name}"
    os.replace(path, aside)
    for suffix in SUFFIXES:
        companion = path.with_name(path.name + suffix)
        if companion.is_file():
            os.replace(companion, aside.with_name(aside.name + suffix))
    damage = Damage(
        path.relative_to(store.root).as_posix(),
        reason,
        aside.relative_to(store.root).as_posix(),
        store.settings.clock().isoformat(),
    )
    append_line(folder / LIST, json.dumps(asdict(damage), ensure_ascii=False).encode())
    announce(damage.message)
    return damage


def list_damage(store: Store, since: datetime | None = None) -> list[Damage]:
    """Returns the files that were put aside (since the moment), the earliest first."""
    path = store.root / FOLDER / LIST
    lines = path.read_bytes().splitlines() if path.is_file() else []
    # A line without the brace was torn by a killed process.
    damages = [Damage(**json.loads(line)) for line in lines if line.endswith(b"}")]
    if since is None:
        return damages
    return [damage for damage in damages if datetime.fromisoformat(damage.found_at) >= since]


def is_damage(error: BaseException) -> bool:
    """Returns whether the error, or one that caused it, may come from a damaged file."""
    from polars.exceptions import PanicException, PolarsError

    kinds = (DamagedError, sqlite3.DatabaseError, UnicodeDecodeError)
    kinds += (PolarsError, PanicException)
    return any(isinstance(cause, kinds) for cause in causes_of(error))


def put_damaged_aside(
    store: Store, tables: Collection[str] | None = None, *, is_deep: bool = True
) -> list[Damage]:
    """Puts aside damaged derived files, of these tables or of all, and returns them.

    With `is_deep` it reads every byte, otherwise only the footers of tables.
    """
    from memory_assets.store.parquet_tables import COLUMNS_FILE

    files = [*store.tables.damaged(tables, is_deep=is_deep)]
    if is_deep:
        files += damaged_history(store)
    damages = [put_aside(store, path, reason) for path, reason in files]
    for damage in damages:
        if damage.place.endswith(COLUMNS_FILE):
            store.tables.write_columns(damage.place.split("/")[1])
    return damages


def missing_parts(store: Store) -> dict[str, set[str]]:
    """Returns table → its partitions that were put aside since all jobs last ran (`settle`), and
    are not rebuilt yet.
    """
    from memory_assets.store.parquet_tables import part_of

    missing: dict[str, set[str]] = defaultdict(set)
    for damage in list_damage(store)[int(store.note_of(FOLDER) or 0) :]:
        place = PurePosixPath(damage.place)
        if place.parts[0] == "tables" and not (store.root / place).exists():
            table, part = part_of(Path(*place.parts[1:])) or ("", "")
            missing[table].add(part)
    return missing


def settle(store: Store) -> None:
    """Stores that all jobs ran: a damaged file that none of them rebuilt is no longer needed."""
    count = len(list_damage(store))
    if count:
        store.note(FOLDER, str(count))


def damaged_history(store: Store) -> Iterator[tuple[Path, str]]:
    """Yields Dagster's databases that SQLite cannot read, with the reason."""
    for path in (store.dagster_home / name for name in DATABASES):
        reason = _sqlite_fault(path) if path.is_file() else ""
        if reason:
            yield path, reason


def _sqlite_fault(path: Path) -> str:
    """Returns why SQLite cannot read the database; empty if it can, or if a process locks it."""
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
        try:
            (answer,) = database.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            database.close()
    except sqlite3.OperationalError as error:
        return "" if "locked" in str(error) or "busy" in str(error) else str(error)
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if answer == "ok" else str(answer).splitlines()[0]


def despite_damage(store: Store, action: Callable[[], T]) -> T:
    """Returns what the action returns. If a damaged file makes it fail, puts damaged files aside
    and calls it again.
    """
    try:
        return action()
    except BaseException as error:  # a panic of polars is no `Exception`
        if not is_damage(error) or not put_damaged_aside(store):
            raise
    return action()
