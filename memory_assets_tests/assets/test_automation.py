"""The sensor asks for the next step that the store's state calls for, and for nothing while a run is under way."""

from datetime import date
from pathlib import Path

import dagster as dg
import pytest

from memory_assets.assets.automation import new_transcripts, next_requests
from memory_assets.definitions import assemble
from memory_assets.runs import due
from memory_assets.runs.launch import Runner
from memory_assets.runs.staleness import stale_days
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import dialogue, lines, transcript


@pytest.fixture
def store(tmp_path: Path) -> Store:
    sources = tmp_path / "sources"
    transcript(sources, "a").write_bytes(lines(*dialogue("a", 6)))
    return open_store(read_settings(sources=str(sources)))


def jobs(store: Store, *, busy: bool = False) -> list[str | None]:
    return [
        request.job_name
        for request in next_requests(dg.DagsterInstance.ephemeral(), store, busy=busy)
    ]


def test_a_new_transcript_asks_for_a_capture_and_a_busy_instance_for_nothing(store: Store):
    assert jobs(store) == ["capture"]
    assert jobs(store, busy=True) == []


def test_captured_days_are_asked_for_as_one_range(store: Store, tmp_path: Path):
    capture(store, tmp_path / "sources")
    (day,) = stale_days(store, "process_days")
    assert day.isoformat() == "2026-08-03"
    assert not due.memories_are_stale(store)
    assert not due.review_is_stale(store)


@pytest.mark.parametrize(
    ("first_day", "asked_for"), [(date(2026, 8, 3), ["process_days"]), (date(2026, 8, 4), [])]
)
def test_days_before_the_loaded_partitions_wait_for_a_reload(
    store: Store, first_day: date, asked_for: list[str]
):
    with Runner(store) as runner:
        runner.run("capture")
    loaded = assemble(store.settings, first_day).get_repository_def()
    instance = dg.DagsterInstance.ephemeral()
    with dg.build_sensor_context(
        instance, repository_def=loaded, resources={"store": store}
    ) as context:
        result = new_transcripts(context)
    assert [request.job_name for request in result.run_requests] == asked_for
