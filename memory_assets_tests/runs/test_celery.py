"""Runs of days on Celery workers: the tables of one process, also where a worker is killed; and what is said without servers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date
from functools import partial
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
import yaml
from dagster._core.launcher import DefaultRunLauncher, LaunchRunContext, WorkerStatus

from memory_assets.assets.factory import _check_store
from memory_assets.errors import StoreError
from memory_assets.runs.celery_runs import WorkerRuns, files_of
from memory_assets.runs.days import STORE, Stretch, address_of, tags_of
from memory_assets.runs.deployment import (
    CELERY_URL,
    POSTGRES_URL,
    dagster_yaml,
)
from memory_assets.runs.instance import open_instance
from memory_assets.schema.tables import tables_in
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests import story
from memory_assets_tests.dagster_runs import run_assets
from memory_assets_tests.once import only_whole
from memory_assets_tests.servers import POSTGRES_PASSWORD, celery_worker, free_port
from memory_assets_tests.workers import (
    celery_servers,
    count_failed,
    executing,
    finish_ingest,
    read_log,
    store_on_workers,
    wait_until,
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
    (home / "dagster.yaml").write_text(
        f"{dagster_yaml('local')}\n{yaml.safe_dump({'run_launcher': launcher})}"
    )
    return store


def start_worker_code() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SHOW], capture_output=True, text=True
    )


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


def test_a_store_in_a_bucket_is_named_by_it_whatever_the_folder(store: Store, tmp_path: Path):
    settings = store.settings.model_copy(update={"store": "s3://memories/one"})
    folders = [Store(settings, root) for root in (store.root, tmp_path / "of-a-worker")]
    assert [address_of(one) for one in folders] == ["s3://memories/one"] * 2
    _check_store({STORE: "s3://memories/one"}, folders[1])
    with pytest.raises(
        dg.Failure,
        match=r"about s3://memories/two, but MEMORY_STORE of this worker is s3://memories/one",
    ):
        _check_store({STORE: "s3://memories/two"}, folders[1])
    built = {table.name for table in tables_in("process_days")}
    assert (files_of(store, "process_days"), files_of(folders[0], "process_days")) == (
        [],
        ["daily_log"],
    )
    assert built >= {"daily_log", "observations"}


@pytest.mark.slow
@only_whole("it starts another process")
def test_a_worker_of_a_store_in_a_bucket_begins_in_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("dagster_celery")
    own = tmp_path / "own"
    named = {
        "MEMORY_DATA": str(own),
        "MEMORY_STORE": "s3://memories/one",
        POSTGRES_URL: "postgresql+psycopg2://127.0.0.1:1/x",
    }
    for name, value in {**named, CELERY_URL: NOBODY}.items():
        monkeypatch.setenv(name, value)
    tasks, *_ = yaml.safe_load(start_worker_code().stdout)
    assert tasks == ["execute_job", "resume_job"]
    assert (own / "dagster" / "dagster.yaml").read_text() == dagster_yaml("celery")


@pytest.mark.parametrize(
    ("bucket", "tags", "where"),
    [
        ("", {}, "a worker"),
        ("", {STORE: "/srv/memory"}, "a worker"),
        ("s3://memories/one", {STORE: "s3://memories/one"}, "a worker"),
        ("s3://memories/one", {}, "the code server"),
    ],
)
def test_what_writes_files_runs_beside_the_folder_that_people_read(
    bucket: str, tags: dict[str, str], where: str, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("dagster_celery")
    from dagster_celery.launcher import CeleryRunLauncher as Launcher

    from memory_assets.runs.celery_launcher import CeleryRunLauncher

    monkeypatch.setenv("MEMORY_STORE", bucket)
    launched = list[str]()
    monkeypatch.setattr(Launcher, "launch_run", lambda *_: launched.append("a worker"))
    monkeypatch.setattr(
        DefaultRunLauncher, "launch_run", lambda *_: launched.append("the code server")
    )
    with dg.DagsterInstance.ephemeral() as instance:
        launcher = CeleryRunLauncher("dagster", NOBODY, NOBODY)
        launcher.register_instance(instance)
        run = instance.create_run_for_job(dg.GraphDefinition(name="g").to_job(), tags=tags)
        launcher.launch_run(LaunchRunContext(run, None))
        assert launched == [where]
        assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The addresses of PostgreSQL and Redis, as variables."""
    with celery_servers(tmp_path) as addresses:
        yield addresses


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
    store = store_on_workers(there, sources)
    environ = story.environment(there, sources, **servers)
    with ExitStack() as workers:
        first, _ = (
            workers.enter_context(celery_worker(tmp_path / name, environ))
            for name in ("first", "second")
        )
        ingest = story.start("ingest", there, sources, **servers)
        if kill != "nothing":
            home, whole = store.dagster_home, kill == "the whole worker"
            assert wait_until(lambda: executing(first.pid, home) is not None, 240), read_log(
                tmp_path / "first.log"
            )
            os.killpg(first.pid, signal.SIGKILL) if whole else os.kill(
                executing(first.pid, home) or 0, signal.SIGKILL
            )
        finish_ingest(ingest, tmp_path / "second.log")
    story.assert_same_tables(story.all_tables(story.open_at(there, sources)), tables)
    assert count_failed(store) == (kill != "nothing")
    assert not [*(there / "dagster").glob("history")]
