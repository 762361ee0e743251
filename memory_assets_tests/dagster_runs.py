"""Runs of single assets and of jobs in this process, as the command line and the sensors start them."""

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import date

import dagster as dg

from memory_assets.definitions import assemble
from memory_assets.runs.days import range_tags
from memory_assets.runs.scopes import SCOPE, register_keys
from memory_assets.schema.tables import TABLES
from memory_assets.store.store import Store

EARLY = date(2025, 1, 1)
"""Before the first day of any store that the tests make."""


def run_assets(
    store: Store,
    *names: str,
    days: tuple[date | str, date | str] | None = None,
    tags: Mapping[str, str] | None = None,
    raise_on_error: bool = True,
    instance: dg.DagsterInstance | None = None,
    checks: Mapping[str, str] | None = None,
) -> dg.ExecuteInProcessResult:
    """Materialises the named assets for the partitions from the first to the last of `days`, or for all scopes.

    Runs their checks, and `checks`: of other assets, which stay as they lie, by name.
    """
    selection = dg.AssetSelection.assets(*names)
    for check, asset in (checks or {}).items():
        selection |= dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey(asset), check))
    job = dg.define_asset_job("chosen", selection=selection)
    definitions = dg.Definitions.merge(
        assemble(store.settings, EARLY, store), dg.Definitions(jobs=[job])
    )
    named = range_tags(*map(str, days)) if days else {}
    with nullcontext(instance) if instance else dg.DagsterInstance.ephemeral() as opened:
        if not named and any(TABLES[name].grain == "scope" for name in names):
            scopes = register_keys(opened, store, SCOPE)
            named = range_tags(scopes[0], scopes[-1])
        return definitions.resolve_job_def("chosen").execute_in_process(
            tags={**named, **(tags or {})}, raise_on_error=raise_on_error, instance=opened
        )


def metadata_of(
    result: dg.ExecuteInProcessResult, asset: str, partition: str | None = None
) -> dict[str, object]:
    """Returns what the run told Dagster of the asset (of the partition)."""
    events = [
        event.event_specific_data.materialization
        for event in result.get_asset_materialization_events()
    ]
    found = [
        one
        for one in events
        if one.asset_key.to_user_string() == asset and partition in (None, one.partition)
    ]
    return {name: value.value for name, value in found[-1].metadata.items()}


def run_check(store: Store, asset: str, check: str) -> dg.AssetCheckEvaluation:
    """Runs one check alone, on the tables as they lie."""
    selection = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey(asset), check))
    definitions = dg.Definitions.merge(
        assemble(store.settings, EARLY, store),
        dg.Definitions(jobs=[dg.define_asset_job("chosen", selection=selection)]),
    )
    result = definitions.resolve_job_def("chosen").execute_in_process(raise_on_error=False)
    (found,) = result.get_asset_check_evaluations()
    return found
