"""Days that several processes build before the run that reports them: the tables of one process, also where one is killed."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from dagster_shared.error import SerializableErrorInfo
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.errors import DamagedError
from memory_assets.extras.scaling.day_shares import (
    address_of,
    raise_if_damaged,
    share_job,
    shares_of,
)
from memory_assets.runs.days import Stretch, session_days
from memory_assets.runs.launch import Runner
from memory_assets.runs.liveness import UNFINISHED
from memory_assets.schema.tables import tables_in
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests import story
from memory_assets_tests.once import built_once, only_whole

TABLES = [table.name for table in tables_in("process_days") if table.record]


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions of the sample in `sources`, and a store in `store` that has captured them."""

    def capture(folder: Path) -> None:
        sources = story.lay_out_sample(folder / "sources", "/pi/")
        with Runner(story.open_at(folder / "store", sources)) as runner:
            runner.run_due("capture")

    return built_once(tmp_path_factory, "captured-for-shares", capture)


@pytest.fixture
def copied(captured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Store]:
    """Opens a copy of the captured store with so many workers, in this process and those that it starts."""

    def copy(name: str, workers: int) -> Store:
        sources = captured / "sources"
        shutil.copytree(captured / "store", tmp_path / name)
        variables = {**story.environment(tmp_path / name, sources), "MEMORY_WORKERS": str(workers)}
        for variable, value in variables.items():
            monkeypatch.setenv(variable, value)
        store = story.open_at(tmp_path / name, sources)
        return Store(store.settings.model_copy(update={"workers": workers}), store.root)

    return copy


def all_days(store: Store) -> Stretch:
    spans = session_days(store)
    return Stretch(min(first for first, _ in spans), max(last for _, last in spans))


def run_share(store: Store, stretch: Stretch, address: str = "") -> bool:
    """Executes one share in this process; returns whether it succeeded."""
    config = {
        "store": address or address_of(store),
        "job": "process_days",
        "days": [day.isoformat() for day in stretch.days()],
    }
    run_config = {"ops": {"share_1": {"config": config}}}
    return share_job(1, 2).execute_in_process(run_config, raise_on_error=False).success


def tables(store: Store) -> dict[str, pl.DataFrame]:
    return {name: store.tables.read(name) for name in TABLES}


def logs_of_days(store: Store) -> dict[str, str]:
    return {path.name: path.read_text() for path in (store.workspace / "memory").glob("*.md")}


def test_what_a_share_builds_is_found_by_the_run_that_reports_it(copied: Callable[..., Store]):
    one = copied("one", 1)
    with Runner(one) as runner:
        runner.run("process_days", all_days(one))
    two = copied("two", 1)
    assert run_share(two, all_days(two))
    built = [name for name in TABLES if name != "observer_answers"]
    written = {name: two.tables.parts(name) for name in built}
    assert logs_of_days(two) == {}
    with Runner(two) as runner:
        runner.run("process_days", all_days(two))
    assert {name: two.tables.parts(name) for name in built} == written
    story.assert_same_tables(tables(two), tables(one))
    assert logs_of_days(two) == logs_of_days(one) != {}


def test_a_share_of_another_store_is_refused(copied: Callable[..., Store]):
    store = copied("one", 1)
    assert not run_share(store, all_days(store), "/elsewhere")
    assert not store.tables.has_rows("messages")


def test_a_store_in_a_bucket_is_named_by_it_whatever_the_folder(tmp_path: Path):
    store = open_store(read_settings())
    assert address_of(store) == str(store.root)
    settings = store.settings.model_copy(update={"store": "s3://memories/one"})
    folders = [Store(settings, root) for root in (store.root, tmp_path / "of-a-worker")]
    assert [address_of(folder) for folder in folders] == ["s3://memories/one"] * 2


def test_a_damaged_file_of_a_share_is_an_error_of_the_run_and_another_error_is_not():
    def error_of(cause: Exception) -> SerializableErrorInfo:
        inner = SerializableErrorInfo(str(cause), [], type(cause).__name__)
        return SerializableErrorInfo("the step failed", [], "RuntimeError", inner)

    with pytest.raises(DamagedError, match="windows is not as it was written"):
        raise_if_damaged(error_of(DamagedError("windows is not as it was written")))
    raise_if_damaged(error_of(KeyError("x")))
    raise_if_damaged(None)


def kill_child(killed: list[int]) -> None:
    """Kills the first process that a run started for a share."""
    until = time.monotonic() + 120
    while not killed and time.monotonic() < until:
        for child in multiprocessing.active_children():
            assert child.pid is not None
            time.sleep(3)  # it has begun its share
            os.kill(child.pid, signal.SIGKILL)
            killed.append(child.pid)
            break
        time.sleep(0.01)


@pytest.mark.slow
@only_whole("a share in the process of the test, and the run after it, are a fast test")
@pytest.mark.parametrize("is_killed", [False, True])
def test_two_processes_write_days_at_once_and_a_killed_one_changes_nothing(
    is_killed: bool, copied: Callable[..., Store]
):
    one = copied("one", 1)
    with Runner(one) as runner:
        runner.run_due("process_days")
    two, killed = copied("two", 2), list[int]()
    with Runner(two) as runner:
        killer = threading.Thread(target=kill_child, args=[killed])
        if is_killed:
            killer.start()
        runner.run_due("process_days")
        if is_killed:
            killer.join()
        assert bool(killed) == is_killed
        runs = runner.instance.get_runs()
        failed = [run.job_name for run in runs if not run.is_success]
        assert failed == ["build_shares"] * is_killed
        assert "build_shares" in {run.job_name for run in runs}
        assert runner.instance.get_runs(UNFINISHED) == []
    story.assert_same_tables(tables(two), tables(one))
    assert logs_of_days(two) == logs_of_days(one)
    assert sum(frame.height for frame in tables(one).values()) > 300


@pytest.mark.slow
@only_whole("two processes with a killed one hold the same of the tables of days")
def test_the_whole_sample_is_the_same_with_two_processes(tmp_path: Path):
    sources = story.lay_out_sample(tmp_path / "sources")
    one, two = tmp_path / "one", tmp_path / "two"
    jobs = story.run_apart("ingest", one, sources)["jobs"]
    assert story.run_apart("ingest", two, sources, MEMORY_WORKERS="2")["jobs"] == jobs
    story.assert_same_tables(
        story.all_tables(story.open_at(two, sources)), story.all_tables(story.open_at(one, sources))
    )
    assert story.run_apart("ingest", two, sources, MEMORY_WORKERS="2")["jobs"] == []


ORPHAN = """
import multiprocessing, os, signal, sys, time
from memory_assets.extras.scaling.day_shares import end_with_parent

def child():
    end_with_parent()
    print(os.getpid(), flush=True)
    time.sleep(60)

if __name__ == "__main__":
    multiprocessing.get_context("spawn").Process(target=child).start()
    time.sleep(60)
"""


def test_a_process_of_a_share_ends_when_the_one_that_started_it_is_killed(tmp_path: Path):
    script = tmp_path / "parent.py"
    script.write_text(ORPHAN)
    parent = subprocess.Popen(
        [sys.executable, "-W", "ignore", script], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = Path("/proc", parent.stdout.readline().strip())
    assert child.exists()
    parent.kill()
    parent.wait()
    until = time.monotonic() + 20
    while child.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


def day(number: int) -> date:
    return date(2026, 8, 1) + timedelta(days=number)


SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4)), max_size=12)


@given(SPANS, st.integers(1, 8))
def test_shares_hold_every_day_once_and_each_session_whole(spans: list[tuple[int, int]], most: int):
    sessions = [(day(first), day(first + length)) for first, length in spans]
    days = Stretch(day(0), day(30)).days()
    shares = shares_of(days, sessions, most)
    assert [day for share in shares for day in share] == days
    assert len(shares) <= most
    for begin, end in sessions:
        assert sum(share[0] <= end and begin <= share[-1] for share in shares) == 1


def test_shares_have_about_as_many_sessions_each():
    sessions = [(day(n), day(n)) for n in (0, 1, 2, 3, 4, 5, 7, 7)]
    days = Stretch(day(0), day(7)).days()
    assert shares_of(days, sessions, 4) == [days[0:2], days[2:4], days[4:6], days[6:8]]
    assert shares_of(days, sessions[:1], 4) == [days[:1], days[1:]]
