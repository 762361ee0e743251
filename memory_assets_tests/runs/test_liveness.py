"""A run whose process ended is no run in progress, and a process that ends holds nothing."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import dagster as dg
import pytest

from memory_assets.assets import automation
from memory_assets.runs import liveness
from memory_assets.runs.execute import origin_of
from memory_assets.runs.liveness import (
    BETWEEN_STEPS_SECONDS,
    FOLDER,
    fail_dead_runs,
    failing_dead_runs,
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


@dg.job(name="find_friction")
def work() -> None: ...


def begun(
    instance: dg.DagsterInstance, status: dg.DagsterRunStatus, *, by_daemon: bool = False
) -> str:
    """A run of this process, or of one that the daemon started; returns its id."""
    code = dg.reconstructable(work).get_python_origin() if by_daemon else None
    return instance.create_run_for_job(
        work, status=status, remote_job_origin=origin_of(work.name), job_code_origin=code
    ).run_id


def with_slot(store: Store, instance: dg.DagsterInstance) -> str:
    """A run of this process that holds the only slot of a pool; returns its id."""
    run_id = begun(instance, dg.DagsterRunStatus.STARTED)
    hold(store, run_id)
    instance.event_log_storage.set_concurrency_slots("memory_md", 1)
    assert may_start(instance, run_id)
    return run_id


def may_start(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether the run gets the slot."""
    return instance.event_log_storage.claim_concurrency_slot("memory_md", run_id, "step").is_claimed


def killed(store: Store, run_id: str) -> None:
    """Leaves of the run's lock what a killed process leaves: the file."""
    release(store, run_id)
    (store.dagster_home / FOLDER / f"{run_id}.lock").touch()


def let_pass(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Lets that much time pass."""
    now = time.time() + seconds
    monkeypatch.setattr("memory_assets.runs.liveness.time.time", lambda: now)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that kills at once")
def test_a_lock_is_held_until_its_process_ends_however_it_does(store: Store):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", HOLD, "r"], stdout=subprocess.PIPE, text=True
    )
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


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.NOT_STARTED])
def test_a_run_whose_process_was_killed_is_failed_and_says_so(
    store: Store,
    instance: dg.DagsterInstance,
    status: dg.DagsterRunStatus,
    monkeypatch: pytest.MonkeyPatch,
):
    run_id = begun(instance, status)
    hold(store, run_id)
    assert fail_dead_runs(instance, store) == [run_id]
    killed(store, run_id)
    assert fail_dead_runs(instance, store) == []
    record = instance.get_run_by_id(run_id)
    assert record is not None
    assert (record.status, record.tags["dagster/max_retries"]) == (dg.DagsterRunStatus.FAILURE, "0")
    assert any(
        "ended before the run did" in str(entry.message) for entry in instance.all_logs(run_id)
    )
    let_pass(monkeypatch, BETWEEN_STEPS_SECONDS + 1)
    assert fail_dead_runs(instance, store) == []
    assert list((store.dagster_home / FOLDER).iterdir()) == []


def test_a_run_of_the_daemon_may_be_between_the_processes_of_two_steps(
    store: Store, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    run_id = begun(instance, dg.DagsterRunStatus.STARTED, by_daemon=True)
    hold(store, run_id)
    killed(store, run_id)
    assert fail_dead_runs(instance, store) == [run_id]
    let_pass(monkeypatch, BETWEEN_STEPS_SECONDS + 1)
    assert fail_dead_runs(instance, store) == []


def test_runs_that_were_killed_stop_no_sensor(store: Store, instance: dg.DagsterInstance):
    run_id, transcripts = begun(instance, dg.DagsterRunStatus.STARTED), automation.new_transcripts
    hold(store, run_id)

    def requested() -> list[str | None]:
        context = dg.build_sensor_context(instance=instance, resources={"store": store})
        result = transcripts(context)
        assert isinstance(result, dg.SensorResult)
        return [request.job_name for request in result.run_requests or []]

    assert requested() == []
    killed(store, run_id)
    assert requested() == [next(iter(JOBS))]


def test_a_killed_run_gives_its_slot_in_a_pool_back(store: Store, instance: dg.DagsterInstance):
    run_id = with_slot(store, instance)
    fail_dead_runs(instance, store)
    assert not may_start(instance, "another")
    killed(store, run_id)
    fail_dead_runs(instance, store)
    assert may_start(instance, "another")


def test_a_killed_run_frees_its_slot_for_another(
    store: Store, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(liveness, "SLOT_CHECK_SECONDS", 0.01)
    run_id, waiting = with_slot(store, instance), begun(instance, dg.DagsterRunStatus.STARTED)
    with holding(store, waiting), failing_dead_runs(instance, store):
        assert not may_start(instance, waiting)
        killed(store, run_id)
        deadline = time.monotonic() + 20
        while not may_start(instance, waiting):
            assert time.monotonic() < deadline
            time.sleep(0.01)
