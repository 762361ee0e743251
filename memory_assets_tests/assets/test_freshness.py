"""Freshness in Dagster: every asset has its deadline as a policy, and is confirmed while no input waits for it."""

from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest

from memory_assets.assets.automation import (
    SCHEDULES,
    SENSORS,
    overdue_jobs,
    overdue_requests,
)
from memory_assets.assets.freshness import confirmations, deadlines, starters_of
from memory_assets.definitions import assemble
from memory_assets.runs.days import STARTED_BY
from memory_assets.runs.record import note_builds
from memory_assets.schema.tables import JOBS, tables_in
from memory_assets.store.store import Store
from memory_assets_tests.dagster_runs import EARLY
from memory_assets_tests.simulated import at_moment
from memory_assets_tests.small_store import bring_up_to_date, small_store

NOON = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def store() -> Store:
    store = at_moment(small_store(), NOON)
    bring_up_to_date(store)
    return store


def reported(instance: dg.DagsterInstance, *names: str) -> None:
    tags = {"dagster/data_version": "d1", "dagster/code_version": "c1"}
    for name in names:
        instance.report_runless_asset_event(
            dg.AssetMaterialization(name, tags=tags, metadata={"dagster/row_count": 3})
        )


def test_an_asset_is_confirmed_with_its_data_version_once_a_quarter_of_its_deadline_passed():
    with dg.DagsterInstance.ephemeral() as instance:
        reported(instance, "memories", "windows")
        now = datetime.now(UTC)
        assert list(confirmations(instance, now + timedelta(hours=5), set())) == []
        (again,) = confirmations(instance, now + timedelta(hours=6, minutes=1), {"windows"})
        instance.report_runless_asset_event(again)
        assert again.asset_key == dg.AssetKey("memories")
        assert again.tags is not None
        assert (again.tags["dagster/data_version"], again.tags["dagster/code_version"]) == (
            "d1",
            "c1",
        )
        latest = instance.get_latest_materialization_event(dg.AssetKey("memories"))
        assert latest is not None
        assert latest.asset_materialization is not None
        assert (
            latest.asset_materialization.metadata["confirmed"].value == "Unchanged; no input waits."
        )


def test_the_sensor_names_what_is_late(store: Store):
    store.tables.write("memories", "all", store.tables.read("memories"), inputs="older")
    with dg.DagsterInstance.ephemeral() as instance:
        for days, expected in ((0, "wait, 0 confirmed."), (2, "Too late: amendments, ")):
            later = at_moment(store, NOON + timedelta(days=days))
            with dg.build_sensor_context(instance, resources={"store": later}) as context:
                result = deadlines(context)
            assert isinstance(result, dg.SensorResult)
            assert result.skip_reason is not None
            assert expected in (result.skip_reason.skip_message or "")


def ran(store: Store, at: datetime, *jobs: str) -> None:
    for job in jobs:
        note_builds(at_moment(store, at), tables_in(job))


def asked_for(store: Store) -> list[str | None]:
    with dg.DagsterInstance.ephemeral() as instance:
        return [request.job_name for request in overdue_requests(instance, store)]


def test_what_three_days_without_a_daemon_missed_is_requested_once_and_in_run_order(store: Store):
    ran(store, NOON - timedelta(days=3), *JOBS)
    assert set(asked_for(store)) == {
        "nightly"
    }  # what else is due is known once it has read what nobody read
    ran(store, NOON, "nightly")
    rest = asked_for(store)
    assert [job for job in JOBS if job in rest] == list(dict.fromkeys(rest))
    assert {"weekly", "monthly", "brief"} <= set(rest)
    ran(store, NOON, *JOBS)
    assert asked_for(store) == []


def test_the_sensor_waits_while_a_run_is_in_progress(store: Store):
    ran(store, NOON - timedelta(days=3), *JOBS)
    loaded = assemble(store.settings, EARLY, store).get_repository_def()
    with (
        dg.DagsterInstance.ephemeral() as instance,
        dg.build_sensor_context(
            instance, repository_def=loaded, resources={"store": store}
        ) as context,
    ):
        found = overdue_jobs(context)
        assert isinstance(found, dg.SensorResult)
        assert {request.tags[STARTED_BY] for request in found.run_requests or []} == {
            "overdue_jobs"
        }
        keys = [request.run_key for request in found.run_requests or []]
        assert len(set(keys)) == len(keys) > 0
        instance.create_run_for_job(loaded.get_job("capture"), status=dg.DagsterRunStatus.STARTED)
        waiting = overdue_jobs(context)
        assert isinstance(waiting, dg.SensorResult)
        assert not waiting.run_requests


def test_every_job_is_started_by_something_that_exists():
    names = {sensor.name for sensor in SENSORS} | {name for name, *_ in SCHEDULES}
    for job in JOBS:
        assert starters_of(job) and starters_of(job).keys() <= names
