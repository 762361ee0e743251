"""Checks that many tables share, made by the table's name: schema and unique keys, no secrets, provenance, freshness.

A check names the broken promise and shows ids of a few offending rows, never their text. It judges the rows that the run
wrote (a range run has one result for all its days, so failing days stand in the metadata).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import dagster as dg
import polars as pl

from memory_assets.errors import TableError
from memory_assets.schema import frames as schemas
from memory_assets.stages.capture.masking.redact import count_secrets, find
from memory_assets.stages.maintain.secrets import text_columns
from memory_assets.store.store import Store

Check = Callable[[dg.AssetCheckExecutionContext, Store], dg.AssetCheckResult]

SHOWN = 5
"""Offending rows that a check names."""


def parts_in_run(context: dg.AssetCheckExecutionContext) -> list[str] | None:
    """Returns the days that the run is about, or None when it has none (whole tables, categories, checks run by hand)."""
    tags = context.run.tags
    key = tags.get("dagster/partition")
    start, end = tags.get("dagster/asset_partition_range_start", key), tags.get("dagster/asset_partition_range_end", key)
    if not (start and end and start[:1].isdigit()):
        return None
    days = pl.date_range(pl.lit(start).str.to_date(), pl.lit(end).str.to_date(), eager=True)
    return [day.isoformat() for day in days]


def verdict(
    passed: bool,
    broken: pl.DataFrame | None = None,
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
    **metadata: Any,
) -> dg.AssetCheckResult:
    """Returns a check's result with the ids of the first offending rows."""
    shown = {} if broken is None or broken.is_empty() else {"offending_rows": broken.height, "examples": _examples(broken)}
    return dg.AssetCheckResult(passed=passed, severity=severity, metadata={**metadata, **shown})


def schema_check(table: str) -> dg.AssetChecksDefinition:
    """Returns the blocking check that a table's rows fit its schema and repeat no key."""

    @dg.asset_check(
        asset=table,
        name="schema_and_unique_keys",
        blocking=True,
        description=f"Every row of {table} fits the schema; no two rows share {', '.join(schemas.key_of(table))}.",
    )
    def check(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
        frame = store.tables.read(table, parts_in_run(context))
        try:
            schemas.check(table, frame)
        except TableError as error:
            repeated = frame.group_by(schemas.key_of(table)).len().filter(pl.col("len") > 1)
            return verdict(False, repeated, problem=str(error)[:500])
        return verdict(True, rows=frame.height)

    return check


def rows_check(
    table: str,
    name: str,
    description: str,
    find_broken: Callable[[Store, list[str] | None], pl.DataFrame],
    *,
    blocking: bool = True,
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
) -> dg.AssetChecksDefinition:
    """Returns a check that passes when `find_broken` finds no row; it receives the store and the run's days."""

    @dg.asset_check(asset=table, name=name, blocking=blocking, description=description)
    def check(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
        broken = find_broken(store, parts_in_run(context))
        return verdict(broken.is_empty(), broken, severity)

    return check


def no_secrets_check(table: str) -> dg.AssetChecksDefinition:
    """Returns the blocking check that no text of any column of the table holds a secret that masking knows."""
    columns = text_columns(table)

    def find_secrets(store: Store, parts: list[str] | None) -> pl.DataFrame:
        key = schemas.key_of(table)
        read = store.tables.read(table, parts, columns=list(dict.fromkeys([*key, *columns])))
        frame = read.with_columns(pl.col(pl.List(pl.String)).list.join("\n"))
        suspicious = [column for column in columns if count_secrets(frame[column])]
        hits = [
            frame.filter(pl.Series([bool(find(text or "")) for text in frame[column]])).select(key) for column in suspicious
        ]
        return pl.concat(hits) if hits else frame.select(key).clear()

    return rows_check(table, "no_secrets", "No text holds a key, token or password.", find_secrets)


def in_one_step(checks: Iterable[dg.AssetChecksDefinition]) -> list[dg.AssetChecksDefinition]:
    """Returns the same checks, those of one asset in one step: Dagster starts, records and ends one step for all."""
    by_asset: dict[dg.AssetKey, list[tuple[dg.AssetCheckSpec, Check]]] = {}
    for check in checks:
        function: Any = check.op.compute_fn
        for spec in check.check_specs:
            by_asset.setdefault(spec.asset_key, []).append((spec, function.decorated_fn))
    return [_one_step(key, found) for key, found in by_asset.items()]


def _one_step(key: dg.AssetKey, checks: Sequence[tuple[dg.AssetCheckSpec, Check]]) -> dg.AssetChecksDefinition:
    @dg.multi_asset_check(name=f"{key.to_python_identifier()}_checks", specs=[spec for spec, _ in checks], can_subset=True)
    def run_checks(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> Iterator[dg.AssetCheckResult]:
        for spec, check in checks:
            if spec.key in context.selected_asset_check_keys:
                yield check(context, store)._replace(asset_key=spec.asset_key, check_name=spec.name)

    return run_checks


def fresh(*, days: int) -> dg.FreshnessPolicy:
    """Returns the policy that turns an asset red when it was not materialised for so many days."""
    return dg.FreshnessPolicy.time_window(fail_window=timedelta(days=days), warn_window=timedelta(days=days) / 2)


def _examples(broken: pl.DataFrame) -> dg.MarkdownMetadataValue:
    plain = [name for name, dtype in broken.schema.items() if dtype not in (pl.List(pl.String), pl.List(pl.Int64))]
    head = broken.select(plain).head(SHOWN)
    lines = ["| " + " | ".join(plain) + " |", "|" + "---|" * len(plain)]
    lines += ["| " + " | ".join(str(value)[:60] for value in row) + " |" for row in head.iter_rows()]
    return dg.MetadataValue.md("\n".join(lines))
