"""Builds the measures of quality: of each day, on labelled sessions, and against what people
decided.
"""

import shutil
import subprocess
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.runs.materialise import Markdown, Report, Rows, per_partition
from memory_assets.schema.frames import empty, frame_of
from memory_assets.schema.tables import version_of
from memory_assets.services.calibration import calibration_of
from memory_assets.stages.evaluate.calibration import ENOUGH, NO, YES, sum_up
from memory_assets.stages.evaluate.faults import FAULTS
from memory_assets.stages.evaluate.gold import (
    MEASURES,
    Evaluation,
    evaluate,
    evaluation_rows,
    sessions_in,
)
from memory_assets.stages.evaluate.labels import hash_of_labels, read_labels
from memory_assets.stages.evaluate.quality import (
    GATES,
    count_of,
    loosely_read,
    measure_day,
    share_of,
)
from memory_assets.store.places import CHECKOUT
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
    read, columns = store.tables.read, ["message_id", "text", "author", "is_user_turn"]
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
def evaluation(store: Store, _: str) -> Rows:
    """Scores the observations against the labelled sessions, where the setting names some; raises
    `LabelsError`.
    """
    tables, folder = store.tables, store.settings.gold
    if folder is None:
        return Rows(
            empty("evaluation"),
            {"labels": "no labelled sessions: name their folder in MEMORY_GOLD"},
        )
    if not {one.session for one in read_labels(folder)} & sessions_in(tables):
        return Rows(
            empty("evaluation"),
            {"labels": f"no labelled sessions: none of those in {folder} is in this store"},
        )
    found = evaluate(tables, folder)
    rows = evaluation_rows(
        found, version=version_of("observations"), labels_hash=hash_of_labels(found.labels)
    )
    return Rows(frame_of("evaluation", rows), _scores(found))


def _scores(found: Evaluation) -> dict[str, Any]:
    """Returns the scores to plot, and the versions and labels that they belong to."""
    score = found.score
    return {
        **{name: round(getattr(score.counts, name), 4) for name in MEASURES},
        **{
            f"{name}_interval_{end}": pair[n]
            for n, end in enumerate(("low", "high"))
            for name, pair in score.intervals.items()
        },
        "sessions": len(score.sessions),
        "sessions_at_zero": len(score.at_zero),
        "sessions_missing": len(found.missing),
        "allowed_per_session": round(score.allowed_per_session, 2),
        "most_in_a_session": score.most_in_a_session,
        "distill_version": version_of("observations"),
        "observer": ", ".join(found.observers),
        "code": _commit(),
        "labels": str(found.labels),
        "percent_of_labels_found": {
            one.session: round(100 * one.counts.recall) for one in score.sessions
        },
    }


def _commit() -> str:
    """Returns the commit of the running checkout; `installed` where the package is installed."""
    if not Path(CHECKOUT, ".git").exists() or shutil.which("git") is None:
        return "installed"
    done = subprocess.run(
        ["git", "-C", CHECKOUT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    return done.stdout.strip() or "installed"


@per_partition
def calibration(store: Store, _: str) -> Rows:
    """Compares every verdict with people's decisions."""
    frame = calibration_of(store)
    return Rows(frame, precision_of(frame))


def precision_of(frame: pl.DataFrame) -> dict[str, Any]:
    """Returns the precision of each verdict that people decided on, and the calibration of the
    confidence of proposals.
    """
    verdicts = sum_up(frame.filter(pl.col("judge") != "confidence"), ["judge", "verdict"])
    decided = verdicts.filter(pl.col("precision").is_not_null())
    precision = {
        f"precision_{judge}_{verdict}".replace(" ", "_"): round(share, 4)
        for judge, verdict, share in decided.select("judge", "verdict", "precision").iter_rows()
    }
    tenths = sum_up(frame.filter(judge="confidence"), ["judge", "verdict"])
    wanted = {
        verdict: round(100 * share)
        for verdict, share in tenths.select("verdict", "precision").drop_nulls().iter_rows()
    }
    enough = sum_up(tenths, ["judge"]).filter(pl.sum_horizontal(*YES, *NO) >= ENOUGH)
    squared_error = {} if enough.is_empty() else {"brier": round(enough["brier"].item(), 4)}
    return {
        **precision,
        **({"percent_wanted_by_confidence": wanted} if wanted else {}),
        **squared_error,
    }


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
