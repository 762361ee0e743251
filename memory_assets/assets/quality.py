"""Quality as assets: how good each day's observations are, and how well they cover sessions that people labelled.

Numbers go into metadata by day, so that the UI plots them over days; checks name the facts that break a promise. The
promises of single facts stand at `observations`, where they can be broken; the rates of many at `quality`. None of them stops
a run: the gate has held back what it could see, and one fact that it did not see is no reason to learn nothing of a month.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, parts_in_run, rows_check, schema_check, verdict
from memory_assets.assets.glue import bars, materialise_days, table_asset
from memory_assets.runs.pending import quality_inputs
from memory_assets.stages.evaluate.faults import FAULTS
from memory_assets.stages.evaluate.quality import (
    GATES,
    QUALITY_VERSION,
    count_of,
    find_faulty,
    find_repeated,
    loosely_read,
    measure_day,
    share_of,
)
from memory_assets.store.store import Store

GROUP = "quality"
NO_BREAK = "\u2011"
"""A hyphen at which the UI breaks no line."""

MOST_JUNK = 0.4
"""The rules' candidates are junk to a sixth on real sessions. Where it is nearly half, whoever observes keeps everything, and
what the gate lets through by mistake grows with it."""

MOST_REPEATED = 0.02
"""Facts of one window are told apart already; repeats come from windows that overlap or answers that say things twice."""

MOST_LOOSE = 0.05
"""One answer in twenty in another form than was asked for: the prompt and the model have drifted apart."""

MOST_ADRIFT = 0.1
"""Of 247 facts that readers wrote down, none begins with `it` or `this` or as a turn of a conversation; one in ten that does
makes readers stop trusting that a line stands alone."""

ADRIFT = ("dangling", "conversational")


@table_asset("quality", group=GROUP, version=QUALITY_VERSION, daily=True, deps=["messages", "observations", "verdicts"])
def quality(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """How good what was kept of each day is: mixes, junk, repeats and faults of facts, told from their own sources."""
    days = context.partition_keys
    inputs = quality_inputs(store.tables, days)
    result = materialise_days(context, store, "quality", inputs=inputs.__getitem__, build=lambda day: _measure(store, day))
    own = store.tables.read("quality", days).partition_by("day", as_dict=True)
    by_day = {day.isoformat(): rows for (day,), rows in sorted(own.items())}
    for day, rows in by_day.items():
        context.add_asset_metadata({**figures_of(rows), **charts_of(rows)}, partition_key=day, asset_key="quality")
    return result._replace(metadata={**(result.metadata or {}), "by_day": table_of(by_day)})


def _measure(store: Store, day: str) -> pl.DataFrame:
    columns = ["message_id", "text", "author", "is_user_turn"]
    return measure_day(
        date.fromisoformat(day),
        store.tables.read("verdicts", [day]),
        store.tables.read("observations", [day]),
        store.tables.read("messages", [day], columns=columns),
    )


def figures_of(rows: pl.DataFrame) -> dict[str, Any]:
    """Returns the numbers of a day (or of several) that are worth a plot; a share of nothing is left out."""
    counts = {
        "candidates": count_of(rows, "verdict"),
        "allowed": count_of(rows, "verdict", "allow"),
        "held": count_of(rows, "verdict", "hold"),
        "discarded": count_of(rows, "verdict", "discard"),
        **{f"allowed_{fault}": count_of(rows, fault, "allow") for fault in FAULTS},
    }
    shares = {
        "allowed_share": share_of(rows, "verdict", "allow"),
        "junk_share": share_of(rows, "junk", "candidates"),
        "repeated_share": share_of(rows, "repeated", "allow"),
        "loosely_read_share": loosely_read(rows),
        "high_priority_share": share_of(rows, "priority", "high"),
    }
    return {**counts, **{name: round(share, 4) for name, share in shares.items() if share is not None}}


def charts_of(rows: pl.DataFrame) -> dict[str, dg.MarkdownMetadataValue]:
    """Returns a bar chart of each mix, and one of the faults that there are."""
    mixes = {f"{mix}_mix": _counts(rows, mix) for mix in ("verdict", "reason", "priority", "category", "parse_path")}
    faults = {f"{fault} ({gate})": count_of(rows, fault, gate) for gate in GATES for fault in ("repeated", *FAULTS)}
    charts = {**mixes, "faults": {name: count for name, count in faults.items() if count}}
    return {name: bars(counts) for name, counts in charts.items() if counts}


def table_of(by_day: Mapping[str, pl.DataFrame]) -> dg.MarkdownMetadataValue:
    """Returns the days of a run, one line each: the plots of the UI begin 120 days ago, an import does not."""
    lines = ["| day | candidates | allowed | junk | faults of allowed facts |", "|---|---:|---:|---:|---|"]
    for day, rows in by_day.items():
        told = figures_of(rows)
        junk = f"{told['junk_share']:.0%}" if "junk_share" in told else ""
        faults = {fault: count_of(rows, fault, "allow") for fault in ("repeated", *FAULTS)}
        named = ", ".join(f"{count} {fault.replace('_', ' ')}" for fault, count in faults.items() if count)
        lines.append(f"| {day.replace('-', NO_BREAK)} | {told['candidates']} | {told['allowed']} | {junk} | {named} |")
    return dg.MetadataValue.md("\n".join(lines))


def _counts(rows: pl.DataFrame, measure: str) -> dict[str, int]:
    own = rows.filter(pl.col("measure") == measure).group_by("value").agg(pl.col("count").sum())
    return dict(own.sort(pl.col("count").neg(), "value").iter_rows())


def find_allowed_with(faults: Sequence[str], store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns the allowed facts of the days that have one of the faults."""
    allowed = store.tables.scan("observations", days).filter(pl.col("gate") == "allow").collect()
    said = store.tables.read("messages", days, columns=["message_id", "text", "author", "is_user_turn"])
    return find_faulty(allowed, said).filter(pl.col("fault").is_in(faults)).select("id", "day", "fault")


def _ungrounded(store: Store, days: list[str] | None) -> pl.DataFrame:
    return find_allowed_with(["ungrounded"], store, days)


def _invented_times(store: Store, days: list[str] | None) -> pl.DataFrame:
    return find_allowed_with(["invented_time"], store, days)


def _owner_unheard(store: Store, days: list[str] | None) -> pl.DataFrame:
    return find_allowed_with(["owner_unheard"], store, days)


def _judge(share: float | None, most: float, broken: pl.DataFrame | None = None, **more: Any) -> dg.AssetCheckResult:
    """Returns the outcome of a rate: a warning above the most that it may be, with the offending rows."""
    measured = {} if share is None else {"share": round(share, 4)}
    passed = share is None or share <= most
    return verdict(passed, broken, dg.AssetCheckSeverity.WARN, limit=most, **measured, **more)


@dg.asset_check(
    asset="quality",
    name="few_candidates_are_junk",
    description=f"At most {MOST_JUNK:.0%} of the candidates are nothing to keep.",
)
def few_candidates_are_junk(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Warns where whoever observes proposes too much that the gate stops for what it is."""
    rows = store.tables.read("quality", parts_in_run(context))
    return _judge(share_of(rows, "junk", "candidates"), MOST_JUNK, junk=count_of(rows, "junk"))


@dg.asset_check(
    asset="quality",
    name="few_facts_are_repeats",
    description=f"At most {MOST_REPEATED:.0%} of the allowed facts say what an earlier one of their day and scope says.",
)
def few_facts_are_repeats(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Warns where the same is allowed again and again, and names the pairs."""
    days = parts_in_run(context)
    rows = store.tables.read("quality", days)
    repeated = find_repeated(store.tables.read("observations", days)).filter(pl.col("gate") == "allow")
    return _judge(share_of(rows, "repeated", "allow"), MOST_REPEATED, repeated.select("id", "day", "same_as"))


@dg.asset_check(
    asset="quality",
    name="answers_are_read_as_asked",
    description=f"At most {MOST_LOOSE:.0%} of the candidates come from answers in another form than the prompt states.",
)
def answers_are_read_as_asked(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Warns where a model's answers had to be read by one of the tolerant ways."""
    rows = store.tables.read("quality", parts_in_run(context))
    return _judge(loosely_read(rows), MOST_LOOSE, paths=bars(_counts(rows, "parse_path")))


@dg.asset_check(
    asset="quality",
    name="allowed_facts_stand_alone",
    description=f"At most {MOST_ADRIFT:.0%} of allowed facts begin with something said before, or as a turn of a conversation.",
)
def allowed_facts_stand_alone(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Warns where facts cannot be understood without their session, and names them."""
    days = parts_in_run(context)
    adrift = find_allowed_with(ADRIFT, store, days)
    allowed = count_of(store.tables.read("quality", days), "priority")
    share = adrift["id"].n_unique() / allowed if allowed else None
    return _judge(share, MOST_ADRIFT, adrift)


ASSETS = [quality]
CHECKS = [
    schema_check("quality"),
    no_secrets_check("quality"),
    rows_check(
        "observations",
        "allowed_facts_are_grounded",
        "Half of an allowed fact's content words, at least, stand in the messages that it rests on.",
        _ungrounded,
        blocking=False,
    ),
    rows_check(
        "observations",
        "no_invented_clock_times",
        "No allowed fact names a clock time that its source does not.",
        _invented_times,
        blocking=False,
    ),
    rows_check(
        "observations",
        "the_owner_is_heard",
        "Allowed facts that speak for the owner rest on a turn of the owner's.",
        _owner_unheard,
        blocking=False,
        severity=dg.AssetCheckSeverity.WARN,
    ),
    few_candidates_are_junk,
    few_facts_are_repeats,
    answers_are_read_as_asked,
    allowed_facts_stand_alone,
]
