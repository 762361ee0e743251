"""Executes a job in this process, as a run of the code location that the UI loads.

The UI lists runs by the repository and the code location of their origin. It shows no run without
an origin among the runs of a job or on the timeline.
"""

from collections.abc import Iterable, Mapping
from uuid import uuid4

import dagster as dg

# Dagster has no public way to create a run with an origin and to execute it in the same process.
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from polars.exceptions import PanicException

from memory_assets.errors import StoreError
from memory_assets.runs.days import QUIET
from memory_assets.runs.failures import clear_repeated, note_error
from memory_assets.runs.instance import CODE_LOCATION
from memory_assets.runs.interrupts import interrupted_by_signals
from memory_assets.runs.liveness import NO_RETRY, holding
from memory_assets.store.store import Store

REPOSITORY = "__repository__"
"""Dagster's name for the definitions of a code location."""


def execute(
    instance: dg.DagsterInstance,
    store: Store,
    job: dg.JobDefinition,
    tables: Iterable[str],
    tags: Mapping[str, str],
) -> None:
    """Runs these tables of the job; raises `StoreError` where the run fails.

    A failed run is not retried by Dagster, because the next update finds what it left undone.
    """
    keys = {dg.AssetKey(table) for table in tables}
    is_whole = keys == job.asset_layer.selected_asset_keys
    run_id = str(uuid4())
    with holding(store, run_id), interrupted_by_signals():
        run = instance.create_run_for_job(
            job,
            run_id=run_id,
            run_config=QUIET,
            tags={**tags, **NO_RETRY},
            # A run of all tables uses the snapshot of the job, which Dagster has stored already.
            asset_selection=None if is_whole else keys,
            remote_job_origin=origin_of(job.name),
        )
        try:
            result = execute_run(InMemoryJob(job), run, instance, raise_on_error=True)
        except (Exception, PanicException) as error:
            note_error(store, job.name, run_id, error)
            raise
    if not result.success:
        raise StoreError(
            f"The run of '{job.name}' failed; see run {run_id} in the Dagster UI (`memory up`)."
        )
    clear_repeated(instance, store)


def origin_of(job: str) -> RemoteJobOrigin:
    """Returns the origin that a run of the job has if the UI starts it."""
    location = RegisteredCodeLocationOrigin(CODE_LOCATION)
    return RemoteJobOrigin(RemoteRepositoryOrigin(location, REPOSITORY), job)
