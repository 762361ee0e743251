"""Tasks in Todoist through the real jobs: never without a token, and whatever is wrong there, REVIEW.md goes on."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from memory_assets.assets.automation import review_changes
from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.runs.instance import open_instance
from memory_assets.services.review.open_triage import read_task_snapshot, tasks_of
from memory_assets.services.settings.which_store import sample_settings
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.store.store import Store
from memory_assets_tests.small_store import DAY, FACT, PROPOSAL, small_store
from memory_assets_tests.todoist_api import TOKEN, TodoistApi, serve


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[TodoistApi]:
    monkeypatch.setenv("MEMORY_TODOIST_TOKEN", TOKEN)
    with serve() as api:
        monkeypatch.setenv("MEMORY_TODOIST_URL", api.url)
        yield api


@pytest.fixture
def store(api: TodoistApi, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store whose one proposal waits."""
    monkeypatch.delenv("MEMORY_NOW")
    store = small_store()
    store.ledger.append(NUMBERED, PROPOSAL, {"key": "m1", "day": str(DAY)}, actor="reflector")
    (store.workspace / "REVIEW.md").unlink()
    return store


def asked(store: Store) -> list[str | None]:
    """The jobs that the sensor asks for, or why it asks for none."""
    said = review_changes(
        dg.build_sensor_context(instance=dg.DagsterInstance.ephemeral()), store=store
    )
    assert isinstance(said, dg.SensorResult)
    return [one.job_name for one in said.run_requests or ()] or [
        said.skip_reason and said.skip_reason.skip_message
    ]


def problem(store: Store) -> str:
    """What the last triage's check says is wrong."""
    with open_instance(store) as instance:
        (record,) = instance.event_log_storage.get_asset_check_execution_history(
            dg.AssetCheckKey(dg.AssetKey("review_tasks"), "are_in_step"), limit=1
        )
    evaluation = record.event.dagster_event.event_specific_data
    assert evaluation.passed == (evaluation.metadata["problem"].value == "none")
    return evaluation.metadata["problem"].value


def test_a_proposal_becomes_a_task_and_the_completed_task_a_line(store: Store, api: TodoistApi):
    launch.triage(store)
    task = api.named(FACT)
    assert problem(store) == "none"
    assert asked(store) == ["No proposal, decision or edit since the last triage."]
    api.complete(task)
    assert asked(store) == ["triage"]
    launch.triage(store)
    assert FACT in (store.workspace / "projects/shop.md").read_text()
    assert asked(store) == ["No proposal, decision or edit since the last triage."]
    assert [
        check.found
        for check in MemoryAgent(store.settings).health().checks
        if check.name == "Todoist"
    ] == ["0 wait"]


def test_a_wrong_token_is_named_and_review_md_goes_on(
    store: Store, api: TodoistApi, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_TODOIST_TOKEN", "wrong")
    launch.triage(store)
    assert "does not accept the token (401). Check MEMORY_TODOIST_TOKEN" in problem(store)
    (broken,) = [
        check for check in MemoryAgent(store.settings).health().broken if check.name == "Todoist"
    ]
    assert "does not accept the token (401). Check MEMORY_TODOIST_TOKEN" in broken.found
    review = store.workspace / "REVIEW.md"
    review.write_text(review.read_text().replace("- [ ]", "- [x]"))
    monkeypatch.setattr("memory_assets.stages.triage.run.LOOK_AGAIN_SECONDS", 0.0)
    assert asked(store) == ["triage"]
    launch.triage(store)
    assert FACT in (store.workspace / "projects/shop.md").read_text() and api.tasks == {}


def test_without_a_token_nobody_is_called(
    store: Store, api: TodoistApi, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MEMORY_TODOIST_TOKEN")
    launch.triage(store)
    assert problem(store) == "none"
    assert asked(store) == ["No proposal, decision or edit since the last triage."]
    assert [
        check.name
        for check in MemoryAgent(store.settings).health().checks
        if check.name == "Todoist"
    ] == []
    assert api.requests == []


def test_nobody_is_asked_about_the_sample_or_a_branch(store: Store, api: TodoistApi):
    assert tasks_of(store) is not None
    assert tasks_of(replace(store, settings=sample_settings(store.settings))) is None
    assert tasks_of(replace(store, origin=store.root)) is None


def test_a_review_begins_with_what_was_decided_there(store: Store, api: TodoistApi):
    launch.triage(store)
    api.complete(api.named(FACT))
    agent = MemoryAgent(store.settings)
    assert [one.proposal_id for one in agent.pending()] == [PROPOSAL]
    agent.apply_review_edits()
    assert agent.pending() == ()


def test_what_is_forgotten_is_not_read_from_a_task(store: Store, api: TodoistApi):
    launch.triage(store)
    task = api.named(FACT)
    MemoryAgent(store.settings).forget("uv, never pip", apply=True)
    assert "uv, never pip" not in next(iter(read_task_snapshot(store).tasks.values())).content
    launch.triage(store)
    assert task["is_deleted"]
    assert not any(
        "uv, never pip" in path.read_text("utf-8", "replace")
        for path in Path(store.root / "ledger").iterdir()
    )


def test_the_token_is_written_nowhere(store: Store, api: TodoistApi):
    launch.triage(store)
    assert [
        path
        for path in store.root.rglob("*")
        if path.is_file() and TOKEN.encode() in path.read_bytes()
    ] == []
