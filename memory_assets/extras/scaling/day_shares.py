"""Builds days in several processes, before the run that reports them.

Days are divided into shares. Each share is a step of the job `build_shares`, which Dagster executes
in processes of this machine, or on Celery workers where `DAGSTER_CELERY_URL` is set. The run of the
asset job then finds the tables of these days already built, and reports them. It also builds the
days of a share whose process was killed or whose step failed.
"""

import multiprocessing
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any
from uuid import uuid4

import dagster as dg

# `dg.execute_job` takes no run id, which the lock of the run needs before the run exists.
from dagster._core.execution.api import execute_run
from dagster_shared.error import SerializableErrorInfo

from memory_assets.assets.resources import open_current_store
from memory_assets.errors import DamagedError
from memory_assets.extras.scaling.deployment import CELERY_URL
from memory_assets.extras.scaling.settings import scaling
from memory_assets.runs.days import QUIET, Stretch, session_days
from memory_assets.runs.interrupts import interrupted_by_signals
from memory_assets.runs.launch import Runner, quieten
from memory_assets.runs.liveness import SHARES_JOB, holding
from memory_assets.runs.materialise import materialise
from memory_assets.schema.announcements import announce
from memory_assets.schema.progress import building
from memory_assets.schema.tables import JOBS, built_together, tables_in
from memory_assets.services.settings.which_store import environment_of
from memory_assets.store.settings import read_settings
from memory_assets.store.store import PART_WAIT_SECONDS, Store

THREADS = ("OMP_NUM_THREADS", "POLARS_MAX_THREADS")
"""Environment variables that limit the threads of a process."""


class Share(dg.Config):
    """Days of an asset job that one step builds."""

    store: str
    job: str
    days: list[str]


@dg.op(out=dg.Out(dg.Nothing))
def build_share(context: dg.OpExecutionContext, config: Share) -> None:
    """Builds the tables of some days; a later run reports them."""
    end_with_parent()
    store = open_current_store(read_settings())
    if config.store != address_of(store):
        raise dg.Failure(
            f"This run is about {config.store}, and the store of this worker is "
            f"{address_of(store)}. Set MEMORY_DATA or MEMORY_STORE to the same store."
        )
    by_day = [table for table in tables_in(config.job) if table.grain == "day" and table.record]
    for tables in built_together(by_day):
        report = materialise(store, tables, config.days, ask_again=False)
        for warning in report.warnings:
            context.log.warning(warning)


def share_job(count: int, processes: int) -> dg.JobDefinition:
    """Returns the job with `count` shares, executed in so many processes at once; with 0
    `processes`, by Celery workers.
    """

    @dg.graph(name=SHARES_JOB, description="Builds days in several processes at once.")
    def shares() -> None:
        for number in range(count):
            build_share.alias(_step(number))()

    if processes:
        limit = {"max_concurrent": processes}
        return shares.to_job(executor_def=dg.multiprocess_executor.configured(limit))
    from memory_assets.extras.scaling.celery_app import executor

    return shares.to_job(executor_def=executor())


def build_days(runner: Runner, job: str, runs: Sequence[Stretch]) -> None:
    """Builds the days of these runs in parallel, if they make more than one share."""
    store = runner.store
    days = sorted(day for stretch in runs for day in stretch.days())
    shares = shares_of(days, session_days(store), scaling(store.settings).workers)
    if len(shares) > 1:
        quieten()
        building(tables_in(job)[0].name, JOBS[job].title)
        build_shares(runner.instance, store, job, shares)


def shares_of(
    days: Sequence[date], sessions: Iterable[tuple[date, date]], max_shares: int
) -> list[list[date]]:
    """Returns the days, in order, in at most `max_shares` shares with about the same number of
    sessions.

    `sessions` are the first and the last day of each session. All days of a session are in one
    share, because its later parts are understood from the earlier ones.
    """
    spans = list(sessions)
    weights = [sum(begin <= day <= end for begin, end in spans) for day in days]
    share_weight = max(1, sum(weights) / max_shares)
    shares = list[list[date]]()
    weight = 0
    is_open = False
    for day, sessions_of_day in zip(days, weights, strict=True):
        if not is_open:
            shares.append([])
            weight = 0
        shares[-1].append(day)
        weight += sessions_of_day
        has_unfinished = any(begin <= day < end for begin, end in spans)
        is_open = has_unfinished or weight < share_weight or len(shares) == max_shares
    return shares


def build_shares(
    instance: dg.DagsterInstance, store: Store, job: str, shares: Sequence[Sequence[date]]
) -> None:
    """Builds the shares in parallel. A share that fails is left to the run that follows.

    Raises `DamagedError` where a step put a damaged file aside: tables that these days are built
    from may have to be built again first.
    """
    if is_on_celery():
        from memory_assets.extras.scaling.celery_app import check_worker

        check_worker()
    with _environment(store):
        result = _execute(instance, store, job, shares)
    store.sync(wait_seconds=PART_WAIT_SECONDS)  # workers may have folders of their own
    if not result.success:
        announce(f"Run {result.run_id} did not build all its days; this process builds the others.")
    for event in result.get_step_failure_events():
        raise_if_damaged(event.step_failure_data.error)


def is_on_celery() -> bool:
    """Returns whether Celery workers build days, instead of processes of this machine."""
    return bool(os.environ.get(CELERY_URL))


def address_of(store: Store) -> str:
    """Returns what identifies the store on every machine: the address of its bucket, else the path
    of its data folder. With a bucket, workers may have different data folders.
    """
    return store.shared.address if store.shared else str(store.root)


def _execute(
    instance: dg.DagsterInstance, store: Store, job: str, shares: Sequence[Sequence[date]]
) -> dg.JobExecutionResult:
    processes = 0 if is_on_celery() else scaling(store.settings).workers
    arguments: Any = (len(shares), processes)
    shares_job = dg.build_reconstructable_job(__name__, share_job.__name__, arguments)
    configs = {
        _step(number): {"config": _config(store, job, share)} for number, share in enumerate(shares)
    }
    run_id = str(uuid4())
    run = instance.create_run_for_job(
        shares_job.get_definition(),
        run_id=run_id,
        run_config={"ops": configs, **QUIET},
        job_code_origin=shares_job.get_python_origin(),
    )
    with holding(store, run_id), interrupted_by_signals():
        return execute_run(shares_job, run, instance)


def _config(store: Store, job: str, share: Sequence[date]) -> dict[str, Any]:
    days = [day.isoformat() for day in share]
    return {"store": address_of(store), "job": job, "days": days}


def _step(number: int) -> str:
    return f"share_{number + 1}"


@contextmanager
def _environment(store: Store) -> Iterator[None]:
    """Sets the environment for processes that the block starts: this store, and their part of the
    cores.
    """
    threads = max(1, (os.cpu_count() or 1) // scaling(store.settings).workers)
    previous = dict(os.environ)
    os.environ.update(environment_of(store.settings), DAGSTER_HOME=str(store.dagster_home))
    for name in THREADS:
        os.environ.setdefault(name, str(threads))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(previous)


def end_with_parent() -> None:
    """Ends this process when its parent process ends, even if the parent is killed."""
    parent = multiprocessing.parent_process()
    if parent is None:  # a Celery worker
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def raise_if_damaged(error: SerializableErrorInfo | None) -> None:
    """Raises `DamagedError` if it is among the causes of the error of another process."""
    while error is not None:
        if error.cls_name == DamagedError.__name__:
            raise DamagedError(error.message)
        error = error.cause
