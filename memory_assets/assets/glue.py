"""What all assets share: how a table is declared to Dagster, and how its days are materialised.

`table_asset` gives an asset its group, owner, kinds, code version and the column schema of its table. `materialise_days`
walks the days of a run, skips those whose inputs did not change, and writes the rest. Metadata holds counts, ids and small
plots, never text of messages or observations: Dagster keeps metadata for ever, out of reach of masking and forgetting.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, get_args

import dagster as dg
import polars as pl
from dagster_pandera import pandera_schema_to_dagster_type

from memory_assets.schema import frames as schemas
from memory_assets.schema.progress import track
from memory_assets.schema.records import Category
from memory_assets.store.store import Store

OWNERS = ["team:memory"]
DAYS_PER_RUN = 31
"""A backfill is cut into runs of a month: small enough to redo, large enough that start-up does not matter."""

INDEX_POOL = "index"
"""Pool of one: a single run writes the indexes at a time."""

FIRST_DAY = "2024-01-01"
START_ATTEMPTS = dg.RetryPolicy(max_retries=2, delay=5, backoff=dg.Backoff.EXPONENTIAL)


def days_in(zone: str) -> dg.DailyPartitionsDefinition:
    """Returns the day partitions in the zone; today exists from its first minute."""
    return dg.DailyPartitionsDefinition(start_date=FIRST_DAY, timezone=zone, end_offset=1)


def weeks_in(zone: str) -> dg.WeeklyPartitionsDefinition:
    """Returns the finished weeks in the zone; each begins on a Monday and is named after it."""
    return dg.WeeklyPartitionsDefinition(start_date=FIRST_DAY, timezone=zone, day_offset=1)


def months_in(zone: str) -> dg.MonthlyPartitionsDefinition:
    """Returns the finished months in the zone, each named after its first day."""
    return dg.MonthlyPartitionsDefinition(start_date=FIRST_DAY, timezone=zone)


DAYS, WEEKS, MONTHS = days_in("UTC"), weeks_in("UTC"), months_in("UTC")
"""Stand in while modules are imported; `definitions` puts those in the owner's zone in their place."""


CATEGORIES = dg.StaticPartitionsDefinition(get_args(Category))
"""What is known by category."""


@cache
def column_schema(table: str) -> dg.TableSchema:
    """Returns the table's columns, types, bounds and descriptions as Dagster shows them, from its pandera schema."""
    dagster_type = pandera_schema_to_dagster_type(schemas.checks_of(table))
    schema = dagster_type.metadata["schema"].value
    assert isinstance(schema, dg.TableSchema)
    return schema


def table_spec(table: str, *, group: str, version: str, daily: bool, deps: Sequence[str], **extra: Any) -> dict[str, Any]:
    """Returns the arguments that declare an asset of the table's name."""
    return {
        "group_name": group,
        "owners": OWNERS,
        "kinds": {"polars", "parquet"},
        "code_version": version,
        "deps": list(deps),
        "metadata": {"dagster/column_schema": column_schema(table), "dagster/table_name": table},
        **({"partitions_def": DAYS} if daily else {}),
        **extra,
    }


def table_asset(table: str, *, group: str, version: str, daily: bool, deps: Sequence[str] = (), **extra: Any):
    """Declares the decorated function as the asset that writes the table."""
    arguments = table_spec(table, group=group, version=version, daily=daily, deps=deps, **extra)
    if daily:
        arguments["backfill_policy"] = dg.BackfillPolicy.multi_run(DAYS_PER_RUN)
    return dg.asset(name=table, retry_policy=START_ATTEMPTS, **arguments)


def materialise_days(
    context: dg.AssetExecutionContext,
    store: Store,
    table: str,
    inputs: Callable[[str], str],
    build: Callable[[str], pl.DataFrame | Iterable[pl.DataFrame]],
) -> dg.MaterializeResult:
    """Writes the run's days of the table; a day whose inputs are those it was made from is left as it is.

    The store is locked for one day at a time, so that a long range keeps no other writer waiting for its end.
    """
    days = context.partition_keys
    written = 0
    present = store.tables.parts(table, days)
    for day in track(days, table):
        wanted = inputs(day)
        if day in present and present[day].inputs == wanted:
            continue
        with store.lock():
            store.tables.write(table, day, build(day), inputs=wanted)
        written += 1
    return result_of(context, store, table, days, written)


def result_of(
    context: dg.AssetExecutionContext,
    store: Store,
    table: str,
    days: Sequence[str],
    written: int,
    extra: Mapping[str, Any] | None = None,
) -> dg.MaterializeResult:
    """Returns what Dagster is told of a daily table: rows of the run, of each day, and of the whole."""
    parts = store.tables.parts(table)
    for day in days:
        context.add_asset_metadata(
            {"dagster/partition_row_count": parts[day].rows if day in parts else 0}, partition_key=day, asset_key=table
        )
    return dg.MaterializeResult(
        asset_key=table,
        metadata={
            "dagster/row_count": sum(info.rows for info in parts.values()),
            "rows_in_run": sum(parts[day].rows for day in days if day in parts),
            "days_written": written,
            "days_unchanged": len(days) - written,
            "megabytes": round(sum(info.bytes for info in parts.values()) / 1e6, 3),
            **(extra or {}),
        },
    )


def write_whole(store: Store, table: str, frame: pl.DataFrame, inputs: str, **extra: Any) -> dg.MaterializeResult:
    """Replaces an unpartitioned table and returns what Dagster is told of it."""
    info = store.tables.write(table, "all", frame, inputs=inputs)
    return dg.MaterializeResult(
        asset_key=table,
        metadata={"dagster/row_count": info.rows, "megabytes": round(info.bytes / 1e6, 3), **extra},
    )


def bars(counts: Mapping[str, int]) -> dg.MarkdownMetadataValue:
    """Returns the counts as a small bar chart."""
    most = max(counts.values(), default=0) or 1
    lines = [f"| {name} | `{'█' * round(24 * count / most):<24}` | {count} |" for name, count in counts.items()]
    return dg.MetadataValue.md("| | | |\n|---|---|---:|\n" + "\n".join(lines))


def counts_of(frame: pl.DataFrame, column: str) -> dict[str, int]:
    """Returns how often each value of the column occurs, by name."""
    return dict(frame.group_by(column).len().sort(column).iter_rows())
