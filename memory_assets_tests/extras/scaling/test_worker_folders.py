"""Celery workers that share no folder: the bucket is the exchange, and the tables and recalls are those of one folder."""

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pytest

from memory_assets_tests import story
from memory_assets_tests.extras.scaling import workers
from memory_assets_tests.extras.scaling.s3_api import variables
from memory_assets_tests.extras.scaling.servers import (
    celery_worker,
    chroma_server,
    moto_server,
    needs_celery,
)
from memory_assets_tests.extras.scaling.test_s3_store import answers
from memory_assets_tests.once import only_whole

pytest.importorskip("obstore")
pytestmark = [
    pytest.mark.slow,
    only_whole("it starts PostgreSQL, Redis, moto, Chroma and two workers"),
]

FAILED = {"nothing": [], "the first worker": [], "the ingest": ["build_shares"]}
"""Jobs of the runs that fail: the queue gives the share of a killed worker to the other one."""

Expected = tuple[Path, Path, dict[str, pl.DataFrame], list]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Expected:
    """The sample, a folder in which one process built it, its tables, and what recall answers."""
    needs_celery()
    folder = tmp_path_factory.mktemp("one-folder")
    sources = story.lay_out_sample(folder / "sources", "/pi/")
    story.run_apart("ingest", folder / "local", sources)
    tables = story.all_tables(story.open_at(folder / "local", sources))
    return sources, folder / "local", tables, answers(folder / "local", sources, {})


@pytest.mark.parametrize("kill", FAILED)
def test_workers_with_own_folders_make_the_same(
    kill: str, tmp_path: Path, expected: Expected, monkeypatch: pytest.MonkeyPatch
):
    sources, local, tables, recalled = expected
    with ExitStack() as running:
        servers = {
            **running.enter_context(workers.celery_servers(tmp_path)),
            **variables(
                running.enter_context(moto_server(tmp_path / "s3")), tmp_path / "workspace.git"
            ),
            "MEMORY_CHROMA": running.enter_context(chroma_server(tmp_path / "chroma")),
        }
        for name, value in servers.items():
            monkeypatch.setenv(name, value)
        there = tmp_path / "there"
        store = workers.store_on_postgres(there, sources)
        first, _ = (
            running.enter_context(
                celery_worker(
                    tmp_path / name,
                    story.environment(
                        tmp_path / f"data-{name}", tmp_path / "no sessions", **servers
                    ),
                )
            )
            for name in ("first", "second")
        )
        ingest = story.start("ingest", there, sources, **servers)
        if kill != "nothing":
            log = tmp_path / "first.log"
            assert workers.wait_until(lambda: workers.has_begun(log), 240), workers.read_log(log)
            os.killpg(first.pid if kill == "the first worker" else ingest.pid, signal.SIGKILL)
        if kill == "the ingest":
            ingest.communicate()
            ingest = story.start("ingest", there, sources, **servers)
        workers.finish_ingest(ingest, tmp_path / "second.log")
        story.assert_same_tables(story.all_tables(story.open_at(there, sources)), tables)
        assert logs(there) == logs(local)
        assert workers.failed_jobs(store) == FAILED[kill]
        assert story.run("ingest", there, sources, **servers)["jobs"] == []
        assert answers(there, sources, servers) == recalled


def logs(data: Path) -> dict[str, str]:
    """The logs of days, in the workspace."""
    return {path.name: path.read_text() for path in (data / "workspace" / "memory").glob("*.md")}
