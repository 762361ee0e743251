"""Keeps the store small for years: deletes Dagster's history by age, and more of it and leftovers
while the store is above its cap on disk use.

Nothing that is deleted is needed to rebuild the memory: runs of Dagster that ended long ago, files
that were put aside as damaged, indexes in quarantine. Dagster's last event of each partition of an
asset and of each check stays, so that the UI still knows what is materialised. If the store is
above the cap even then, `memory doctor` fails: what remains is the memory itself.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_assets.store.damage import FOLDER as DAMAGED
from memory_assets.store.store import LOCK_WAIT_SECONDS, Store

NOTE, EVERY = "housekeeping", timedelta(hours=1)
"""The store's note of the last time, and how long it lasts."""

HISTORY_BYTES = 500_000_000
"""What Dagster's history may take: it has a database of 0.2 to 2 MB per run, and a sensor may start
hundreds a day.
"""

YOUNGEST = timedelta(days=1)
"""Runs that ended later stay: their keys prevent that a sensor requests the same run twice."""

LEAST_RUNS = 20
"""Runs that stay whatever their age, for the pages of the UI."""

ENDED = ("SUCCESS", "FAILURE", "CANCELED")
"""Statuses of Dagster's runs that have ended."""

BUSY_SECONDS = 30.0
"""How long to wait for another process that writes to a database of Dagster."""

GIGABYTE = 1_000_000_000
LEFTOVERS = (DAMAGED, "index/quarantine")
"""Folders that are deleted while the store is above its cap."""


@dataclass(frozen=True)
class EndedRun:
    """A run of Dagster that has ended, and the size of what is kept of it."""

    run_id: str
    ended_at: datetime
    bytes: int


@dataclass(frozen=True)
class Housekeeping:
    """What was removed, and the size of the store after it."""

    runs: int
    bytes: int
    """Size of the store now."""


def disk_use(root: Path) -> dict[str, int]:
    """Returns the bytes of each entry of the store."""
    return {path.name: _size(path) for path in root.iterdir()} if root.is_dir() else {}


def is_due(store: Store) -> bool:
    """Returns whether an hour has passed since the last housekeeping."""
    return next_time(store) <= store.settings.clock()


def next_time(store: Store) -> datetime:
    """Returns when housekeeping is due: an hour after the last one, or now if there was none."""
    last_time = store.note_of(NOTE)
    if not last_time:
        return store.settings.clock()
    return datetime.fromisoformat(last_time) + EVERY


def keep_house(store: Store, wait_seconds: float = LOCK_WAIT_SECONDS) -> Housekeeping:
    """Removes what is too old, and more while the store is above its cap; raises `StoreBusyError`
    while another process writes.
    """
    cap = store.settings.disk_gb * GIGABYTE
    with store.lock(wait_seconds):
        store.note(NOTE, store.settings.clock().isoformat())
        run_count = _remove_runs(store, HISTORY_BYTES)
        if cap and sum(disk_use(store.root).values()) > cap:
            run_count += _remove_runs(store, 0)
            for name in LEFTOVERS:
                shutil.rmtree(store.root / name, ignore_errors=True)
    return Housekeeping(run_count, sum(disk_use(store.root).values()))


def plan_removal(runs: Sequence[EndedRun], now: datetime, days: int, most_bytes: int) -> list[str]:
    """Returns the ids of the runs to remove: those older than the days, then the oldest until what
    remains fits into the bytes.
    """
    newest_first = sorted(runs, key=lambda run: run.ended_at, reverse=True)
    run_ids = []
    size = sum(run.bytes for run in newest_first[:LEAST_RUNS])
    for run in newest_first[LEAST_RUNS:]:
        size += run.bytes
        is_old = now - run.ended_at > timedelta(days=days)
        may_go = now - run.ended_at > YOUNGEST
        if is_old or (size > most_bytes and may_go):
            run_ids.append(run.run_id)
    return run_ids


def _remove_runs(store: Store, most_bytes: int) -> int:
    """Removes ended runs from Dagster's SQLite databases and folders, and returns their number."""
    home = store.dagster_home
    now = store.settings.clock()
    days = store.settings.run_days
    runs = home / "history" / "runs.db"
    index = home / "history" / "runs" / "index.db"
    if not runs.is_file() or not index.is_file():
        return 0  # nothing ran yet, or dagster.yaml names another storage
    try:
        room = max(0, most_bytes - _size(index))
        run_ids = plan_removal(list(_ended_runs(home)), now, days, room)
        _prune_index(index, run_ids, now - timedelta(days=days))
        _prune_runs(runs, run_ids)
    except sqlite3.DatabaseError:
        return 0  # busy or damaged; the doctor reports damage, and the next hour tries again
    for run_id in run_ids:
        for path in index.parent.glob(f"{run_id}.db*"):
            path.unlink(missing_ok=True)
        shutil.rmtree(home / "storage" / run_id, ignore_errors=True)
    return len(run_ids)


def _ended_runs(home: Path) -> Iterator[EndedRun]:
    ended_at = "COALESCE(end_time, strftime('%s', update_timestamp))"
    query = f"SELECT run_id, {ended_at} FROM runs WHERE status IN (?, ?, ?)"
    with _database(home / "history" / "runs.db") as database:
        rows = database.execute(query, ENDED).fetchall()
    for run_id, ended in rows:
        files = (home / "history" / "runs").glob(f"{run_id}.db*")
        size = sum(map(_size, (*files, home / "storage" / run_id)))
        yield EndedRun(run_id, datetime.fromtimestamp(float(ended), UTC), size)


def _prune_index(path: Path, run_ids: Sequence[str], limit: datetime) -> None:
    """Deletes the events of the runs and those before the limit, except the last event of each
    partition and of each check.
    """
    moment = limit.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")
    with _database(path) as database:
        database.execute("CREATE TEMP TABLE removed_run (run_id TEXT PRIMARY KEY)")
        rows = [(run_id,) for run_id in run_ids]
        database.executemany("INSERT OR IGNORE INTO removed_run VALUES (?)", rows)
        database.execute(
            "CREATE TEMP TABLE last_check AS SELECT max(id) AS id FROM asset_check_executions"
            " GROUP BY asset_key, check_name, partition"
        )
        database.execute(
            "CREATE TEMP TABLE last_event AS SELECT max(id) AS id FROM event_logs"
            " WHERE dagster_event_type IN ('ASSET_MATERIALIZATION', 'ASSET_OBSERVATION')"
            " GROUP BY asset_key, partition, dagster_event_type"
            " UNION SELECT evaluation_event_storage_id FROM asset_check_executions"
            " WHERE id IN (SELECT id FROM last_check) AND evaluation_event_storage_id IS NOT NULL"
        )
        is_removed = "run_id IN (SELECT run_id FROM removed_run)"
        database.execute(
            f"DELETE FROM event_logs WHERE (timestamp < ? OR {is_removed}) AND id NOT IN "
            "(SELECT id FROM last_event)",
            [moment],
        )
        database.execute(
            "DELETE FROM asset_event_tags WHERE event_id NOT IN (SELECT id FROM event_logs)"
        )
        database.execute(
            f"DELETE FROM asset_check_executions WHERE (create_timestamp < ? OR {is_removed})"
            " AND id NOT IN (SELECT id FROM last_check)",
            [moment],
        )
        database.commit()
        _compact(database)


def _prune_runs(path: Path, run_ids: Iterable[str]) -> None:
    with _database(path) as database:
        rows = [(run_id,) for run_id in run_ids]
        for table in ("run_tags", "runs"):
            database.executemany(f"DELETE FROM {table} WHERE run_id = ?", rows)
        database.commit()
        _compact(database)


def _compact(database: sqlite3.Connection) -> None:
    """Returns free pages to the disk where they are more than half of the file."""
    (free,) = database.execute("PRAGMA freelist_count").fetchone()
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    if free > pages / 2:
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _database(path: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(path, timeout=BUSY_SECONDS))


def _size(path: Path) -> int:
    """Returns the bytes of the file, or of all files below the folder; 0 for one that vanished."""
    if not path.is_dir() or path.is_symlink():
        try:
            return path.lstat().st_size
        except OSError:
            return 0
    return sum(_size(Path(entry)) for entry in _entries(path))


def _entries(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.path for entry in entries]
    except OSError:
        return []
