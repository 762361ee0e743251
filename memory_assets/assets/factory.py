"""Makes Dagster assets from the declarations of `schema.tables`.

Each asset builds its table with `runs.materialise`, and reports its rows, figures and data version
to Dagster. The reported metadata are counts, ids and small plots, never text of messages or
observations: Dagster keeps metadata for ever, out of reach of masking and forgetting.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, get_args

import dagster as dg

from memory_assets.assets.freshness import CONFIRMED, kept_fresh_by, policy_of, starters_of
from memory_assets.assets.metadata import code_references, column_lineage, column_schema, shown
from memory_assets.assets.sources import observations, source_keys
from memory_assets.errors import (
    DamagedError,
    LabelsError,
    ModelBusyError,
    ModelSetupError,
    ModelSilentError,
)
from memory_assets.runs.builders import BUILDERS, REPORTS
from memory_assets.runs.days import ASK_AGAIN, STARTED_BY
from memory_assets.runs.inputs import ASKS, settings_of
from memory_assets.runs.liveness import OWN_CHECKS, hold
from memory_assets.runs.materialise import data_version, materialise
from memory_assets.runs.results import Report, counts_of
from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import PartInfo
from memory_assets.schema.tables import DYNAMIC, TABLES, WHOLE, Table, built_together
from memory_assets.schema.vocabulary import Category
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store

OWNERS = ["team:memory"]
DAYS_PER_RUN = 31
"""A backfill is cut into runs of a month: small enough to repeat, large enough that start-up does
not matter.
"""

FIRST_DAY = date(2024, 1, 1)
"""Earliest day of a message. A message with an earlier time gets the day of its capture."""

_CORE_STAGES = (
    "deliver capture distill embed recall reflect friction triage brief maintain quality"
).split()
STAGES = list(dict.fromkeys([*_CORE_STAGES, *(table.stage for table in TABLES.values())]))
GROUPS = {stage: f"{number:02}_{stage}" for number, stage in enumerate(STAGES, 1)}
"""The group of each stage: numbered, because the UI sorts groups by name."""

RETRY = dg.RetryPolicy(max_retries=2, delay=5, backoff=dg.Backoff.EXPONENTIAL)

BUSY_RETRIES = 2
"""How often a step is retried while its model is busy."""

WAIT_SECONDS = 20.0
"""Time before such a retry, if the model does not say when to ask again."""

LONGEST_WAIT_SECONDS = 600.0
"""Longest time before such a retry, whatever the model says."""

UNCHANGED = "Unchanged; the last one that has rows."
"""What the UI shows of an earlier build that is reported again."""

AGAIN = "Built in this run; reported again as the last one that has rows."
"""Description of the second materialisation of a partition."""

Partitions = Mapping[str, dg.PartitionsDefinition]
"""The partitions of each grain."""


def partitions_of(zone: str, first_day: date = FIRST_DAY) -> Partitions:
    """Returns the partitions of each grain in the zone, from the first day on.

    The present day is one of them. Weeks, which begin on Monday, and months are partitions when
    they are over, and have the name of their first day.
    """
    week = first_day - timedelta(days=first_day.weekday())
    return {
        "day": dg.DailyPartitionsDefinition(
            start_date=first_day.isoformat(), timezone=zone, end_offset=1
        ),
        "week": dg.WeeklyPartitionsDefinition(
            start_date=week.isoformat(), timezone=zone, day_offset=1
        ),
        "month": dg.MonthlyPartitionsDefinition(
            start_date=first_day.replace(day=1).isoformat(), timezone=zone
        ),
        **{grain: dg.DynamicPartitionsDefinition(name=grain) for grain in DYNAMIC},
        "category": dg.StaticPartitionsDefinition(get_args(Category)),
    }


def make_assets(settings: Settings, first_day: date = FIRST_DAY) -> Sequence[dg.AssetsDefinition]:
    """Returns an asset for each declared table and file.

    Tables that share a build function are one multi-asset.
    """
    versions = tuple(code_version(table, settings) for table in TABLES.values())
    return _assets_of(settings.timezone, first_day, versions)


@lru_cache(maxsize=8)
def _assets_of(
    zone: str, first_day: date, versions: tuple[str, ...]
) -> tuple[dg.AssetsDefinition, ...]:
    """Makes the assets; cached, because that takes a fifth of a second."""
    partitions = partitions_of(zone, first_day)
    version_of = dict(zip(TABLES, versions, strict=True))
    groups = built_together(TABLES.values())
    return tuple(_asset(tables, version_of, partitions) for tables in groups)


def _asset(
    tables: Sequence[Table], versions: Mapping[str, str], partitions: Partitions
) -> dg.AssetsDefinition:
    lead = tables[-1]
    checks = [
        dg.AssetCheckSpec(name, asset=table.name, description=description)
        for table in tables
        for name, description in table.checks
    ]
    OWN_CHECKS.update(check.key for check in checks)

    @dg.multi_asset(
        name="_".join(table.name for table in tables),
        specs=[_spec(table, versions[table.name], partitions) for table in tables],
        check_specs=checks,
        backfill_policy=_backfill_policy(lead),
        retry_policy=RETRY,
        pool=lead.pool,
        # So that one of the tables can be chosen in the UI. All of them are built nevertheless.
        can_subset=len(tables) > 1,
    )
    def build(
        context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]
    ) -> Iterator[dg.MaterializeResult]:
        hold(store, context.run_id)
        keys = context.partition_keys if lead.is_partitioned else [WHOLE]
        is_asking = context.run.tags.get(ASK_AGAIN) != "false"
        report = _materialise(store, tables, keys, ask_again=is_asking)
        for warning in report.warnings:
            context.log.warning(warning)
        for line in report.log:
            context.log.info(line)
        for table in tables:
            for observation in observations(store, table, keys):
                context.log_event(observation)
            yield from _results(context, store, table, keys, report)

    return build


def _backfill_policy(table: Table) -> dg.BackfillPolicy | None:
    """Returns how Dagster cuts a backfill of many partitions into runs."""
    if not table.is_partitioned:
        return None
    if table.grain in DYNAMIC:
        return dg.BackfillPolicy.single_run()
    return dg.BackfillPolicy.multi_run(DAYS_PER_RUN)


def _results(
    context: dg.AssetExecutionContext,
    store: Store,
    table: Table,
    keys: Sequence[str],
    report: Report,
) -> Iterator[dg.MaterializeResult]:
    """Yields the result of the table if it is selected, and logs further materialisations.

    They are those of a table that is built but not selected, and of the last partition with rows.
    """
    recorded = _recorded(store, table, keys, report)
    if dg.AssetKey(table.name) in context.selected_asset_keys:
        yield _result(context, table, recorded)
    else:
        _log(context, table, recorded, recorded.by_partition or {None: {}})
    is_late = STARTED_BY in context.run.tags
    last = _last_with_rows(store, table, keys, recorded.by_partition, is_late=is_late)
    if last is not None:
        if last in keys:
            _log(context, table, recorded, {last: recorded.by_partition[last]}, AGAIN)
        else:
            earlier = _latest_metadata(context.instance, table, last)
            more = {**earlier, **recorded.metadata, "confirmed": UNCHANGED}
            _log(context, table, recorded, {last: more}, CONFIRMED)


def _latest_metadata(instance: dg.DagsterInstance, table: Table, key: str) -> Mapping[str, Any]:
    """Returns the metadata of the last materialisation of the partition; empty if it has none."""
    of_partition = dg.AssetRecordsFilter(dg.AssetKey(table.name), asset_partitions=[key])
    for record in instance.fetch_materializations(of_partition, limit=1).records:
        if record.asset_materialization:
            return record.asset_materialization.metadata
    return {}


def _spec(table: Table, version: str, partitions: Partitions) -> dg.AssetSpec:
    build = BUILDERS[table.built_with or table.name]
    metadata: dict[str, Any] = {"dagster/code_references": code_references(build)}
    if table.record:
        metadata["dagster/column_schema"] = column_schema(table.name)
        metadata["dagster/table_name"] = table.name
    metadata["kept_fresh_by"] = dg.MetadataValue.md(kept_fresh_by(table))
    return dg.AssetSpec(
        table.name,
        description=table.description,
        deps=[*source_keys(table), *(_dep(table, TABLES[name]) for name in table.made_from)],
        group_name=GROUPS[table.stage],
        owners=OWNERS,
        kinds=set(table.kinds),
        tags=tags_of(table),
        code_version=version,
        metadata=metadata,
        partitions_def=partitions.get(table.grain),
        freshness_policy=policy_of(table),
    )


def tags_of(table: Table) -> dict[str, str]:
    """Returns the tags by which the UI can select the asset."""
    job = table.jobs[0]
    starter = next(iter(starters_of(job)))
    return {"stage": table.stage, "grain": table.grain, "job": job, "started_by": starter}


def code_version(table: Table, settings: Settings) -> str:
    """Returns the version of the table's rules, with hashes of its settings, model and prompt.

    When it changes, the UI marks the partitions as stale.
    """
    values = settings_of(settings, table)
    settings_hash = hash_of(*values)[:8] if values else ""
    asks = ASKS[table.name](settings) if table.name in ASKS else ""
    return " ".join(filter(None, [table.version, settings_hash, asks]))


def _dep(table: Table, upstream: Table) -> dg.AssetDep:
    """Returns the dependency; a scope reads all partitions of a table with another grain."""
    is_other_grain = upstream.is_partitioned and upstream.grain != "scope"
    reads_all = table.grain == "scope" and is_other_grain
    mapping = dg.AllPartitionMapping() if reads_all else None
    return dg.AssetDep(upstream.name, partition_mapping=mapping)


def _materialise(
    store: Store, tables: Sequence[Table], keys: Sequence[str], *, ask_again: bool
) -> Report:
    """Builds the tables, and translates errors for Dagster.

    A wrong setting, a damaged file or a silent model fails the run without a retry. If a model is
    busy, Dagster retries later.
    """
    try:
        return materialise(store, tables, keys, ask_again=ask_again)
    except (ModelSetupError, ModelSilentError, LabelsError, DamagedError) as error:
        raise dg.Failure(str(error), allow_retries=False) from error
    except ModelBusyError as error:
        wait = error.retry_after_seconds
        seconds = WAIT_SECONDS if wait is None else min(wait, LONGEST_WAIT_SECONDS)
        raise dg.RetryRequested(BUSY_RETRIES, seconds_to_wait=seconds) from error


@dataclass(frozen=True)
class _Recorded:
    """What Dagster records of a table that was built."""

    version: str | None
    """The data version; None for a file or an index."""
    metadata: Mapping[str, Any]
    by_partition: Mapping[str, Mapping[str, Any]]
    check_results: Sequence[dg.AssetCheckResult]


def _recorded(store: Store, table: Table, keys: Sequence[str], report: Report) -> _Recorded:
    """Returns what to record: the build's report, more figures of the table, and its counts."""
    report_more = REPORTS.get(table.name)
    more = report_more(store, table.name, keys) if report_more else Report()
    parts = store.tables.parts(table.name) if table.record else {}
    by_partition: dict[str, dict[str, Any]] = {}
    partition_keys = keys if table.is_partitioned else ()
    for key in partition_keys:
        figures = report.by_partition.get(key, {}) | more.by_partition.get(key, {})
        if table.record:
            count = parts[key].rows if key in parts else 0
            figures = {"dagster/partition_row_count": count} | figures
        by_partition[key] = shown(figures)
    figures = _counts(store, table, keys, parts) | report.figures | more.figures
    checks = [
        dg.AssetCheckResult(
            check_name=name,
            asset_key=table.name,
            passed=not problem,
            metadata={"problem": problem or "none"},
        )
        for name, problem in report.checks.items()
    ]
    metadata = shown(figures) | column_lineage(table)
    return _Recorded(data_version(store, table, keys), metadata, by_partition, checks)


def _counts(
    store: Store, table: Table, keys: Sequence[str], parts: Mapping[str, PartInfo]
) -> dict[str, Any]:
    """Returns the rows and the size of a table, and how often each value of its `plots` occurs."""
    if not table.record:
        return {}
    counts: dict[str, Any] = {"dagster/row_count": sum(info.rows for info in parts.values())}
    if table.is_partitioned:
        counts["rows_in_run"] = sum(parts[key].rows for key in keys if key in parts)
    counts["megabytes"] = round(sum(info.bytes for info in parts.values()) / 1e6, 3)
    if table.plots:
        of_run = keys if table.is_partitioned else None
        rows = store.tables.read(table.name, of_run, columns=table.plots)
        counts |= {f"{name}_mix": counts_of(rows, name) for name in table.plots}
    return counts


def _result(
    context: dg.AssetExecutionContext, table: Table, recorded: _Recorded
) -> dg.MaterializeResult:
    """Returns the result of the step for the table, after adding the metadata of partitions."""
    for key, metadata in recorded.by_partition.items():
        context.add_asset_metadata(metadata, partition_key=key, asset_key=table.name)
    has_retries = table.name in ASKS or context.retry_number
    retries = {"retries": context.retry_number} if has_retries else {}
    return dg.MaterializeResult(
        asset_key=table.name,
        metadata={**recorded.metadata, **retries},
        data_version=dg.DataVersion(recorded.version) if recorded.version else None,
        check_results=recorded.check_results,
    )


def _log(
    context: dg.AssetExecutionContext,
    table: Table,
    recorded: _Recorded,
    by_partition: Mapping[Any, Mapping[str, Any]],
    description: str | None = None,
) -> None:
    """Logs a materialisation of each of the partitions, which is no output of the step."""
    code = context.assets_def.code_versions_by_key.get(dg.AssetKey(table.name))
    versions = {"dagster/data_version": recorded.version, "dagster/code_version": code}
    tags = {name: version for name, version in versions.items() if version}
    for key, more in by_partition.items():
        metadata = {**recorded.metadata, **more}
        context.log_event(
            dg.AssetMaterialization(
                table.name, description, metadata=metadata, partition=key, tags=tags
            )
        )


def _last_with_rows(
    store: Store,
    table: Table,
    keys: Sequence[str],
    by_partition: Mapping[str, Mapping[str, Any]],
    *,
    is_late: bool,
) -> str | None:
    """Returns the partition to report again, so that its event is the latest one; None for none.

    The UI shows the latest event of an asset. If that is about a day without sessions, the asset
    looks empty, so the last partition with rows is reported again. A run that was not started in
    the UI (`is_late`) may be about days before those that were built first; then the last partition
    is reported again, too.
    """
    if not table.is_partitioned:
        return None
    rows = _rows_by_partition(store, table, by_partition)
    is_ordered = table.grain != "category"
    ordered = sorted(rows) if is_ordered else keys
    last = next((key for key in reversed(ordered) if rows.get(key)), None)
    if last is None or not rows.get(keys[-1]):
        return last
    return last if is_late and is_ordered and keys[-1] < last else None


def _rows_by_partition(
    store: Store, table: Table, by_partition: Mapping[str, Mapping[str, Any]]
) -> dict[str, int]:
    """Returns the rows of each partition; of daily logs 1 for each, of other files by day the
    number of figures of this run.
    """
    if table.record:
        return {key: info.rows for key, info in store.tables.parts(table.name).items()}
    if table.grain != "day":
        return {}
    if table.name == "daily_log":
        return {path.stem: 1 for path in store.workspace.glob("memory/????-??-??.md")}
    return {key: len(figures) for key, figures in by_partition.items()}
