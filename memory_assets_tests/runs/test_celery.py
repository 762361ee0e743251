"""Runs of days on Celery workers: the tables of one process, also where a worker is killed; and what is said without servers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from functools import partial
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
import yaml
from dagster._core.instance.ref import InstanceRef

from memory_assets.errors import StoreError
from memory_assets.runs.celery_runs import WorkerRuns
from memory_assets.runs.days import BY_DAY, STORE, Stretch, tags_of
from memory_assets.runs.deployment import CELERY_URL, POSTGRES_URL, configure, dagster_yaml, runs_on_workers
from memory_assets.runs.launch import open_instance
from memory_assets.runs.liveness import FOLDER, UNFINISHED
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests import story
from memory_assets_tests.dagster_runs import run_assets
from memory_assets_tests.once import only_whole
from memory_assets_tests.servers import (
    POSTGRES_PASSWORD,
    celery_worker,
    free_port,
    needs_celery,
    postgres_server,
    redis_server,
)

NOBODY = f"redis://:{POSTGRES_PASSWORD}@127.0.0.1:{free_port()}/0"
DAYS = Stretch(date(2026, 8, 3), date(2026, 8, 4))
SHOW = """
import json
from memory_assets.runs.celery_worker import app
conf = app.conf
print(json.dumps([sorted(t for t in app.tasks if "job" in t), conf.task_acks_late, conf.broker_transport_options]))
"""


@pytest.fixture
def store() -> Store:
    return open_store(read_settings())


@pytest.fixture
def local_queue(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with runs in files and a launcher whose server does not answer."""
    pytest.importorskip("dagster_celery")
    monkeypatch.setenv(CELERY_URL, NOBODY)
    home = store.dagster_home
    home.mkdir()
    launcher = yaml.safe_load(dagster_yaml("celery"))["run_launcher"]
    (home / "dagster.yaml").write_text(f"{dagster_yaml('local')}\n{yaml.safe_dump({'run_launcher': launcher})}")
    return store


def test_the_launcher_is_what_celery_adds_to_postgres(store: Store, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("dagster_celery")
    postgres, celery = (yaml.safe_load(dagster_yaml(name)) for name in ("postgres", "celery"))
    assert celery.pop("run_launcher")["config"]["broker"] == {"env": CELERY_URL}
    assert celery == postgres
    for name, url in ((POSTGRES_URL, "postgresql+psycopg2://127.0.0.1:1/x"), (CELERY_URL, NOBODY)):
        monkeypatch.setenv(name, url)
    configure(store.settings, "celery", write=True)
    assert runs_on_workers(store.dagster_home)
    launcher = InstanceRef.from_dir(str(store.dagster_home)).run_launcher
    assert type(launcher).__name__ == "CeleryRunLauncher"
    assert POSTGRES_PASSWORD not in (store.dagster_home / "dagster.yaml").read_text()
    configure(store.settings, "local", write=True)
    assert not runs_on_workers(store.dagster_home)


def start_worker_code() -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "ignore", "-c", SHOW], capture_output=True, text=True)


@pytest.mark.slow
def test_a_worker_has_the_settings_of_the_launcher(local_queue: Store):
    tasks, acks_late, options = yaml.safe_load(start_worker_code().stdout)
    assert (tasks, acks_late) == (["execute_job", "resume_job"], True)
    assert options["visibility_timeout"] >= 7 * 24 * 3600


@pytest.mark.slow
@only_whole("it starts another process")
def test_a_worker_needs_its_address(local_queue: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(CELERY_URL)
    assert f"The worker needs {CELERY_URL} in its environment" in start_worker_code().stderr


@pytest.mark.slow
@only_whole("it waits for a server that never answers")
def test_a_queue_that_does_not_answer_is_said_without_its_password(local_queue: Store):
    with open_instance(local_queue) as instance:
        tags = partial(tags_of, "process_days", started_by="test")
        runs = WorkerRuns(local_queue, instance, "process_days", tags, {})
        with pytest.raises(StoreError, match="DAGSTER_CELERY_URL names does not answer") as raised:
            runs.run([DAYS], print)
        assert instance.get_runs() == []
    assert POSTGRES_PASSWORD not in str(raised.value)


def test_a_run_about_another_store_is_refused(store: Store):
    with pytest.raises(dg.Failure, match=r"about /elsewhere, but MEMORY_DATA of this worker is"):
        run_assets(store, "windows", tags={STORE: "/elsewhere"})
    assert run_assets(store, "windows", tags={STORE: str(store.root)}).success


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The addresses of PostgreSQL and Redis, as variables."""
    needs_celery()
    with postgres_server() as postgres, redis_server(tmp_path / "redis") as redis:
        yield {POSTGRES_URL: postgres, CELERY_URL: redis}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, pl.DataFrame]]:
    """The sample, and the tables that one process makes of it."""
    folder = tmp_path_factory.mktemp("celery")
    sources = story.lay_out_sample(folder / "sources", "/pi/")
    story.run_apart("ingest", folder / "local", sources)
    return sources, story.all_tables(story.open_at(folder / "local", sources))


@pytest.mark.slow
@only_whole("it starts PostgreSQL, Redis and two workers")
@pytest.mark.parametrize("kill", ["nothing", "the process of the run", "the whole worker"])
def test_two_workers_make_the_same_tables_whichever_is_killed(
    kill: str,
    tmp_path: Path,
    servers: dict[str, str],
    expected: tuple[Path, dict[str, pl.DataFrame]],
    monkeypatch: pytest.MonkeyPatch,
):
    sources, tables = expected
    for name, url in servers.items():
        monkeypatch.setenv(name, url)
    there = tmp_path / "there"
    store = story.open_at(there, sources)
    configure(store.settings, "celery", write=True)
    with open_instance(store):
        pass  # makes Dagster's tables in the empty database
    environ = story.environment(there, sources, **servers)
    with ExitStack() as workers:
        first, _ = (workers.enter_context(celery_worker(tmp_path / name, environ)) for name in ("first", "second"))
        ingest = story.start("ingest", there, sources, **servers)
        if kill != "nothing":
            assert wait_until(lambda: executing(first.pid, store) is not None, 240), read_log(tmp_path / "first.log")
            whole = kill == "the whole worker"
            os.killpg(first.pid, signal.SIGKILL) if whole else os.kill(executing(first.pid, store) or 0, signal.SIGKILL)
        said, errors = ingest.communicate(timeout=500)
        assert ingest.returncode == 0, errors[-2000:] + read_log(tmp_path / "second.log")
    jobs = yaml.safe_load(said)["data"]["jobs"]
    assert all(jobs.count(job) >= 2 for job in BY_DAY)
    story.assert_same_tables(story.all_tables(story.open_at(there, sources)), tables)
    with open_instance(store) as instance:
        assert instance.get_runs(UNFINISHED) == []
        assert instance.event_log_storage.get_concurrency_run_ids() == set()
        failed = [run for run in instance.get_runs() if not run.is_success]
        assert len(failed) == (kill != "nothing")
    assert not [*(there / "dagster").glob("history")]


@pytest.mark.slow
@only_whole("it starts PostgreSQL and Redis, and waits for a worker that is not there")
def test_no_worker_is_an_error_that_names_the_command(tmp_path: Path, servers: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    for name, url in servers.items():
        monkeypatch.setenv(name, url)
    sources = story.lay_out_sample(tmp_path / "sources", "/pi/")
    store = story.open_at(tmp_path / "store", sources)
    configure(store.settings, "celery", write=True)
    ingest = story.start("ingest", store.root, sources, **servers)
    said, errors = ingest.communicate(timeout=200)
    assert ingest.returncode != 0
    assert "No Celery worker answers. Start one with `celery -A memory_assets.runs.celery_worker worker" in said + errors
    assert "Traceback" not in errors


def executing(worker: int, store: Store) -> int | None:
    """Returns the process of the worker that holds the lock of a run; None while there is none."""
    running = str(store.dagster_home / FOLDER)
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
