"""Finds out which runs, and which worker, still have a live process.

The process of each run, and the worker of `memory up`, holds the lock of a file. The lock is free
as soon as the process ends, however it ends.

Dagster cannot tell whether the process of a run still exists. A killed run would stay "started" for
ever. The sensors, which wait for runs in progress, would request nothing any more, and other runs
would wait for its slot in a pool. `fail_dead_runs` marks such runs as failed and frees the slots.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import filelock

from memory_assets.schema.tables import JOBS, TABLES, tables_in
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder

FOLDER = "running"
"""Below DAGSTER_HOME: one lock file for each process that runs."""

WORKER = "worker"

SHARES_JOB = "build_shares"
"""The job that builds days in several processes (`extras.scaling`)."""

NO_RETRY = {"dagster/max_retries": "0"}
"""Tag of a run that Dagster does not retry if it fails."""

STARTING_SECONDS = 300.0
"""A new run holds no lock while it imports code. After this time its process is taken for dead."""

BETWEEN_STEPS_SECONDS = 60.0
"""Each step of a run may have a process of its own. Within this time after the last step began, the
next process may be about to start.
"""

SLOT_CHECK_SECONDS = 5.0
"""How often this process looks for killed runs while it may wait for their slots."""

_STATUSES = ("QUEUED", "NOT_STARTED", "STARTING", "STARTED")
UNFINISHED = dg.RunsFilter(statuses=[dg.DagsterRunStatus(name) for name in _STATUSES])

OWN_CHECKS: set[dg.AssetCheckKey] = set()
"""The checks of the store; a project that the store is mounted in may check its tables, too."""

_held: dict[Path, filelock.FileLock] = {}


def hold(store: Store, name: str) -> bool:
    """Takes the lock of the run or worker until this process ends.

    Returns False if another process has it. `name` is the id of a run, or `WORKER`.
    """
    path = _path(store, name)
    if path in _held:
        os.utime(path)
        return True
    make_folder(path.parent)
    lock = filelock.FileLock(path, mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        return False
    _held[path] = lock
    os.utime(path)
    return True


def release(store: Store, name: str) -> None:
    """Releases the lock and deletes its file."""
    path = _path(store, name)
    lock = _held.pop(path, None)
    if lock:
        # Deleted before it is released, so that no other process can lock the deleted file.
        path.unlink(missing_ok=True)
        lock.release()


@contextmanager
def holding(store: Store, name: str) -> Iterator[bool]:
    """Holds the lock during the block; yields whether it could be taken."""
    is_held = hold(store, name)
    try:
        yield is_held
    finally:
        if is_held:
            release(store, name)


def is_alive(store: Store, name: str) -> bool:
    """Returns whether a process holds the lock."""
    path = _path(store, name)
    if path in _held:
        return True
    if not path.is_file():
        return False
    lock = filelock.FileLock(path, mode=0o600)
    try:
        with lock.acquire(timeout=0):
            return False
    except filelock.Timeout:
        return True


def fail_dead_runs(instance: dg.DagsterInstance, store: Store) -> list[str]:
    """Marks runs whose process has ended as failed, and frees their slots.

    Returns the ids of the other unfinished runs. A run that no process has begun to execute is left
    to Dagster, which knows how long that may take.
    """
    # Read before the runs, so that every run with a slot is among them.
    with_slots = instance.event_log_storage.get_concurrency_run_ids()
    alive = list[str]()
    elsewhere = list[str]()
    for record in instance.get_run_records(UNFINISHED):
        run = record.dagster_run
        if not is_ours(run):
            elsewhere.append(run.run_id)
        elif _is_dead(store, record):
            _fail_run(instance, run)
        else:
            alive.append(run.run_id)
    for run_id in with_slots.difference(alive, elsewhere):
        instance.event_log_storage.free_concurrency_slots_for_run(run_id)
    _remove_locks(store, alive)
    return alive


def _fail_run(instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
    """Marks the run as failed, without a retry: the sensors request what it left undone."""
    instance.add_run_tags(run.run_id, NO_RETRY)
    reason = "The process of this run ended before the run did. What it left undone runs again."
    instance.report_run_failed(run, reason)


@contextmanager
def failing_dead_runs(instance: dg.DagsterInstance, store: Store) -> Iterator[None]:
    """Fails dead runs now, and during the block those that hold a slot of a pool."""
    fail_dead_runs(instance, store)
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(SLOT_CHECK_SECONDS):
            run_ids = instance.event_log_storage.get_concurrency_run_ids()
            if not all(is_alive(store, run_id) for run_id in run_ids):
                fail_dead_runs(instance, store)

    watcher = threading.Thread(target=watch, name="dead runs", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


def is_ours(run: dg.DagsterRun) -> bool:
    """Returns whether the run is about this store alone, and not about another part of the project
    that the store is mounted in.
    """
    is_of_store = OWN_CHECKS.issuperset(run.asset_check_selection or ())
    tables = tables_of(run)
    is_of_tables = is_of_store and bool(tables) and tables <= TABLES.keys()
    return run.job_name in (*JOBS, SHARES_JOB) or is_of_tables


def tables_of(run: dg.DagsterRun) -> set[str]:
    """Returns the tables, and other assets, that the run builds or checks."""
    checks = run.asset_check_selection or ()
    return built_by(run).union(check.asset_key.to_user_string() for check in checks)


def built_by(run: dg.DagsterRun) -> set[str]:
    """Returns the tables, and other assets, that the run builds."""
    has_selection = bool(run.asset_selection or run.asset_check_selection)
    if run.job_name in JOBS and not has_selection:
        return {table.name for table in tables_in(run.job_name)}
    return {key.to_user_string() for key in run.asset_selection or ()}


def _is_dead(store: Store, record: dg.RunRecord) -> bool:
    """Returns whether a process began the run, and none executes it or is about to."""
    run = record.dagster_run
    now = time.time()
    try:
        active_at = _path(store, run.run_id).stat().st_mtime
        patience = 0.0 if is_of_maker(run) else BETWEEN_STEPS_SECONDS
    except FileNotFoundError:
        active_at = record.start_time or now
        patience = STARTING_SECONDS
    return now - active_at >= patience and not is_alive(store, run.run_id)


def is_of_maker(run: dg.DagsterRun) -> bool:
    """Returns whether the process that made the run executes it.

    Of a run that another process executes, Dagster notes where that process finds the code.
    """
    return run.remote_job_origin is None or run.job_code_origin is None


def _remove_locks(store: Store, alive: list[str]) -> None:
    """Deletes the lock files of runs that have ended.

    Leaves younger files, which may belong to a run that has no record yet.
    """
    for path in (store.dagster_home / FOLDER).glob("*.lock"):
        name = path.stem
        is_old = name not in (*alive, WORKER) and _age(path) >= BETWEEN_STEPS_SECONDS
        if is_old and not is_alive(store, name):
            path.unlink(missing_ok=True)


def _age(path: Path) -> float:
    """Returns the seconds since the file was last touched; 0 if it was just deleted."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _path(store: Store, name: str) -> Path:
    return store.dagster_home / FOLDER / f"{name}.lock"
