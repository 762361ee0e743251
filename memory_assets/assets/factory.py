"""Makes Dagster assets from the declarations of `schema.tables`.

Each asset builds its table with `runs.materialise` and reports to Dagster its rows, figures and the data version by which the
store finds what is stale. Metadata holds counts, ids and small plots, never text of messages or observations: Dagster keeps
metadata for ever, out of reach of masking and forgetting.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import dagster as dg
from dagster_pandera import pandera_schema_to_dagster_type

from memory_assets.errors import DamagedError, LabelsError, ModelBusyError, ModelSetupError
from memory_assets.runs.days import ASK_AGAIN
from memory_assets.runs.liveness import hold
from memory_assets.runs.materialise import Markdown, Report, counts_of, data_version, materialise
from memory_assets.runs.scopes import SCOPE
from memory_assets.runs.staleness import resolve, settings_of
from memory_assets.schema import frames
from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import PartInfo
from memory_assets.schema.tables import TABLES, WHOLE, Table
from memory_assets.schema.vocabulary import Category
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store

OWNERS = ["team:memory"]
DAYS_PER_RUN = 31
"""A backfill is cut into runs of a month: small enough to repeat, large enough that start-up does not matter."""

FIRST_DAY = date(2024, 1, 1)
"""Earliest day that a message may have; times before it fall to the day of capture."""

RETRY = dg.RetryPolicy(max_retries=2, delay=5, backoff=dg.Backoff.EXPONENTIAL)
BUSY_RETRIES, WAIT_SECONDS, LONGEST_WAIT_SECONDS = 2, 20.0, 600.0

Partitions = Mapping[str, dg.PartitionsDefinition]
"""The partitions of each grain."""


def partitions_of(zone: str, first_day: date = FIRST_DAY) -> Partitions:
    """Returns the partitions of each grain in the zone, from the first day on; today exists from its first minute.

    A week begins on Monday; a finished week or month is named after its first day.
    """
    week = first_day - timedelta(days=first_day.weekday())
    return {
        "day": dg.DailyPartitionsDefinition(start_date=first_day.isoformat(), timezone=zone, end_offset=1),
        "week": dg.WeeklyPartitionsDefinition(start_date=week.isoformat(), timezone=zone, day_offset=1),
        "month": dg.MonthlyPartitionsDefinition(start_date=first_day.replace(day=1).isoformat(), timezone=zone),
        "scope": dg.DynamicPartitionsDefinition(name=SCOPE),
        "category": dg.StaticPartitionsDefinition(get_args(Category)),
    }


def make_assets(settings: Settings, first_day: date = FIRST_DAY) -> list[dg.AssetsDefinition]:
    """Returns one asset for each declared table and file; tables that share a build function are one multi-asset."""
    partitions = partitions_of(settings.timezone, first_day)
    return [_asset(list(tables), settings, partitions) for _, tables in groupby(TABLES.values(), key=lambda table: table.build)]


def _asset(tables: Sequence[Table], settings: Settings, partitions: Partitions) -> dg.AssetsDefinition:
    lead = tables[-1]
    policy = dg.BackfillPolicy.single_run() if lead.grain == "scope" else dg.BackfillPolicy.multi_run(DAYS_PER_RUN)

    @dg.multi_asset(
        name="_".join(table.name for table in tables),
        specs=[_spec(table, settings, partitions) for table in tables],
        check_specs=[dg.AssetCheckSpec(name, asset=t.name, description=doc) for t in tables for name, doc in t.checks],
        backfill_policy=policy if lead.is_partitioned else None,
        retry_policy=RETRY,
        pool=lead.pool,
        can_subset=False,
    )
    def build(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> Iterator[dg.MaterializeResult]:
        hold(store, context.run_id)
        keys = context.partition_keys if lead.is_partitioned else [WHOLE]
        report = _materialise(store, tables, keys, ask_again=context.run.tags.get(ASK_AGAIN) != "false")
        for warning in report.warnings:
            context.log.warning(warning)
        for line in report.log:
            context.log.info(line)
        for table in tables:
            yield _result(context, store, table, keys, report)

    return build


def _spec(table: Table, settings: Settings, partitions: Partitions) -> dg.AssetSpec:
    columns = {"dagster/column_schema": column_schema(table.name), "dagster/table_name": table.name} if table.record else {}
    return dg.AssetSpec(
        table.name,
        description=table.doc,
        deps=[_dep(table, TABLES[name]) for name in table.made_from],
        group_name=table.stage,
        owners=OWNERS,
        kinds=set(table.kinds),
        code_version=code_version(table, settings),
        metadata=columns,
        partitions_def=partitions.get(table.grain),
        freshness_policy=dg.FreshnessPolicy.time_window(fail_window=table.deadline, warn_window=table.deadline / 2),
    )


def code_version(table: Table, settings: Settings) -> str:
    """Returns the version of the table's rules, with a hash of its declared settings: another one marks partitions as stale."""
    values = settings_of(settings, table)
    asks = resolve(table.asks)(settings) if table.asks else ""
    return " ".join(filter(None, [table.version, hash_of(*values)[:8] if values else "", asks]))


def _dep(table: Table, upstream: Table) -> dg.AssetDep:
    """Returns the dependency; a scope reads every partition of a table with other partitions."""
    reads_all = table.grain == "scope" and upstream.is_partitioned and upstream.grain != "scope"
    return dg.AssetDep(upstream.name, partition_mapping=dg.AllPartitionMapping() if reads_all else None)


def _materialise(store: Store, tables: Sequence[Table], keys: Sequence[str], *, ask_again: bool) -> Report:
    """Builds the tables; a wrong setting or damaged file fails the run at once, for a busy model Dagster retries later."""
    try:
        return materialise(store, tables, keys, ask_again=ask_again)
    except (ModelSetupError, LabelsError, DamagedError) as error:
        raise dg.Failure(str(error), allow_retries=False) from error
    except ModelBusyError as error:
        wait = WAIT_SECONDS if error.retry_after_seconds is None else error.retry_after_seconds
        raise dg.RetryRequested(max_retries=BUSY_RETRIES, seconds_to_wait=min(wait, LONGEST_WAIT_SECONDS)) from error


def _result(
    context: dg.AssetExecutionContext, store: Store, table: Table, keys: Sequence[str], report: Report
) -> dg.MaterializeResult:
    """Returns what Dagster records of a table: its rows in the run and in all, its figures, its data version."""
    more = resolve(table.report)(store, table.name, keys) if table.report else Report()
    parts = store.tables.parts(table.name) if table.record else {}
    for key in keys if table.is_partitioned else ():
        rows = {"dagster/partition_row_count": parts[key].rows if key in parts else 0} if table.record else {}
        figures = {**rows, **report.by_partition.get(key, {}), **more.by_partition.get(key, {})}
        context.add_asset_metadata(_metadata(figures), partition_key=key, asset_key=table.name)
    retries = {"retries": context.retry_number} if table.asks or context.retry_number else {}
    figures = {**_sizes(store, table, keys, parts), **retries, **report.figures, **more.figures}
    version = data_version(store, table, keys)
    return dg.MaterializeResult(
        asset_key=table.name,
        metadata={**_metadata(figures), **column_lineage(table)},
        data_version=dg.DataVersion(version) if version else None,
        check_results=[
            dg.AssetCheckResult(
                check_name=name, asset_key=table.name, passed=not problem, metadata={"problem": problem or "none"}
            )
            for name, problem in report.checks.items()
        ],
    )


def _sizes(store: Store, table: Table, keys: Sequence[str], parts: Mapping[str, PartInfo]) -> dict[str, Any]:
    if not table.record:
        return {}
    rows = store.tables.read(table.name, keys if table.is_partitioned else None, columns=table.plots) if table.plots else None
    mixes = {} if rows is None else {f"{name}_mix": counts_of(rows, name) for name in table.plots}
    in_run = {"rows_in_run": sum(parts[key].rows for key in keys if key in parts)} if table.is_partitioned else {}
    megabytes = round(sum(info.bytes for info in parts.values()) / 1e6, 3)
    return {"dagster/row_count": sum(info.rows for info in parts.values()), **in_run, "megabytes": megabytes, **mixes}


def _metadata(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the figures as Dagster shows them: counts as bars, paths as paths."""
    return {name: _shown(value) for name, value in figures.items() if value != {}}


def _shown(value: Any) -> Any:
    if isinstance(value, Markdown):
        return dg.MetadataValue.md(value)
    if isinstance(value, Path):
        return dg.MetadataValue.path(str(value))
    if isinstance(value, Mapping) and all(isinstance(count, int | float) for count in value.values()):
        return bars(value)
    return value


def bars(counts: Mapping[str, float]) -> dg.MarkdownMetadataValue:
    """Returns the counts as a small bar chart."""
    most = max(counts.values(), default=0) or 1
    lines = [f"| {name} | `{'█' * round(24 * count / most):<24}` | {count} |" for name, count in counts.items()]
    return dg.MetadataValue.md("| | | |\n|---|---|---:|\n" + "\n".join(lines))


def column_lineage(table: Table) -> dict[str, dg.TableColumnLineage]:
    """Returns the declared lineage of the table's columns, as metadata of a materialisation."""
    deps: dict[str, list[dg.TableColumnDep]] = {}
    for column, source in table.lineage:
        upstream, _, name = source.partition(".")
        deps.setdefault(column, []).append(dg.TableColumnDep(asset_key=upstream, column_name=name))
    return {"dagster/column_lineage": dg.TableColumnLineage(deps_by_column=deps)} if deps else {}


@cache
def column_schema(table: str) -> dg.TableSchema:
    """Returns the table's columns, types, bounds and descriptions as Dagster shows them, from its pandera schema."""
    dagster_type = pandera_schema_to_dagster_type(frames.checks_of(table))
    return dagster_type.metadata["schema"].value  # pyright: ignore[reportReturnType]
