"""The Celery application of dagster-celery, with its executor, for the queue at
`DAGSTER_CELERY_URL`.

`celery -A memory_assets.extras.scaling.celery_app worker` starts a worker. The worker finds the
store by its own settings.
"""

import os

import dagster as dg
from dagster_celery import celery_executor
from dagster_celery.config import dict_wrapper
from dagster_celery.make_app import make_app
from dagster_celery.tasks import create_task

from memory_assets.errors import StoreError
from memory_assets.extras.scaling.deployment import CELERY_URL
from memory_assets.store.settings import read_settings

WORKER_COMMAND = f"celery -A {__name__} worker --concurrency 1"
PING_SECONDS = 5.0

SETTINGS = {
    # A worker reserves only the task that it works on: killing it delays no other task.
    "task_acks_late": True,
    "worker_prefetch_multiplier": 1,
    "broker_connection_retry_on_startup": True,
    # After this time Redis gives the task of a killed worker to another one.
    "broker_transport_options": {"visibility_timeout": 3600, "max_retries": 3},
}

os.environ.setdefault("DAGSTER_HOME", str(read_settings().data / "dagster"))
app = make_app(
    {
        "broker": os.environ.get(CELERY_URL),
        "backend": os.environ.get(CELERY_URL),
        "config_source": dict_wrapper(SETTINGS),
    }
)
execute_plan = create_task(app)


def executor() -> dg.ExecutorDefinition:
    """Returns dagster-celery's executor. Its configuration, which Dagster stores, holds the name of
    the environment variable and not the address.
    """
    address = {"env": CELERY_URL}
    return celery_executor.configured(
        {"broker": address, "backend": address, "config_source": SETTINGS}
    )


def check_worker() -> None:
    """Raises `StoreError` if the queue or every worker is silent: a run would wait for ever."""
    try:
        answers = app.control.ping(timeout=PING_SECONDS, limit=1)
    except Exception as error:
        raise StoreError(
            f"The server that {CELERY_URL} names does not answer ({type(error).__name__}). Start "
            "it, then run this again."
        ) from error
    if not answers:
        raise StoreError(
            f"No Celery worker answers. Start one with `{WORKER_COMMAND}` (`memory docs scaling`), "
            "then run this again."
        )
