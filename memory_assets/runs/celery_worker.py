"""The Celery application of a worker that executes Dagster's runs: `celery -A
memory_assets.runs.celery_worker worker`.

It has the settings of the launcher in the store's dagster.yaml. A process of a worker lives longer
than a run, so that it holds the lock of the run from the task's beginning to its end
(`runs.liveness`). Of a store in a bucket, the worker may have an empty data folder of its own: it
writes dagster.yaml there, and each run begins with a synchronisation.
"""

import os
from typing import Any

from celery.signals import task_postrun, task_prerun
from celery.states import STARTED
from dagster import DagsterInstance
from dagster._core.instance.ref import InstanceRef
from dagster._serdes import unpack_value
from dagster_celery.tasks import create_execute_job_task, create_resume_job_task

from memory_assets.errors import StoreError
from memory_assets.runs.deployment import configure, missing_variables, runs_on_workers
from memory_assets.runs.liveness import TASK, hold, release
from memory_assets.services.settings.which_store import present_settings
from memory_assets.store.store import Store, open_store

ARGUMENTS = "execute_job_args_packed"


def open_folder() -> Store:
    """Returns the store in this folder, without its bucket: a client of that which is used here
    does not work in a fork.
    """
    settings = present_settings()
    opened = open_store(settings.model_copy(update={"store": ""}))
    if settings.store and not (opened.dagster_home / "dagster.yaml").is_file():
        configure(opened.settings, "celery", write=True)
    return opened


store = open_folder()
if not runs_on_workers(store.dagster_home):
    raise StoreError(
        f"{store.dagster_home / 'dagster.yaml'} names no Celery. Run `memory config "
        "--deployment celery --write`."
    )
if lacking := missing_variables(store.dagster_home, os.environ):
    raise StoreError(
        f"The worker needs {' and '.join(lacking)} in its environment; see docs/scaling.md."
    )
os.environ["DAGSTER_HOME"] = str(store.dagster_home)
launcher: Any = InstanceRef.from_dir(str(store.dagster_home)).run_launcher
app = launcher.celery
create_execute_job_task(app)
create_resume_job_task(app)


def run_of(arguments: dict[str, Any] | None) -> str | None:
    """Returns the run of a task with these arguments; None for another task."""
    packed = (arguments or {}).get(ARGUMENTS)
    return getattr(unpack_value(packed), "run_id", None) if packed else None


@task_prerun.connect
def _hold(
    task_id: str = "", task: Any = None, kwargs: dict[str, Any] | None = None, **_: Any
) -> None:
    if run_id := run_of(kwargs):
        begun = {"pid": os.getpid(), "hostname": task.request.hostname}
        task.backend.store_result(
            task_id, begun, STARTED
        )  # as Celery does later: a killed task would look as if it waited
        with DagsterInstance.get() as instance:
            instance.add_run_tags(
                run_id, {TASK: task_id}
            )  # as the launcher does later, unless it is killed
        hold(store, run_id)


@task_postrun.connect
def _release(kwargs: dict[str, Any] | None = None, **_: Any) -> None:
    if run_id := run_of(kwargs):
        release(store, run_id)
