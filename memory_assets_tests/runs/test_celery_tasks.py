"""Runs on Celery workers with folders of their own are dead only where no worker has their task at two looks."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import dagster as dg
import pytest

from memory_assets.runs import celery_runs, celery_tasks
from memory_assets.runs.celery_runs import WorkerRuns
from memory_assets.runs.celery_tasks import lost_runs
from memory_assets.runs.days import STORE, address_of
from memory_assets.runs.liveness import (
    STARTING_SECONDS,
    TASK,
    UNSENT_SECONDS,
    fail_dead_runs,
    is_executed,
)
from memory_assets.store.store import Store
from memory_assets_tests.runs.test_liveness import let_pass
from memory_assets_tests.small_store import small_store

BUCKET = "s3://memories/one"

Reply = dict[str, dict[str, list]]


class Celery:
    """Answers for workers, one list of replies at each look, and for the records of results."""

    def __init__(self, *looks: list[Reply], state: str = "STARTED") -> None:
        self.looks, self.state, self.asked = list(looks), state, list[dict]()
        self.control = self

    def AsyncResult(self, task: str) -> SimpleNamespace:  # noqa: N802 (the name that Celery has)
        return SimpleNamespace(
            state=self.state, info={"hostname": "one@test"} if self.state == "STARTED" else None
        )

    def ping(self, **_) -> list[Reply]:
        return [{"one@test": {"ok": ["pong"]}}]

    def broadcast(self, command: str, **how) -> list[Reply]:
        assert command == "query_task"
        self.asked.append(how)
        if not self.looks:
            raise ConnectionError("no queue")
        return self.looks.pop(0)


def has(*tasks: str, name: str = "one@test") -> Reply:
    """The reply of a worker that has these tasks."""
    return {name: {task: ["active", {}] for task in tasks}}


@pytest.fixture
def instance(monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    monkeypatch.setattr(celery_tasks, "BETWEEN_LOOKS_SECONDS", 0.0)
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def on_worker(
    instance: dg.DagsterInstance,
    celery: Celery,
    status: dg.DagsterRunStatus = dg.DagsterRunStatus.STARTED,
) -> dg.DagsterRun:
    """A run whose task is named `task`, of an instance with this queue."""
    instance._run_launcher = SimpleNamespace(celery=celery, dispose=lambda: None)
    tags = {TASK: "task", STORE: BUCKET}
    return instance.create_run_for_job(
        dg.GraphDefinition(name="g").to_job(), status=status, tags=tags
    )


def in_bucket() -> Store:
    store = small_store()
    return Store(store.settings.model_copy(update={"store": BUCKET}), store.root)


def test_a_run_is_lost_where_no_worker_has_its_task_at_two_looks(instance: dg.DagsterInstance):
    for looks, is_lost in (
        ([[has("task")]], False),
        ([[], [has("task")]], False),
        ([[has()], [has("task"), has()]], False),  # two workers may have one name
        ([[has()], [has(), has("other", name="two@test")]], True),
        ([[], []], True),
    ):
        celery = Celery(*looks)
        run = on_worker(instance, celery)
        assert lost_runs(instance, [run]) == ({run.run_id} if is_lost else set())
        assert celery.looks == []
        assert (celery.asked[0]["destination"], celery.asked[0]["limit"]) == (["one@test"], 1)
        assert all("destination" not in one for one in celery.asked[1:])


def test_such_a_run_needs_no_lock_here_and_a_lost_one_gives_its_slot_back(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    store, celery = in_bucket(), Celery([has("task")], [], [])
    run, log = on_worker(instance, celery), instance.event_log_storage
    log.set_concurrency_slots("index", 1)
    log.claim_concurrency_slot("index", run.run_id, "step")
    let_pass(monkeypatch, STARTING_SECONDS + 1)
    assert fail_dead_runs(instance, store) == [run.run_id]
    assert is_executed(instance, store, [run.run_id])
    assert log.get_concurrency_run_ids() == {run.run_id}
    assert fail_dead_runs(instance, store) == []
    assert log.get_concurrency_run_ids() == set()
    assert not is_executed(instance, store, [run.run_id])
    assert instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.FAILURE


def test_the_next_ingest_waits_for_the_shares_of_a_killed_one_and_fetches_what_they_made(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    run, order = on_worker(instance, Celery()), list[object]()
    ended = dg.DagsterEvent(dg.DagsterEventType.RUN_SUCCESS.value, run.job_name)
    monkeypatch.setattr(
        celery_runs.time, "sleep", lambda _: instance.report_dagster_event(ended, run.run_id)
    )
    monkeypatch.setattr(celery_runs, "note_builds", lambda *_: None)
    monkeypatch.setattr(Store, "sync", lambda *_, **__: order.append("fetched"))
    runs = WorkerRuns(in_bucket(), instance, "process_days", lambda _: {}, {})
    runs.wait_for_others()
    assert order == ["fetched"]
    runs.wait_for_others()
    assert order == ["fetched"]


@pytest.mark.parametrize("made", [small_store, in_bucket])
def test_a_run_that_was_never_sent_ends_after_a_minute(
    made: Callable[[], Store], instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    """Its ingest was killed between two lines of the launch."""
    waiting, sent = (
        on_worker(instance, Celery(state="PENDING"), dg.DagsterRunStatus.NOT_STARTED),
        made(),
    )
    unsent = instance.create_run_for_job(
        dg.GraphDefinition(name="g").to_job(), tags={STORE: address_of(sent)}
    )
    let_pass(monkeypatch, UNSENT_SECONDS - 10)
    assert set(fail_dead_runs(instance, sent)) == {waiting.run_id, unsent.run_id}
    let_pass(monkeypatch, UNSENT_SECONDS + 1)
    assert fail_dead_runs(instance, sent) == [waiting.run_id]
