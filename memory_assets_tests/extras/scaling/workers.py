"""Celery workers that tests start: their queue and history, and how a test waits for them."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_assets.extras.scaling.deployment import CELERY_URL, POSTGRES_URL, configure
from memory_assets.runs.instance import open_instance
from memory_assets.runs.liveness import UNFINISHED
from memory_assets.store.store import Store
from memory_assets_tests import story
from memory_assets_tests.extras.scaling.servers import needs_celery, postgres_server, redis_server


@contextmanager
def celery_servers(folder: Path) -> Iterator[dict[str, str]]:
    """Yields the addresses of PostgreSQL and Redis, as variables, and how many workers there are."""
    needs_celery()
    with postgres_server() as postgres, redis_server(folder / "redis") as redis:
        yield {POSTGRES_URL: postgres, CELERY_URL: redis, "MEMORY_WORKERS": "2"}


def store_on_postgres(data: Path, sources: Path) -> Store:
    """Returns the store at `data`, with its history begun on the PostgreSQL server."""
    store = story.open_at(data, sources)
    configure(store.settings, "postgres", write=True)
    with open_instance(store):
        pass  # makes Dagster's tables in the empty database
    return store


def finish_ingest(ingest: subprocess.Popen[str], log: Path) -> list[str]:
    """Waits for the end of an ingest and returns its jobs; `log` is that of a worker."""
    out, errors = ingest.communicate(timeout=550)
    assert ingest.returncode == 0, out[-2000:] + errors[-2000:] + read_log(log)
    return json.loads(out)["data"]["jobs"]


def has_begun(log: Path) -> bool:
    """Whether the worker of this log has received a share of days."""
    return "execute_plan" in log.read_text(errors="replace").partition(" ready.")[2]


def wait_until(is_so: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not (found := is_so()) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def read_log(path: Path) -> str:
    return path.read_text(errors="replace")[-2000:]


def failed_jobs(store: Store) -> list[str]:
    """Returns the jobs of the runs that failed; all runs have ended, and no slot of a pool is taken."""
    with open_instance(store) as instance:
        assert instance.get_runs(UNFINISHED) == []
        assert instance.event_log_storage.get_concurrency_run_ids() == set()
        return [run.job_name for run in instance.get_runs() if not run.is_success]
