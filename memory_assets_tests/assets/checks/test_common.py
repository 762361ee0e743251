"""Checks of one asset run in one step and stay checks of their own: each has a result, can be run alone, and may block."""

from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from memory_assets.assets.checks.common import (
    Level,
    TableCheck,
    one_step_per_asset,
    settled_days,
)
from memory_assets.store.settings import Settings
from memory_assets.store.store import open_store
from memory_assets_tests.small_store import DAY, bring_up_to_date, small_store

BROKEN = pl.DataFrame({"id": ["a"]})


def definitions(tmp_path: Path, *checks: TableCheck) -> dg.Definitions:
    first, second = (
        dg.asset(lambda: None, name="first"),
        dg.asset(lambda: None, name="second", deps=["first"]),
    )
    store = open_store(Settings(data=tmp_path / "store", timezone="UTC", owner="ann"))
    return dg.Definitions(
        [first, second],
        asset_checks=one_step_per_asset(checks),
        jobs=[
            dg.define_asset_job("all"),
            dg.define_asset_job(
                "alone",
                selection=dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("first"), "whole")),
            ),
        ],
        resources={"store": store},
        executor=dg.in_process_executor,
    )


def check(asset: str, name: str, *, passes: bool, level: Level = "block") -> TableCheck:
    return TableCheck(
        asset, name, "No row is broken.", lambda _, __: BROKEN.clear() if passes else BROKEN, level
    )


def run(definitions: dg.Definitions, job: str = "all") -> dg.ExecuteInProcessResult:
    with dg.DagsterInstance.ephemeral() as instance:
        return definitions.resolve_job_def(job).execute_in_process(
            instance=instance, raise_on_error=False
        )


def passed(result: dg.ExecuteInProcessResult) -> dict[str, bool]:
    return {one.check_name: one.passed for one in result.get_asset_check_evaluations()}


def steps(result: dg.ExecuteInProcessResult) -> list[str | None]:
    return [event.step_key for event in result.all_events if event.is_step_success]


@pytest.mark.parametrize(("level", "follows"), [("block", False), ("error", True), ("warn", True)])
def test_a_check_that_blocks_stops_what_comes_after_and_the_others_are_judged(
    tmp_path: Path, level: Level, follows: bool
):
    checks = [
        check("first", "whole", passes=False, level=level),
        check("first", "known", passes=True),
    ]
    result = run(definitions(tmp_path, *checks))
    assert passed(result) == {"whole": False, "known": True}
    assert ("second" in steps(result)) is follows
    assert result.success is follows


def test_a_day_that_another_machine_made_stale_is_judged_after_the_next_run(
    monkeypatch: pytest.MonkeyPatch,
):
    store, day = small_store(), DAY.isoformat()
    bring_up_to_date(store)
    monkeypatch.setitem(vars(store), "shared", object())
    assert settled_days(store, "observations", [day]) == [day]
    store.tables.write(
        "messages", day, store.tables.read("messages").head(2), inputs="of another machine"
    )
    for table in ("messages", "observations", "triggers"):
        assert settled_days(store, table, [day]) == [], table
    assert settled_days(store, "observations", None) is None
    monkeypatch.setitem(vars(store), "shared", None)
    assert settled_days(store, "observations", [day]) == [day], (
        "nobody else writes a store in a folder"
    )
