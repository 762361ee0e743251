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
COUNTS = "partitions rows extracted allowed held discarded deduplicated".split()
SLOWEST = 12
"""Steps in the UI's table."""

NO_BREAK = "\u2011"
"""A hyphen at which the UI breaks no line."""


@per_partition
def quality(store: Store, day: str) -> pl.DataFrame:
    """Measures the facts of a day against their own sources."""
    read = store.tables.read
    columns = ["message_id", "text", "author", "is_user_turn"]
    messages = read("messages", [day], columns=columns)
    return measure_day(
        date.fromisoformat(day), read("verdicts", [day]), read("observations", [day]), messages
    )


def quality_report(store: Store, table: str, days: Sequence[str]) -> Report:
    """Returns the figures of the days for plots, and a table of them, because the UI's plots begin
    120 days ago.
    """
    rows = store.tables.read(table, days)
    by_day = {
        day.isoformat(): own
        for (day,), own in sorted(rows.partition_by("day", as_dict=True).items())
    }
    figures = {day: {**figures_of(own), **charts_of(own)} for day, own in by_day.items()}
    lines = [
        "| day | candidates | allowed | junk | faults of allowed facts |",
        "|---|---:|---:|---:|---|",
    ]
    for day, own in by_day.items():
        counts = figures[day]
        junk = f"{counts['junk_share']:.0%}" if "junk_share" in counts else ""
        faults = {fault: count_of(own, fault, "allow") for fault in ("repeated", *FAULTS)}
        named = ", ".join(
            f"{count} {fault.replace('_', ' ')}" for fault, count in faults.items() if count
        )
        lines.append(
            f"| {day.replace('-', NO_BREAK)} | {counts['candidates']} | {counts['allowed']} "
            f"| {junk} | {named} |"
        )
    return Report({"by_day": Markdown("\n".join(lines))}, by_partition=figures)


def figures_of(rows: pl.DataFrame) -> dict[str, Any]:
    """Returns the counts and shares of a day (or of several) to plot; a share of no rows is left
    out.
    """
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
    return {
        **counts,
        **{name: round(share, 4) for name, share in shares.items() if share is not None},
    }


def charts_of(rows: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Returns the counts of each mix, and of the faults that there are."""
    mixes = {
        f"{mix}_mix": values_of(rows, mix)
        for mix in ("verdict", "reason", "priority", "category", "parse_path")
    }
    faults = {
        f"{fault} ({gate})": count_of(rows, fault, gate)
        for gate in GATES
        for fault in ("repeated", *FAULTS)
    }
    charts = {**mixes, "faults": {name: count for name, count in faults.items() if count}}
    return {name: counts for name, counts in charts.items() if counts}


def values_of(rows: pl.DataFrame, measure: str) -> dict[str, int]:
    """Returns how often each value of the measure was counted, the most frequent first."""
    own = rows.filter(measure=measure).group_by("value").agg(pl.col("count").sum())
    return dict(own.sort(pl.col("count").neg(), "value").iter_rows())


@per_partition
def telemetry(store: Store, _: str) -> pl.DataFrame:
    """Returns the events of all steps: those of the table, and those that were logged since."""
    known = store.tables.read("telemetry")
    none = dict.fromkeys(COUNTS, 0)
    logged = frame_of(
        "telemetry", [{**none, **event.pop("counts"), **event} for event in read_steps(store.root)]
    )
    kept = pl.col("at") >= store.settings.clock() - TELEMETRY_KEPT
    return pl.concat([known, logged]).unique("event_id").filter(kept).sort("at", "event_id")


def slowest(store: Store, table: str, _: Sequence[str]) -> Report:
    """Returns the steps that took most time in the last seven days, and how often each failed."""
    since = store.settings.clock() - timedelta(days=7)
    rows = store.tables.read(table).filter(pl.col("at") >= since)
    steps = rows.group_by("action").agg(
        pl.len(),
        pl.col("duration_ms").sum(),
        mean=pl.col("duration_ms").mean(),
        failed=(~pl.col("success")).sum(),
    )
    lines = ["| step | runs | failed | mean | all |", "|---|---:|---:|---:|---:|"]
    for row in (
        steps.sort("duration_ms", "action", descending=[True, False])
        .head(SLOWEST)
        .iter_rows(named=True)
    ):
        times = f"{row['mean'] / 1e3:.2f} s | {row['duration_ms'] / 1e3:.1f} s"
        lines.append(f"| {row['action']} | {row['len']} | {row['failed']} | {times} |")
    return Report(
        {
            "last_7_days": Markdown("\n".join(lines)),
            "failed_in_7_days": int((~rows["success"]).sum()),
        }
    )
