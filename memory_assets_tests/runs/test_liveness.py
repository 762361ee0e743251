"""A run whose process ended is no run in progress, and a process that ends holds nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import dagster as dg
import pytest

from memory_assets.assets import automation
from memory_assets.runs.liveness import (
    BETWEEN_STEPS_SECONDS,
    FOLDER,
    STARTING_SECONDS,
    fail_dead_runs,
    hold,
    holding,
    is_alive,
    release,
)
from memory_assets.schema.tables import JOBS
from memory_assets.store.store import Store
from memory_assets_tests.small_store import small_store

HOLD = """
import sys, time
from memory_assets.runs.liveness import hold
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store

settings = read_settings()
print(hold(Store(settings, settings.data), sys.argv[1]), flush=True)
time.sleep(60)
"""


@pytest.fixture
def store() -> Store:
    return small_store()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def started(instance: dg.DagsterInstance) -> str:
    """A run in progress; returns its id."""

    @dg.job
    def work() -> None: ...

    run = instance.create_run_for_job(work, status=dg.DagsterRunStatus.STARTED)
    return run.run_id


def begun_before(instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Lets that much time pass."""
    now = time.time() + seconds
    monkeypatch.setattr("memory_assets.runs.liveness.time.time", lambda: now)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that kills at once")
def test_a_lock_is_held_until_its_process_ends_however_it_does(store: Store):
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", HOLD, "r"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        assert is_alive(store, "r")
        assert not hold(store, "r")
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not is_alive(store, "r")
        assert hold(store, "r")
    finally:
        process.kill()
        release(store, "r")


def test_a_released_lock_leaves_no_file(store: Store):
    with holding(store, "r") as is_held:
        assert is_held
        assert is_alive(store, "r")
    assert not is_alive(store, "r")
    assert list((store.dagster_home / FOLDER).iterdir()) == []


def test_a_run_whose_process_was_killed_is_failed_and_says_so(
    store: Store, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    run_id = started(instance)
    hold(store, run_id)
    assert fail_dead_runs(instance, store) == [run_id]
    release(store, run_id)
    (store.dagster_home / FOLDER / f"{run_id}.lock").touch()  # as a killed process leaves it
    assert fail_dead_runs(instance, store) == [run_id]  # its next step may be about to start
    begun_before(instance, monkeypatch, BETWEEN_STEPS_SECONDS + 1)
    assert fail_dead_runs(instance, store) == []
    record = instance.get_run_by_id(run_id)
    assert record is not None
    assert (record.status, record.tags["dagster/max_retries"]) == (dg.DagsterRunStatus.FAILURE, "0")
    assert any("ended before the run did" in str(entry.message) for entry in instance.all_logs(run_id))
    assert list((store.dagster_home / FOLDER).iterdir()) == []


def test_a_run_that_is_being_started_goes_on(store: Store, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch):
    starting = instance.create_run_for_job(dg.GraphDefinition(name="g").to_job(), status=dg.DagsterRunStatus.STARTING).run_id
    run_id = started(instance)
    begun_before(instance, monkeypatch, STARTING_SECONDS - 10)
    assert set(fail_dead_runs(instance, store)) == {starting, run_id}


def test_runs_that_were_killed_stop_no_sensor(store: Store, instance: dg.DagsterInstance):
    run_id, transcripts = started(instance), automation.new_transcripts
    path = store.dagster_home / FOLDER / f"{run_id}.lock"
    hold(store, run_id)

    def requested() -> list[str | None]:
        context = dg.build_sensor_context(instance=instance, resources={"store": store})
        result = transcripts(context)
        assert isinstance(result, dg.SensorResult)
        return [request.job_name for request in result.run_requests or []]

    assert requested() == []
    release(store, run_id)
    path.touch()
    os.utime(path, (0, 0))
    assert requested() == [next(iter(JOBS))]
