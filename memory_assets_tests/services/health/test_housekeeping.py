"""Disk use over years: old runs go, what the UI knows of each partition stays, and a week of a busy service stays under its caps."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta

import dagster as dg
import pytest

from memory_assets.assets.housekeeping import housekeeping
from memory_assets.runs.instance import open_instance
from memory_assets.services.health import housekeeping as house
from memory_assets.services.health.housekeeping import (
    LEAST_RUNS,
    EndedRun,
    disk_use,
    is_due,
    keep_house,
    plan_removal,
)
from memory_assets.services.health.surroundings import check_disk_use
from memory_assets.store.store import Store, open_store
from memory_assets_tests.conftest import NOW
from memory_assets_tests.small_store import small_store

PARTITIONS = dg.StaticPartitionsDefinition(["a", "b", "c"])


@dg.asset(partitions_def=PARTITIONS)
def facts() -> dg.MaterializeResult:
    """An asset with partitions."""
    return dg.MaterializeResult(metadata={"rows": 3}, check_results=[])


@dg.asset_check(asset=facts)
def sound() -> dg.AssetCheckResult:
    """A check of it."""
    return dg.AssetCheckResult(passed=True)


DEFINITIONS = dg.Definitions(
    assets=[facts], asset_checks=[sound], jobs=[dg.define_asset_job("build", selection="*")]
)


@pytest.fixture
def store() -> Store:
    return small_store()


@pytest.fixture
def instance(store: Store) -> Iterator[dg.DagsterInstance]:
    with open_instance(store) as opened:
        yield opened


def at(store: Store, moment: datetime, **more: object) -> Store:
    """The same store at another moment."""
    return open_store(store.settings.model_copy(update={"now": moment, **more}))


def run(instance: dg.DagsterInstance, store: Store, partition: str, ended: datetime) -> str:
    """Runs the job, as if it had ended at that moment."""
    result = DEFINITIONS.resolve_job_def("build").execute_in_process(
        instance=instance, partition_key=partition
    )
    moment = ended.replace(tzinfo=None).isoformat(" ", "microseconds")
    changes = {
        "runs.db": [("UPDATE runs SET end_time = ? WHERE run_id = ?", ended.timestamp())],
        "runs/index.db": [
            ("UPDATE event_logs SET timestamp = ? WHERE run_id = ?", moment),
            ("UPDATE asset_check_executions SET create_timestamp = ? WHERE run_id = ?", moment),
        ],
    }
    for name, updates in changes.items():
        with closing(sqlite3.connect(store.dagster_home / "history" / name)) as database:
            for query, value in updates:
                database.execute(query, [value, result.run_id])
            database.commit()
    return result.run_id


def history_files(store: Store) -> set[str]:
    """The runs that have a database."""
    return {path.stem for path in (store.dagster_home / "history" / "runs").glob("*.db")} - {
        "index"
    }


def ended(number: int, days: float, size: int = 1) -> EndedRun:
    return EndedRun(f"{number}", NOW - timedelta(days=days), size)


def test_runs_that_are_too_old_go_and_the_last_ones_stay_whatever_their_age():
    runs = [ended(number, days=number) for number in range(60)]
    assert plan_removal(runs, NOW, 30, 10**9) == [str(number) for number in range(31, 60)]
    assert (
        plan_removal([ended(number, days=100 + number) for number in range(LEAST_RUNS)], NOW, 30, 0)
        == []
    )


def test_the_oldest_runs_go_where_the_rest_does_not_fit_but_none_of_the_last_day():
    runs = [ended(number, days=number / 10, size=100) for number in range(60)]
    assert plan_removal(runs, NOW, 30, 3_000) == [str(number) for number in range(30, 60)]
    assert (
        plan_removal([ended(number, days=0.5, size=100) for number in range(60)], NOW, 30, 0) == []
    )


def test_old_runs_go_and_the_ui_keeps_its_state(
    store: Store, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(house, "LEAST_RUNS", 1)
    old = [
        run(instance, store, partition, NOW - timedelta(days=40)) for partition in ("a", "b", "a")
    ]
    new = run(instance, store, "c", NOW - timedelta(days=2))
    done = keep_house(store)
    assert done.runs == 3
    assert history_files(store) == {new}
    assert [record.dagster_run.run_id for record in instance.get_run_records()] == [new]
    assert not any((store.dagster_home / "storage" / run_id).exists() for run_id in old)
    assert instance.get_materialized_partitions(facts.key) == {"a", "b", "c"}
    latest = instance.get_latest_materialization_event(facts.key)
    assert latest and latest.run_id == new
    of_a = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=facts.key, asset_partitions=["a"]), limit=10
    ).records
    assert [record.run_id for record in of_a] == [old[-1]]
    (check,) = instance.event_log_storage.get_latest_asset_check_execution_by_key(
        [sound.check_key]
    ).values()
    assert check.run_id == new
    assert run(instance, store, "a", NOW) in history_files(store)
    assert keep_house(store).runs == 0


def test_above_the_cap_runs_go_and_memory_stays(
    store: Store, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(house, "LEAST_RUNS", 1)
    for days in (3, 2, 1.5):
        run(instance, store, "a", NOW - timedelta(days=days))
    (store.root / "damaged").mkdir()
    (store.root / "damaged" / "000001-data.parquet").write_bytes(b"x" * 1_000)
    kept = {
        name: size
        for name, size in disk_use(store.root).items()
        if name not in ("dagster", "damaged", "built")
    }
    assert keep_house(store).runs == 0
    small = at(store, NOW, disk_gb=0.000_001)
    assert keep_house(small).runs == 2
    found = disk_use(store.root)
    assert "damaged" not in found
    assert {name: size for name, size in found.items() if name in kept} == kept
    check = check_disk_use(found, small.settings.disk_gb)
    assert not check.passed and "disk_gb" in check.remedy and "GB" in check.found
    assert check_disk_use(found, 10).passed and check_disk_use(found, 0).passed


def test_it_is_due_once_an_hour_and_the_sensor_does_not_wait_for_a_writer(
    store: Store, instance: dg.DagsterInstance
):
    assert is_due(store)
    keep_house(store)
    assert not is_due(store) and is_due(at(store, NOW + timedelta(hours=1)))
    with dg.build_sensor_context(instance=instance, resources={"store": store}) as context:
        done = housekeeping(context)
        assert "Removed 0 runs" in str(done)
        other = at(store, NOW)
        with other.lock():
            assert "A run is writing" in str(housekeeping(context))


def test_a_store_without_a_history_and_a_damaged_history_stop_nothing(store: Store):
    assert keep_house(store).runs == 0
    history = store.dagster_home / "history" / "runs"
    history.mkdir(parents=True)
    (history / "index.db").write_bytes(b"no database")
    (history.parent / "runs.db").write_bytes(b"no database at all" * 100)
    assert keep_house(store).runs == 0
