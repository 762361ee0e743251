"""Dagster's launcher of Celery tasks, for a store whose workers may have data folders of their own.

Such a store is in a bucket, which has tables and no indexes or files of the workspace. Its workers
get shares of days, which carry the store's address (`runs.celery_runs`). What the UI and sensors
start writes indexes and files too, so it is run by the code server, beside the folder that people
read. Where all workers share one folder, every run is a Celery task.
"""

import dagster as dg
from dagster._core.launcher import (
    CheckRunHealthResult,
    DefaultRunLauncher,
    LaunchRunContext,
    WorkerStatus,
)
from dagster_celery.launcher import CeleryRunLauncher as Launcher

from memory_assets.runs.days import STORE
from memory_assets.runs.liveness import TASK
from memory_assets.store.settings import read_settings


class CeleryRunLauncher(Launcher):
    """Launches runs as Celery tasks, or in the code server where a worker could not do what they
    do.
    """

    def register_instance(self, instance: dg.DagsterInstance) -> None:
        """Takes the instance whose runs are launched."""
        super().register_instance(instance)
        self._here = DefaultRunLauncher()
        self._here.register_instance(instance)

    def launch_run(self, context: LaunchRunContext) -> None:
        """Begins the run."""
        is_here = STORE not in context.dagster_run.tags and read_settings().store
        self._here.launch_run(context) if is_here else super().launch_run(context)

    def terminate(self, run_id: str) -> bool:
        """Ends the process of the run; returns whether that was asked for."""
        run = self._instance.get_run_by_id(run_id)
        return (
            super().terminate(run_id) if run and TASK in run.tags else self._here.terminate(run_id)
        )

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Returns what Celery says of the run; of one that is no task `runs.liveness` knows whether
        its process is alive.
        """
        return (
            super().check_run_worker_health(run)
            if TASK in run.tags
            else CheckRunHealthResult(WorkerStatus.RUNNING)
        )
