"""Celery workers that tests start: their queue and history, the process that executes a run, and how a test waits for it."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_assets.runs.days import BY_DAY
from memory_assets.runs.deployment import CELERY_URL, POSTGRES_URL, configure
from memory_assets.runs.instance import open_instance
from memory_assets.runs.liveness import FOLDER, UNFINISHED
from memory_assets.store.store import Store
from memory_assets_tests import story
from memory_assets_tests.servers import needs_celery, postgres_server, redis_server


@contextmanager
def celery_servers(folder: Path) -> Iterator[dict[str, str]]:
    """Yields the addresses of PostgreSQL and Redis, as variables."""
    needs_celery()
    with postgres_server() as postgres, redis_server(folder / "redis") as redis:
        yield {POSTGRES_URL: postgres, CELERY_URL: redis}


def store_on_workers(data: Path, sources: Path) -> Store:
    """Returns the store at `data`, whose runs Celery workers execute; its history is begun on the PostgreSQL server."""
    store = story.open_at(data, sources)
    configure(store.settings, "celery", write=True)
    with open_instance(store):
        pass  # makes Dagster's tables in the empty database
    return store


def finish_ingest(ingest: subprocess.Popen[str], log: Path) -> None:
    """Waits for the end of an ingest, which has run several shares of days on workers; `log` is that of one of them."""
    said, errors = ingest.communicate(timeout=500)
    assert ingest.returncode == 0, said[-2000:] + errors[-2000:] + read_log(log)
    jobs = json.loads(said)["data"]["jobs"]
    assert all(jobs.count(job) >= 2 for job in BY_DAY)


def executing(worker: int, home: Path) -> int | None:
    """Returns the process of the worker that holds the lock of a run below DAGSTER_HOME; None while there is none."""
    running = str(home / FOLDER)
    for pid in (int(path.name) for path in Path("/proc").glob("[0-9]*")):
        try:
            if os.getpgid(pid) == worker and any(
                os.readlink(fd).startswith(running) for fd in Path(f"/proc/{pid}/fd").iterdir()
            ):
                return pid
        except OSError:
            continue
    return None


def wait_until(is_so: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not (found := is_so()) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def read_log(path: Path) -> str:
    return path.read_text(errors="replace")[-2000:]


def count_failed(store: Store) -> int:
    """Returns how many runs failed; all runs have ended, and no slot of a pool is taken."""
    with open_instance(store) as instance:
        assert instance.get_runs(UNFINISHED) == []
        assert instance.event_log_storage.get_concurrency_run_ids() == set()
        return len([run for run in instance.get_runs() if not run.is_success])
