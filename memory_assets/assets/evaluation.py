"""The evaluation as an asset: how well the observations cover sessions that people labelled, where a setting names some.

Each run's figures are metadata, with the version of the rules, the observer and the code that made them, so that the plots
of the asset show what a change was worth. The table holds the latest.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from memory_assets.assets.checks import no_secrets_check, schema_check, verdict
from memory_assets.assets.glue import bars, table_asset, write_whole
from memory_assets.errors import LabelsError
from memory_assets.runs.pending import evaluation_inputs
from memory_assets.schema import frames as schemas
from memory_assets.stages.distill import DISTILL_VERSION
from memory_assets.stages.evaluate import EVALUATION_VERSION
from memory_assets.stages.evaluate.gold import CEILINGS, FLOORS, MEASURES, Evaluation, evaluate, sessions_in
from memory_assets.stages.evaluate.labels import hash_of_labels, read_labels
from memory_assets.stages.evaluate.rows import ALL, evaluation_rows
from memory_assets.store.places import CHECKOUT
from memory_assets.store.store import Store

GROUP = "quality"


@table_asset("evaluation", group=GROUP, version=EVALUATION_VERSION, daily=False, deps=["windows", "observations"])
def evaluation(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """How well the observations cover sessions that people labelled: recall, precision and noise, with intervals."""
    inputs, folder = evaluation_inputs(store), store.settings.gold
    found, note = _evaluate(store, folder)
    rows = evaluation_rows(found, version=DISTILL_VERSION, labels_hash=hash_of_labels(found.labels)) if found else ()
    with store.lock():
        told = _figures(found) if found else {"labels": note}
        return write_whole(store, "evaluation", schemas.frame_of("evaluation", rows), inputs, **told)


def _evaluate(store: Store, folder: Path | None) -> tuple[Evaluation | None, str]:
    """Returns the evaluation, or why there is none; labels that cannot be used fail the run, and trying again cannot help."""
    if folder is None:
        return None, "no labelled sessions: name their folder in MEMORY_GOLD"
    try:
        if not {one.session for one in read_labels(folder)} & sessions_in(store.tables):
            return None, f"no labelled sessions: none of those in {folder} is in this store"
        return evaluate(store.tables, folder), ""
    except LabelsError as error:
        raise dg.Failure(str(error), allow_retries=False) from error


def _figures(found: Evaluation) -> dict[str, Any]:
    """Returns the figures for plots, and what they were made with."""
    score = found.score
    return {
        **{name: round(getattr(score.counts, name), 4) for name in MEASURES},
        **{f"{name}_interval_low": low for name, (low, _) in score.intervals.items()},
        **{f"{name}_interval_high": high for name, (_, high) in score.intervals.items()},
        "sessions": len(score.sessions),
        "sessions_at_zero": len(score.at_zero),
        "sessions_missing": len(found.missing),
        "allowed_per_session": round(score.allowed_per_session, 2),
        "most_in_a_session": score.most_in_a_session,
        "distill_version": DISTILL_VERSION,
        "observer": ", ".join(found.observers),
        "code": _commit(),
        "labels": str(found.labels),
        "percent_of_labels_found": bars({one.session: round(100 * one.counts.recall) for one in score.sessions}),
    }


def _commit() -> str:
    """Returns the commit of the checkout that runs, or `installed` where it is none."""
    if not Path(CHECKOUT, ".git").exists() or shutil.which("git") is None:
        return "installed"
    done = subprocess.run(["git", "-C", CHECKOUT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "installed"


def _limit_check(measure: str, limit: float, *, is_floor: bool) -> dg.AssetChecksDefinition:
    """Returns the check that warns where all sessions together miss the limit; it names those that miss it alone."""
    name, word = ("reaches_its_floor", "at least") if is_floor else ("stays_below_its_ceiling", "at most")

    @dg.asset_check(
        asset="evaluation", name=f"{measure}_{name}", description=f"{measure}: {word} {limit:.2f} over all sessions."
    )
    def check(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
        rows = store.tables.read("evaluation").filter(pl.col("measure") == measure)
        missed = rows.filter(pl.col("value") < limit if is_floor else pl.col("value") > limit)
        is_all = pl.col("session_id") == ALL
        sessions = missed.filter(~is_all).select("session_id", pl.col("value").round(3))
        figures = rows.filter(is_all).select(pl.col("value").round(4), "low", "high").to_dicts()
        told = {key: value for row in figures for key, value in row.items() if value is not None}
        return verdict(missed.filter(is_all).is_empty(), sessions, dg.AssetCheckSeverity.WARN, limit=limit, **told)

    return check


@dg.asset_check(
    asset="evaluation", name="no_session_at_zero", description="Of every labelled session something that is wanted was found."
)
def no_session_at_zero(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Warns where a whole session is lost, whatever the mean says, and names it."""
    rows = store.tables.read("evaluation").filter((pl.col("measure") == "recall") & (pl.col("session_id") != ALL))
    empty = rows.filter(pl.col("value") == 0).select("session_id")
    return verdict(empty.is_empty(), empty, dg.AssetCheckSeverity.WARN, sessions=rows.height)


ASSETS = [evaluation]
CHECKS = [
    schema_check("evaluation"),
    no_secrets_check("evaluation"),
    *(_limit_check(measure, floor, is_floor=True) for measure, floor in FLOORS.items()),
    *(_limit_check(measure, ceiling, is_floor=False) for measure, ceiling in CEILINGS.items()),
    no_session_at_zero,
]
