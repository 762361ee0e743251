"""Builds the measures of the quality of each day, and of the steps of the pipeline."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import polars as pl

from memory_assets.runs.results import Markdown, Report, per_partition
from memory_assets.schema.frames import frame_of
from memory_assets.stages.maintain.fact_quality import (
    GATES,
    count_of,
    loosely_read,
    measure_day,
    share_of,
)
from memory_assets.stages.maintain.faults import FAULTS
from memory_assets.store.store import Store
from memory_assets.store.telemetry import read_steps

TELEMETRY_KEPT = timedelta(days=400)
"""Events of steps that are older leave the table `telemetry`."""

COUNTS = "partitions rows extracted allowed held discarded deduplicated".split()
"""Columns of `telemetry` that are 0 where a step counted nothing."""

SLOWEST = 12
"""Number of steps in the table for the UI."""

NO_BREAK = "\u2011"
"""A hyphen at which the UI breaks no line."""


@per_partition
def quality(store: Store, day: str) -> pl.DataFrame:
    """Measures the facts of a day against their own sources."""
    read = store.tables.read
    messages = read("messages", [day], columns=["message_id", "text", "author", "is_user_turn"])
    verdicts = read("verdicts", [day])
    return measure_day(date.fromisoformat(day), verdicts, read("observations", [day]), messages)


def quality_report(store: Store, table: str, days: Sequence[str]) -> Report:
    """Returns the figures of the days for plots, and a table of them.

    The plots of the UI begin 120 days ago, so the table shows older days.
    """
    rows_of_days = store.tables.read(table, days).sort("day", maintain_order=True)
    by_day = rows_of_days.partition_by("day", as_dict=True, maintain_order=True)
    figures: dict[str, dict[str, Any]] = {}
    lines = [
        "| day | candidates | allowed | junk | faults of allowed facts |",
        "|---|---:|---:|---:|---|",
    ]
    for (day,), rows in by_day.items():
        name = day.isoformat()
        counts = figures_of(rows) | charts_of(rows)
        figures[name] = counts
        junk = f"{counts['junk_share']:.0%}" if "junk_share" in counts else ""
        faults = {fault: count_of(rows, fault, "allow") for fault in ("repeated", *FAULTS)}
        named = [f"{count} {fault.replace('_', ' ')}" for fault, count in faults.items() if count]
        lines.append(
            f"| {name.replace('-', NO_BREAK)} | {counts['candidates']} | {counts['allowed']} "
            f"| {junk} | {', '.join(named)} |"
        )
    return Report({"by_day": Markdown("\n".join(lines))}, by_partition=figures)


def figures_of(rows: pl.DataFrame) -> dict[str, Any]:
    """Returns the counts and shares to plot, without shares of no rows."""
    verdicts = {"allowed": "allow", "held": "hold", "discarded": "discard"}
    counts = {"candidates": count_of(rows, "verdict")}
    counts |= {name: count_of(rows, "verdict", verdict) for name, verdict in verdicts.items()}
    counts |= {f"allowed_{fault}": count_of(rows, fault, "allow") for fault in FAULTS}
    shares = {
        "allowed_share": share_of(rows, "verdict", "allow"),
        "junk_share": share_of(rows, "junk", "candidates"),
        "repeated_share": share_of(rows, "repeated", "allow"),
        "loosely_read_share": loosely_read(rows),
        "high_priority_share": share_of(rows, "priority", "high"),
    }
    return counts | {name: round(share, 4) for name, share in shares.items() if share is not None}


def charts_of(rows: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Returns the counts to show as bars: of the values of some columns, and of faults."""
    mixes = ("verdict", "reason", "priority", "category", "parse_path")
    charts = {f"{mix}_mix": values_of(rows, mix) for mix in mixes}
    charts["faults"] = {}
    for gate in GATES:
        for fault in ("repeated", *FAULTS):
            count = count_of(rows, fault, gate)
            if count:
                charts["faults"][f"{fault} ({gate})"] = count
    return {name: counts for name, counts in charts.items() if counts}


def values_of(rows: pl.DataFrame, measure: str) -> dict[str, int]:
    """Returns how often each value of the measure was counted, the most frequent first."""
    values = rows.filter(measure=measure).group_by("value").agg(pl.col("count").sum())
    return dict(values.sort(pl.col("count").neg(), "value").iter_rows())


@per_partition
def telemetry(store: Store, _: str) -> pl.DataFrame:
    """Returns the events of all steps: those of the table, and those that were logged since."""
    zeros = dict.fromkeys(COUNTS, 0)
    steps = [zeros | event.pop("counts") | event for event in read_steps(store.root)]
    events = pl.concat([store.tables.read("telemetry"), frame_of("telemetry", steps)])
    is_recent = pl.col("at") >= store.settings.clock() - TELEMETRY_KEPT
    return events.unique("event_id").filter(is_recent).sort("at", "event_id")


def slowest_steps(store: Store, table: str, _: Sequence[str]) -> Report:
    """Returns the steps that took most time in the last seven days, and how many failed."""
    since = store.settings.clock() - timedelta(days=7)
    rows = store.tables.read(table).filter(pl.col("at") >= since)
    steps = rows.group_by("action").agg(
        pl.len(),
        pl.col("duration_ms").sum(),
        mean=pl.col("duration_ms").mean(),
        failed=(~pl.col("success")).sum(),
    )
    steps = steps.sort("duration_ms", "action", descending=[True, False]).head(SLOWEST)
    lines = ["| step | runs | failed | mean | all |", "|---|---:|---:|---:|---:|"]
    for row in steps.iter_rows(named=True):
        times = f"{row['mean'] / 1e3:.2f} s | {row['duration_ms'] / 1e3:.1f} s"
        lines.append(f"| {row['action']} | {row['len']} | {row['failed']} | {times} |")
    failed = int((~rows["success"]).sum())
    return Report({"last_7_days": Markdown("\n".join(lines)), "failed_in_7_days": failed})


BUILDERS = (quality, telemetry)
"""The functions that build the tables of their names (`runs.builders`)."""
