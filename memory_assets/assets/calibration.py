"""Calibration as an asset: verdicts of the gate, of triage and of a model beside what people made of them.

Made with every triage, so that its metadata plots how often people agree with each verdict, from decision to decision.
"""

from typing import Any

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, schema_check
from memory_assets.assets.glue import bars, table_asset, write_whole
from memory_assets.services.calibration import calibration_of
from memory_assets.stages.evaluate.calibration import CALIBRATION_VERSION, ENOUGH, NO, YES, sum_up
from memory_assets.store.store import Store

GROUP = "quality"


@table_asset(
    "calibration",
    group=GROUP,
    version=CALIBRATION_VERSION,
    daily=False,
    deps=["verdicts", "observations", "proposals", "model_reviews", "decisions", "entries"],
)
def calibration(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Each verdict by reason, category and version, and how many of its rows people then approved, rejected or never saw."""
    with store.lock():
        frame = calibration_of(store)
        return write_whole(store, "calibration", frame, CALIBRATION_VERSION, **figures_of(frame))


def figures_of(frame: pl.DataFrame) -> dict[str, Any]:
    """Returns the precision of each verdict that people decided on, and how sure proposals were against what they said."""
    verdicts = sum_up(frame.filter(pl.col("judge") != "confidence"), ["judge", "verdict"])
    decided = verdicts.filter(pl.col("precision").is_not_null())
    precision = {
        f"precision_{judge}_{verdict}".replace(" ", "_"): round(share, 4)
        for judge, verdict, share in decided.select("judge", "verdict", "precision").iter_rows()
    }
    tenths = sum_up(frame.filter(pl.col("judge") == "confidence"), ["judge", "verdict"])
    wanted = {verdict: round(100 * share) for verdict, share in tenths.select("verdict", "precision").drop_nulls().iter_rows()}
    plots = {"percent_wanted_by_confidence": bars(wanted)} if wanted else {}
    return {**precision, **plots, **_error_of(tenths)}


def _error_of(tenths: pl.DataFrame) -> dict[str, float]:
    """Returns the mean squared error of confidence, where enough was decided for it to say something."""
    together = sum_up(tenths, ["judge"]).filter(pl.sum_horizontal(*YES, *NO) >= ENOUGH)
    return {} if together.is_empty() else {"brier": round(together["brier"].item(), 4)}


ASSETS = [calibration]
CHECKS = [schema_check("calibration"), no_secrets_check("calibration")]
