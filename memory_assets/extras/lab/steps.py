"""Builds the tables `evaluation` and `calibration`."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.extras.lab import gold
from memory_assets.extras.lab.calibrate import calibration_of
from memory_assets.extras.lab.calibration import ENOUGH, NO, YES, sum_up
from memory_assets.extras.lab.labels import hash_of_labels, read_labels, session_id
from memory_assets.runs.results import Rows, per_partition
from memory_assets.schema.frames import empty, frame_of
from memory_assets.schema.tables import version_of
from memory_assets.store.places import CHECKOUT
from memory_assets.store.store import Store


@per_partition
def evaluation(store: Store, _: str) -> Rows:
    """Scores the observations against the labelled sessions in the folder of the setting `gold`.

    Has no rows without that setting, or if the store has none of the sessions. Raises `LabelsError`
    for labels that cannot be used.
    """
    folder = store.settings.gold
    if folder is None:
        return _no_rows("name their folder in MEMORY_GOLD")
    captured_ids = map(session_id, gold.sessions_in(store.tables))
    if {labels.id for labels in read_labels(folder)}.isdisjoint(captured_ids):
        return _no_rows(f"none of those in {folder} is in this store")
    scored = gold.evaluate(store.tables, folder)
    version = version_of("observations")
    rows = gold.evaluation_rows(scored, version=version, labels_hash=hash_of_labels(folder))
    return Rows(frame_of("evaluation", rows), _scores(scored))


def _no_rows(reason: str) -> Rows:
    return Rows(empty("evaluation"), {"labels": f"no labelled sessions: {reason}"})


def _scores(evaluation: gold.Evaluation) -> dict[str, Any]:
    """Returns the scores that Dagster plots, and the versions and labels that they belong to."""
    score = evaluation.score
    return {
        **{name: round(getattr(score.counts, name), 4) for name in gold.MEASURES},
        **{f"{name}_interval_low": low for name, (low, _) in score.intervals.items()},
        **{f"{name}_interval_high": high for name, (_, high) in score.intervals.items()},
        "sessions": len(score.sessions),
        "sessions_at_zero": len(score.at_zero),
        "sessions_missing": len(evaluation.missing),
        "allowed_per_session": round(score.allowed_per_session, 2),
        "most_in_a_session": score.most_in_a_session,
        "distill_version": version_of("observations"),
        "observer": ", ".join(evaluation.observers),
        "code": _commit(),
        "labels": str(evaluation.labels),
        "percent_of_labels_found": {
            paired.session: round(100 * paired.counts.recall) for paired in score.sessions
        },
    }


def _commit() -> str:
    """Returns the commit of the running checkout; `installed` where the package is installed."""
    if not Path(CHECKOUT, ".git").exists() or shutil.which("git") is None:
        return "installed"
    command = ["git", "-C", CHECKOUT, "rev-parse", "--short", "HEAD"]
    git = subprocess.run(command, capture_output=True, text=True)
    return git.stdout.strip() or "installed"


@per_partition
def calibration(store: Store, _: str) -> Rows:
    """Counts for each verdict what people decided about the same rows."""
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
    percents = {
        verdict: round(100 * share)
        for verdict, share in tenths.select("verdict", "precision").drop_nulls().iter_rows()
    }
    decision_count = pl.sum_horizontal(*YES, *NO)
    confidence = sum_up(tenths, ["judge"]).filter(decision_count >= ENOUGH)
    figures: dict[str, Any] = dict(precision)
    if percents:
        figures["percent_wanted_by_confidence"] = percents
    if not confidence.is_empty():
        figures["brier"] = round(confidence["brier"].item(), 4)
    return figures


BUILDERS = {"evaluation": evaluation, "calibration": calibration}
