"""The events that a run leaves in Dagster: of every table that it writes, the latest one of a partition that has rows."""

from datetime import date, timedelta

import dagster as dg
import pytest

from memory_assets.store.store import Store
from memory_assets_tests.dagster_runs import run_assets
from memory_assets_tests.small_store import DAY, FACT, small_store

LATER = DAY + timedelta(days=2)


@pytest.fixture
def store() -> Store:
    return small_store()


def events(
    store: Store, asset: str, *names: str, days: tuple[date, date]
) -> list[dg.AssetMaterialization]:
    """Returns the materialisations of the asset in a run of the named ones, the latest first."""
    with dg.DagsterInstance.ephemeral() as instance:
        assert run_assets(store, *names, days=days, instance=instance).success
        records = instance.fetch_materializations(dg.AssetKey(asset), limit=20).records
        return [one.asset_materialization for one in records if one.asset_materialization]


def test_a_run_of_one_table_of_a_step_needs_no_configuration_and_passes_its_checks(store: Store):
    result = run_assets(store, "verdicts", days=(DAY, DAY))
    checked = {
        one.asset_key.to_user_string() for one in result.get_asset_check_evaluations() if one.passed
    }
    assert result.success and checked == {"verdicts"}


def test_the_latest_event_is_that_of_the_last_day_with_rows(store: Store):
    found = events(store, "segments", "segments", days=(DAY, LATER))
    assert [one.partition for one in found[1:]] == [
        (DAY + timedelta(days=n)).isoformat() for n in (2, 1, 0)
    ]
    assert found[0].partition == DAY.isoformat()
    assert found[0].metadata["dagster/row_count"].value == store.tables.read("segments").height > 0


def test_memory_md_shows_the_structure_of_its_files_and_no_words(store: Store):
    (store.workspace / "MEMORY.md").write_text(
        f"# MEMORY.md\n\n## Hard Rules\n\n- (2026-08-03) {FACT}\n"
    )
    with dg.DagsterInstance.ephemeral() as instance:
        run_assets(store, "memory_md", instance=instance)
        found = instance.fetch_materializations(dg.AssetKey("memory_md"), limit=20).records
    written = [one.asset_materialization for one in found if one.asset_materialization]
    shown = {event.partition: event.metadata for event in written}
    assert "| MEMORY.md | Hard Rules | 1 | 2026-08-03 | 2026-08-03 |" in str(
        shown["owner"]["preview"].value
    )
    assert "uv" not in str(shown)
