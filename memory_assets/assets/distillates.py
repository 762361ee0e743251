"""Weeks and months as assets, distilled from the reflections of their days, and what became of every fact on the way."""

from collections.abc import Iterator
from datetime import date
from functools import partial

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.condensing import days_of, materialise_told
from memory_assets.assets.glue import (
    DAYS_PER_RUN,
    MONTHS,
    WEEKS,
    bars,
    counts_of,
    table_asset,
)
from memory_assets.assets.reflect import GROUP, citations_check
from memory_assets.runs.pending import made_from, telling_inputs
from memory_assets.stages.reflect import DISTILLER
from memory_assets.stages.reflect.dropped import find_vanished, list_dropped
from memory_assets.stages.reflect.gradient import DAY, MONTH, SPANS, TABLE_OF, WEEK, Span
from memory_assets.store.store import Store

DROPPED = "dropped_facts"
DROPPED_VERSION = "dropped/1"
IN_RUNS = dg.BackfillPolicy.multi_run(DAYS_PER_RUN)


@table_asset(
    "weekly_distillates",
    group=GROUP,
    version=DISTILLER,
    daily=False,
    deps=["reflections"],
    partitions_def=WEEKS,
    backfill_policy=IN_RUNS,
)
def weekly_distillates(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What the days of a finished week say together about each project, shorter than they do, with their citations."""
    return materialise_told(context, store, WEEK)


@table_asset(
    "monthly_distillates",
    group=GROUP,
    version=DISTILLER,
    daily=False,
    deps=["reflections"],
    partitions_def=MONTHS,
    backfill_policy=IN_RUNS,
)
def monthly_distillates(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What the days of a finished month say together about each project, shorter than its weeks, with their citations."""
    return materialise_told(context, store, MONTH)


@table_asset(DROPPED, group=GROUP, version=DROPPED_VERSION, daily=False, deps=list(TABLE_OF.values()))
def dropped_facts(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Facts that a day, a week or a month does not tell, each with the reason and the memory that holds it now."""
    with store.lock():
        written = sum(_list_anew(store, span) for span in SPANS)
    found = store.tables.read(DROPPED, columns=["span", "reason"])
    mix = {f"dropped_by_{span.name}": bars(counts_of(found.filter(pl.col("span") == span.name), "reason")) for span in SPANS}
    return dg.MaterializeResult(
        asset_key=DROPPED, metadata={"dagster/row_count": found.height, "parts_written": written, **mix}
    )


def _list_anew(store: Store, span: Span) -> int:
    """Lists what the span's parts drop that were written since they were listed; returns how many parts those are."""
    sources, present = store.tables.parts(TABLE_OF[span.name]), store.tables.parts(DROPPED)
    for part in present:
        if part.startswith(f"{span.name}-") and part.removeprefix(f"{span.name}-") not in sources:
            store.tables.drop(DROPPED, part)
    due = {
        part: info
        for part, info in sources.items()
        if (known := present.get(f"{span.name}-{part}")) is None or known.inputs != info.fingerprint
    }
    for part, info in due.items():
        rows = list_dropped(span.name, store.tables.read(TABLE_OF[span.name], [part]))
        store.tables.write(DROPPED, f"{span.name}-{part}", rows, inputs=info.fingerprint)
    return len(due)


def _vanished(store: Store, parts: list[str] | None) -> pl.DataFrame:
    return pl.concat(_vanished_in(store, span, parts) for span in SPANS)


def _vanished_in(store: Store, span: Span, parts: list[str] | None) -> pl.DataFrame:
    """Returns the facts that the span's parts read and neither tell nor list; parts that are due to be made anew can wait."""
    wanted, table = telling_inputs(store, span), TABLE_OF[span.name]
    present = [part for part, info in store.tables.parts(table, parts).items() if made_from(info) == wanted.get(part)]
    told = store.tables.read(table, present)
    dropped = store.tables.read(DROPPED, [f"{span.name}-{part}" for part in present])
    return find_vanished(span.name, _read_by(store, span, present), told, dropped)


def _read_by(store: Store, span: Span, parts: list[str]) -> Iterator[str]:
    """Yields what the parts were made from: all allowed facts of a day, and what its days tell of a week or month."""
    days = {day for part in parts for day in days_of(span, date.fromisoformat(part))}
    if span == DAY:
        seen = store.tables.read("observations", days)
        yield from seen.filter((pl.col("kind") == "fact") & (pl.col("gate") == "allow"))["id"]
    else:
        yield from store.tables.read("reflections", days)["observation_ids"].explode().drop_nulls()


def _longer_than_days(span: Span, store: Store, parts: list[str] | None) -> pl.DataFrame:
    """Returns the weeks or months that take more tokens than the reflections they are made from."""
    told = store.tables.read(TABLE_OF[span.name], parts, columns=["day", "output_tokens"])
    days = {day for first in told["day"].unique() for day in days_of(span, first)}
    reflected = store.tables.read("reflections", days, columns=["day", "output_tokens"])
    first = pl.col("day").map_elements(span.first_day, pl.Date)
    of_days = reflected.group_by(first).agg(pl.col("output_tokens").sum().alias("tokens_of_days"))
    found = told.group_by("day").agg(pl.col("output_tokens").sum()).join(of_days, on="day").sort("day")
    return found.filter(pl.col("output_tokens") > pl.col("tokens_of_days"))


TABLES = ("weekly_distillates", "monthly_distillates", DROPPED)
ASSETS = [weekly_distillates, monthly_distillates, dropped_facts]
CHECKS = [
    *(schema_check(table) for table in TABLES),
    *(no_secrets_check(table) for table in TABLES),
    citations_check("weekly_distillates"),
    citations_check("monthly_distillates"),
    *(
        rows_check(
            TABLE_OF[span.name],
            "shorter_than_its_days",
            f"No {span.name} takes more tokens than the reflections of its days.",
            partial(_longer_than_days, span),
            blocking=False,
            severity=dg.AssetCheckSeverity.WARN,
        )
        for span in (WEEK, MONTH)
    ),
    rows_check(
        DROPPED, "nothing_vanished", "Every fact that was read is told, or has a row that says where it went.", _vanished
    ),
]
