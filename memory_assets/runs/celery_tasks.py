"""Asks Celery which runs its workers execute, where the lock of a run is in a worker's own folder.

A worker that was killed whole, or whose machine is gone, leaves its task as started for good. So a
run that was begun is lost if no worker has its task at two looks some seconds apart.
"""

import time
from collections.abc import Collection, Sequence
from typing import Any

import dagster as dg

from memory_assets.errors import StoreError
from memory_assets.runs.liveness import TASK, UNFINISHED

ANSWER_SECONDS = 5.0
"""Time for the answers of workers; a worker answers while its child process executes a task."""

BETWEEN_LOOKS_SECONDS = 5.0
"""So that a short break of a connection to the queue does not count as the end of a worker."""


def lost_runs(instance: dg.DagsterInstance, runs: Sequence[dg.DagsterRun]) -> set[str]:
    """Returns the ids of the runs that were begun and that no worker has any more.

    Raises `StoreError` if the queue does not answer.
    """
    launcher: Any = instance.run_launcher
    try:
        results = {run.run_id: launcher.celery.AsyncResult(run.tags[TASK]) for run in runs}
        begun = [
            run
            for run in runs
            if run.status == dg.DagsterRunStatus.STARTED or results[run.run_id].state != "PENDING"
        ]
        hosts = {_host_of(results[run.run_id].info) for run in begun}
        missing = _missing(instance, begun, hosts)
        if missing:
            time.sleep(BETWEEN_LOOKS_SECONDS)
            missing = _missing(instance, missing)
    except Exception as error:
        raise unreachable(error) from error
    return {run.run_id for run in missing}


def unreachable(error: Exception) -> StoreError:
    """Returns the error of a queue that does not answer."""
    return StoreError(
        "The server that DAGSTER_CELERY_URL names does not answer "
        f"({type(error).__name__}). Start it, then run this again."
    )


def _missing(
    instance: dg.DagsterInstance,
    runs: Sequence[dg.DagsterRun],
    hosts: Collection[str | None] = (None,),
) -> Sequence[dg.DagsterRun]:
    """Returns the runs that no worker has, and that did not end meanwhile; asks only these workers
    where all are known.

    Two workers may have one name, so the answers are no mapping.
    """
    if not runs:
        return []
    launcher: Any = instance.run_launcher
    named = {"destination": [*hosts], "limit": len(hosts)} if None not in hosts else {}
    asked = {"ids": [run.tags[TASK] for run in runs]}
    replies = launcher.celery.control.broadcast(
        "query_task", arguments=asked, reply=True, timeout=ANSWER_SECONDS, **named
    )
    present = {task for reply in replies or () for tasks in reply.values() for task in tasks}
    missing = [run.run_id for run in runs if run.tags[TASK] not in present]
    return (
        instance.get_runs(dg.RunsFilter(run_ids=missing, statuses=UNFINISHED.statuses))
        if missing
        else []
    )


def _host_of(info: object) -> str | None:
    """Returns the worker that began the task; None if its record does not say."""
    return info.get("hostname") if isinstance(info, dict) else None
