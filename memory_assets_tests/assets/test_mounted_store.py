"""Another Dagster project mounts a store, beside assets of its own, and neither disturbs the other."""

import os
import time
from importlib import import_module
from os.path import relpath
from pathlib import Path
from typing import Any
from uuid import uuid4

import dagster as dg
import pytest

import memory_assets
from memory_assets.runs import liveness
from memory_assets.runs.liveness import fail_dead_runs
from memory_assets.schema.tables import TABLES
from memory_assets.store.store import Store
from memory_assets_tests.small_store import DAY, small_store


@pytest.fixture
def store() -> Store:
    return small_store()


def mounted(store: Store) -> dg.Definitions:
    """The definitions of a project with an asset of its own, which waits for a table of the store."""

    @dg.asset(deps=["observations"])
    def report() -> None: ...

    component = memory_assets.Store(data=str(store.root))
    return dg.Definitions.merge(
        component.build_defs(dg.ComponentTree.for_test().load_context),
        dg.Definitions(assets=[report], executor=dg.multiprocess_executor),
    )


def test_a_run_of_the_project_builds_the_store_in_its_folder(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_DATA", str(tmp_path / "another"))
    job = mounted(store).resolve_job_def("find_friction")
    tags = {
        "dagster/asset_partition_range_start": str(DAY),
        "dagster/asset_partition_range_end": str(DAY),
    }
    with dg.DagsterInstance.ephemeral() as instance:
        assert job.execute_in_process(instance=instance, tags=tags).success
    assert str(DAY) in store.tables.parts("friction")
    assert not (tmp_path / "another" / "tables").exists()


def test_the_jobs_of_the_store_run_in_one_process_and_those_of_the_project_as_it_says(store: Store):
    definitions = mounted(store)
    assert definitions.executor is dg.multiprocess_executor
    assert definitions.resolve_job_def("nightly").executor_def is dg.in_process_executor
    assert "report" in {spec.key.to_user_string() for spec in definitions.resolve_all_asset_specs()}


def test_a_file_of_the_project_names_the_component(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "another_project" / "defs" / "memory"
    folder.mkdir(parents=True)
    for package in (folder.parent.parent, folder.parent):
        (package / "__init__.py").touch()
    (folder / "defs.yaml").write_text(
        f"type: memory_assets.Store\nattributes:\n  data: {relpath(store.root, folder)}\n"
    )
    (store.root / "memory.toml").write_text(
        f'timezone = "Asia/Tokyo"\ndata = "{store.root.as_posix()}"\n'
    )
    monkeypatch.setenv("MEMORY_DATA", str(tmp_path / "another"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("MEMORY_TIMEZONE", raising=False)
    loaded = dg.load_defs(import_module("another_project.defs"), project_root=tmp_path)
    specs = {spec.key.to_user_string(): spec for spec in loaded.resolve_all_asset_specs()}
    assert TABLES.keys() < specs.keys()
    days = specs["messages"].partitions_def
    assert isinstance(days, dg.DailyPartitionsDefinition)
    assert days.timezone == "Asia/Tokyo"


def begun(instance: dg.DagsterInstance, **selection: Any) -> str:
    """A run of the UI that executes this selection; returns its id."""
    started = dg.DagsterRunStatus.STARTED
    run = dg.DagsterRun(job_name="__ASSET_JOB", run_id=str(uuid4()), status=started, **selection)
    return instance.add_run(run).run_id


def test_a_run_of_tables_and_an_asset_of_the_project_is_left_alone(store: Store):
    keys = {dg.AssetKey("observations"), dg.AssetKey("report")}
    with dg.DagsterInstance.ephemeral() as instance:
        run_id = begun(instance, asset_selection=keys)
        ended(store, run_id)
        assert fail_dead_runs(instance, store) == []
        assert instance.get_run_by_id(run_id).status == dg.DagsterRunStatus.STARTED


def test_a_run_of_a_check_of_the_project_on_a_table_is_left_alone(store: Store):
    mounted(store)
    observations = dg.AssetKey("observations")
    names = ("schema_and_unique_keys", "agrees_with_the_report")
    checks = {dg.AssetCheckKey(observations, name) for name in names}
    with dg.DagsterInstance.ephemeral() as instance:
        run_id = begun(instance, asset_selection=frozenset(), asset_check_selection=checks)
        ended(store, run_id)
        assert fail_dead_runs(instance, store) == []
        assert instance.get_run_by_id(run_id).status == dg.DagsterRunStatus.STARTED


def test_a_killed_run_of_checks_of_the_store_is_failed(store: Store):
    definitions = mounted(store)
    checks = {
        key
        for key in definitions.resolve_asset_graph().asset_check_keys
        if key.asset_key == dg.AssetKey("observations")
    }
    with dg.DagsterInstance.ephemeral() as instance:
        run_id = begun(instance, asset_selection=frozenset(), asset_check_selection=checks)
        ended(store, run_id)
        assert fail_dead_runs(instance, store) == []
        assert instance.get_run_by_id(run_id).status == dg.DagsterRunStatus.FAILURE


def ended(store: Store, run_id: str) -> None:
    """Leaves the lock file of a process that ended two minutes ago."""
    lock = store.dagster_home / liveness.FOLDER / f"{run_id}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    long_ago = time.time() - 2 * liveness.BETWEEN_STEPS_SECONDS
    os.utime(lock, (long_ago, long_ago))


def test_a_run_of_the_project_is_left_alone(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(liveness, "STARTING_SECONDS", 0.0)

    @dg.job
    def long_report() -> None: ...

    with dg.DagsterInstance.ephemeral() as instance:
        started = dg.DagsterRunStatus.STARTED
        run = instance.create_run_for_job(long_report, status=started)
        instance.event_log_storage.set_concurrency_slots("pool", 1)
        instance.event_log_storage.claim_concurrency_slot("pool", run.run_id, "step")
        assert fail_dead_runs(instance, store) == []
        assert instance.get_run_by_id(run.run_id).status == started
        assert instance.event_log_storage.get_concurrency_run_ids() == {run.run_id}
