"""Days on Celery workers: the tables of one process, also where a worker is killed; and errors without servers or workers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pytest
import yaml

from memory_assets.extras.scaling.deployment import CELERY_URL
from memory_assets_tests import story
from memory_assets_tests.extras.scaling.servers import POSTGRES_PASSWORD, celery_worker, free_port
from memory_assets_tests.extras.scaling.workers import (
    celery_servers,
    failed_jobs,
    finish_ingest,
    has_begun,
    read_log,
    store_on_postgres,
    wait_until,
)
from memory_assets_tests.once import only_whole

NOBODY = f"redis://:{POSTGRES_PASSWORD}@127.0.0.1:{free_port()}/0"
SHOW = """
import json
from memory_assets.extras.scaling.celery_app import app
print(json.dumps([[t for t in app.tasks if "execute" in t], app.conf.task_acks_late, app.conf.broker_url]))
"""
CHECK = """
from memory_assets.errors import StoreError
from memory_assets.extras.scaling.celery_app import check_worker
try:
    check_worker()
except StoreError as error:
    print(error)
"""


def run_code(code: str) -> str:
    """Runs the code with a queue that does not answer, and returns what it prints."""
    pytest.importorskip("dagster_celery")
    environ = {**os.environ, CELERY_URL: NOBODY}
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environ).stdout


@pytest.mark.slow
def test_a_worker_executes_steps_of_the_queue_that_the_variable_names():
    assert yaml.safe_load(run_code(SHOW)) == [["execute_plan"], True, NOBODY]


@pytest.mark.slow
@only_whole("it waits for a server that never answers")
def test_a_queue_that_does_not_answer_is_an_error_without_its_password():
    message = run_code(CHECK)
    assert "The server that DAGSTER_CELERY_URL names does not answer" in message
    assert POSTGRES_PASSWORD not in message


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The addresses of PostgreSQL and Redis, as variables."""
    with celery_servers(tmp_path) as addresses:
        yield addresses


@pytest.fixture(scope="module")
def expected(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, dict[str, pl.DataFrame], list[str]]:
    """The sample, the tables that one process makes of it, and its jobs."""
    folder = tmp_path_factory.mktemp("celery")
    sources = story.lay_out_sample(folder / "sources", "/pi/")
    jobs = story.run_apart("ingest", folder / "local", sources)["jobs"]
    return sources, story.all_tables(story.open_at(folder / "local", sources)), jobs


@pytest.mark.slow
@only_whole("it starts PostgreSQL, Redis and two workers")
@pytest.mark.parametrize("kill", ["nothing", "the process of a share", "the whole worker"])
def test_two_workers_make_the_same_tables_whichever_is_killed(
    kill: str,
    tmp_path: Path,
    servers: dict[str, str],
    expected: tuple[Path, dict[str, pl.DataFrame], list[str]],
    monkeypatch: pytest.MonkeyPatch,
):
    sources, tables, jobs = expected
    for name, value in servers.items():
        monkeypatch.setenv(name, value)
    there = tmp_path / "there"
    store = store_on_postgres(there, sources)
    environ = story.environment(there, sources, **servers)
    with ExitStack() as workers:
        first, _ = (
            workers.enter_context(celery_worker(tmp_path / name, environ))
            for name in ("first", "second")
        )
        ingest = story.start("ingest", there, sources, **servers)
        log = tmp_path / "first.log"
        if kill != "nothing":
            assert wait_until(lambda: has_begun(log), 240), read_log(log)
            if kill == "the whole worker":
                os.killpg(first.pid, signal.SIGKILL)
            else:
                os.kill(child_of(first.pid), signal.SIGKILL)
        assert finish_ingest(ingest, tmp_path / "second.log") == jobs
    story.assert_same_tables(story.all_tables(story.open_at(there, sources)), tables)
    expected_failures = ["build_shares"] if kill == "the process of a share" else []
    assert failed_jobs(store) == expected_failures
    assert not [*(there / "dagster").glob("history")]


def child_of(worker: int) -> int:
    """Returns the process of the worker that executes its tasks."""
    command = ["ps", "-o", "pid=", "--ppid", str(worker)]
    return int(subprocess.run(command, capture_output=True, text=True).stdout.split()[0])


@pytest.mark.slow
@only_whole("it starts PostgreSQL and Redis, and waits for a worker that is not there")
def test_no_worker_is_an_error_that_names_the_command(
    tmp_path: Path, servers: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    for name, value in servers.items():
        monkeypatch.setenv(name, value)
    sources = story.lay_out_sample(tmp_path / "sources", "/pi/")
    store = store_on_postgres(tmp_path / "store", sources)
    ingest = story.start("ingest", store.root, sources, **servers)
    out, errors = ingest.communicate(timeout=200)
    assert ingest.returncode != 0
    assert (
        "No Celery worker answers. Start one with `celery -A memory_assets.extras.scaling.celery_app worker"
        in out + errors
    )
    assert "Traceback" not in errors
