"""The worker runs what new input requires within a tick, alone, and leaves everything to the sensors when it ends."""

from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from memory_assets.assets.automation import LEFT_TO_WORKER, event_requests, new_transcripts
from memory_assets.errors import StoreError
from memory_assets.runs import worker as module
from memory_assets.runs.due import next_runs
from memory_assets.runs.liveness import WORKER, is_alive
from memory_assets.runs.worker import LOOK_SECONDS, RETRY_SECONDS, Worker
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.events import ENDED
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.files import make_folder
from memory_assets_tests.small_store import small_store
from memory_assets_tests.stages.capture.sessions import START, dialogue, lines, transcript, user

SESSION = "0a000001-1111-4222-8333-444455556666"
WITH_A_RULE = lines(*dialogue(SESSION, 6), user(SESSION, 12, "Always use uv, never pip.", 6))


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def send_end(store: Store) -> None:
    at = (START + timedelta(minutes=7)).timestamp()
    spool.append(
        str(store.root), ENDED, {"sessionId": SESSION, "harness": "claude_code"}, version=1, at=at
    )


def skipped(store: Store) -> str | None:
    with dg.DagsterInstance.ephemeral() as instance:
        result = new_transcripts(
            dg.build_sensor_context(instance=instance, resources={"store": store})
        )
    assert isinstance(result, dg.SensorResult)
    return result.skip_reason.skip_message if result.skip_reason else None


@pytest.mark.slow
def test_a_session_that_ends_is_recalled_after_one_tick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_NOW", (START + timedelta(minutes=20)).isoformat())
    monkeypatch.setenv("MEMORY_SOURCES", str(make_folder(tmp_path / "sources")))
    store, clock, told = open_store(read_settings()), Clock(), list[str]()
    worker = Worker(lambda: Store(read_settings(), store.root), told.append, clock=clock)
    assert worker.begin()
    try:
        assert worker.tick() == []
        transcript(tmp_path / "sources", SESSION).write_bytes(WITH_A_RULE)
        clock.now += 1
        assert worker.tick() == []  # nothing was sent, and the last look was a second ago
        send_end(store)
        ran = worker.tick()
        assert ran[:5] == [
            "capture",
            "process_days",
            "rebuild_memories",
            "process_days",
            "rebuild_memories",
        ]
        assert store.tables.read("windows")["trigger"].to_list() == ["ended"]
        assert store.tables.read("memories").height > 0
        assert next_runs(store) == []
        assert told == []
    finally:
        worker.end()


def test_while_a_worker_is_alive_the_sensors_leave_new_input_to_it():
    store = small_store()
    send_end(store)
    worker = Worker(lambda: store, print)
    assert worker.begin()
    assert is_alive(store, WORKER)
    assert (skipped(store), event_requests(store, busy=False)) == (LEFT_TO_WORKER, [])
    worker.end()
    assert skipped(store) is None
    assert [request.job_name for request in event_requests(store, busy=False)] == ["capture"]


def test_a_run_that_fails_is_told_once_and_tried_again_later(monkeypatch: pytest.MonkeyPatch):
    store, clock, told, tried = small_store(), Clock(), list[str](), list[float]()

    def fail(*_: object, recall_first: bool) -> None:
        assert recall_first
        tried.append(clock.now)
        raise StoreError("The disk is full.")

    monkeypatch.setattr(module, "update", fail)
    worker = Worker(lambda: store, told.append, clock=clock)
    try:
        for clock.now in (0.0, LOOK_SECONDS, 2 * LOOK_SECONDS, RETRY_SECONDS + 1):
            assert worker.tick() == []
    finally:
        worker.end()
    assert tried == [0.0, RETRY_SECONDS + 1]
    assert told == ["The disk is full. It is tried again in 10 minutes."]
