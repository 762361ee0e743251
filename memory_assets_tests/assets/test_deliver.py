"""What was sent is taken in by a run, once, and has its effect; what waits for too long turns red."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from memory_assets.assets.automation import event_requests, spooled_events
from memory_assets.services.health.surroundings import check_dead_letters, check_spool
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.events import ACCUMULATED, ENDED
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.dagster_runs import run_assets
from memory_assets_tests.small_store import DAY, small_store
from memory_assets_tests.stages.capture.sessions import START, dialogue, lines, transcript

SESSION = "0a000001-1111-4222-8333-444455556666"
NOW = START + timedelta(minutes=20)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_NOW", NOW.isoformat())


def send(root: Path, name: str, at: float = NOW.timestamp(), **data: Any) -> None:
    spool.append(str(root), name, data, version=1, at=at)


def take_in(store: Store, *others: str) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        assert run_assets(store, "events", "dead_letters", *others, instance=instance).success


def jobs(store: Store, *, busy: bool = False) -> list[str | None]:
    return [request.job_name for request in event_requests(store, busy)]


def test_a_session_that_ended_is_taken_in_and_closed_by_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The event was sent before there was any store, and the pipeline did not run."""
    send(
        tmp_path / "store",
        ENDED,
        (START + timedelta(minutes=7)).timestamp(),
        sessionId=SESSION,
        harness="claude_code",
    )
    with (tmp_path / "store" / "spool" / "2026-08-03.jsonl").open("ab") as file:
        file.write(b"\nhalf an eve\n")
    sources = tmp_path / "sources"
    transcript(sources, SESSION).write_bytes(lines(*dialogue(SESSION, 6)))
    monkeypatch.setenv("MEMORY_SOURCES", str(sources))
    store = open_store(read_settings())
    assert jobs(store) == ["capture"]
    assert jobs(store, busy=True) == []

    take_in(store, "resources", "records", "windows")
    closed = store.tables.read("windows").select("trigger", "status", "message_count").rows()
    assert closed == [("ended", "observed", 12)]
    (event,) = store.tables.read("events").to_dicts()
    assert (event["name"], event["subject"], event["harness"]) == (ENDED, SESSION, "claude_code")
    assert (event["sent_at"], event["received_at"]) == (START + timedelta(minutes=7), NOW)
    (letter,) = store.tables.read("dead_letters").to_dicts()
    assert (letter["reason"], letter["spooled_in"]) == ("no JSON", "2026-08-03.jsonl")
    assert not check_dead_letters(store.root).passed
    assert jobs(store) == []

    before = {table: store.tables.read(table) for table in ("events", "dead_letters", "windows")}
    take_in(store, "resources", "records", "windows")
    assert all(store.tables.read(table).equals(frame) for table, frame in before.items())
    (store.root / "spool" / "aside" / letter["file"]).unlink()
    assert check_dead_letters(store.root).passed


def test_observations_that_accumulated_are_reflected_on_once():
    store = small_store()
    store.tables.drop("proposals", DAY.isoformat())
    send(store.root, ACCUMULATED, date=DAY.isoformat(), totalTokens=41_000, observationCount=300)
    take_in(store)
    (request,) = event_requests(store, busy=False)
    assert request.job_name == "reflect"
    assert request.partition_key_range == dg.PartitionKeyRange(DAY.isoformat(), DAY.isoformat())
    assert [again.run_key for again in event_requests(store, busy=False)] == [request.run_key]


def tick(store: Store, cursor: str | None = None) -> dg.SensorResult:
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(
            instance=instance, cursor=cursor, resources={"store": store}
        )
        found = spooled_events(context)
    assert isinstance(found, dg.SensorResult)
    return found


def test_the_sensor_turns_the_check_red_when_events_wait_for_hours_and_green_again():
    store = small_store()
    assert tick(store).asset_events == []
    send(store.root, ENDED, sessionId=SESSION)  # weeks ago by the clock of this machine
    red = tick(store)
    assert [request.job_name for request in red.run_requests or ()] == ["capture"]
    (told,) = red.asset_events
    assert isinstance(told, dg.AssetCheckEvaluation)
    assert (told.asset_key.to_user_string(), told.check_name, told.passed) == (
        "events",
        "spool_is_read",
        False,
    )
    assert tick(store, red.cursor).asset_events == [], "it says so once"
    assert not check_spool(store.root).passed
    take_in(store)
    (green,) = tick(store, red.cursor).asset_events
    assert isinstance(green, dg.AssetCheckEvaluation)
    assert green.passed
    assert check_spool(store.root).passed
