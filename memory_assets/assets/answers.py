"""The model's part of the distill stage as an asset: raw answers about the windows of each day, before anyone reads them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
from pydantic import Field

from memory_assets.assets.checks import no_secrets_check, rows_check, schema_check
from memory_assets.assets.glue import bars, counts_of, result_of, table_asset
from memory_assets.errors import ModelBusyError, ModelError, ModelSetupError
from memory_assets.runs.pending import answers_inputs
from memory_assets.schema.frames import empty
from memory_assets.schema.progress import track
from memory_assets.services.model_questions import Consultant, Consultation
from memory_assets.services.models import open_model
from memory_assets.stages.distill import ANSWERS_VERSION
from memory_assets.stages.distill.model.answer_rows import plan_uses
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store

GROUP = "distill"
TABLE = "observer_answers"
RETRIES, WAIT_SECONDS, LONGEST_WAIT_SECONDS = 2, 20.0, 600.0


class Asking(dg.Config):
    """What a run asks about."""

    ask_again: bool = Field(True, description="Also ask about what another prompt or model has answered already.")


@table_asset(TABLE, group=GROUP, version=ANSWERS_VERSION, daily=True, deps=["messages", "sessions"])
def observer_answers(context: dg.AssetExecutionContext, config: Asking, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Raw answers of the model about each window, with their tokens, price and time; none where rules observe."""
    days, model = context.partition_keys, open_model(store.settings)
    inputs = answers_inputs(store, store.tables.read("windows"), days)
    consultation = Consultation(store, store.settings.model, any_prompt=not config.ask_again)
    problems: dict[str, ModelError] = {}
    if model:
        consultant = Consultant(consultation, model, backfill=config.ask_again)
        problems = raising_for_dagster(lambda: consultant.ask(days))
    known = store.tables.read("memories", columns=["id"])["id"]
    for day in track(days, TABLE):
        rows = consultation.rows(day, problems) if model else empty(TABLE)
        with store.lock():
            store.tables.write(TABLE, day, rows, inputs=inputs[day])
            store.ledger.append_once(plan_uses(rows, known), actor=store.settings.model)
    return result_of(context, store, TABLE, days, len(days), _metadata(store.tables.read(TABLE, days)))


def raising_for_dagster(ask: Callable[[], dict[str, ModelError]]) -> dict[str, ModelError]:
    """Asks; a wrong setting fails the run at once, an overload lets Dagster try again later."""
    try:
        return ask()
    except ModelSetupError as error:
        raise dg.Failure(str(error), allow_retries=False) from error
    except ModelBusyError as error:
        asked = error.retry_after_seconds
        wait = min(WAIT_SECONDS if asked is None else asked, LONGEST_WAIT_SECONDS)
        raise dg.RetryRequested(max_retries=RETRIES, seconds_to_wait=wait) from error


def version_with(model: str, observer_prompt: Path | None) -> str:
    """Returns the asset's code version: another model or prompt marks its partitions as stale in the UI."""
    from memory_assets.stages.distill.model.questions import prompt_hash

    return ANSWERS_VERSION if model == RULES else f"{ANSWERS_VERSION} {model} {prompt_hash(observer_prompt)}"


def _metadata(rows: pl.DataFrame) -> dict[str, Any]:
    """Returns what the run's answers took, for plots over partitions."""
    if rows.is_empty():
        return {}
    sums = rows.select(pl.col("^.*_tokens$").sum(), pl.col("seconds").sum().round(1)).row(0, named=True)
    priced = rows["cost_usd"].drop_nulls()
    return {
        **sums,
        "cost_usd": round(priced.sum(), 4),
        "calls_without_price": rows.height - priced.len(),
        "calls": rows.height,
        "state_mix": bars(counts_of(rows, "state")),
        "model_mix": bars(counts_of(rows, "model")),
        "parse_path_mix": bars(counts_of(rows.with_columns(pl.col("parse_path").fill_null("no answer")), "parse_path")),
    }


def _unanswered(store: Store, days: list[str] | None) -> pl.DataFrame:
    rows = store.tables.read(TABLE, days)
    return rows.filter(pl.col("state") != "answered").select("window_id", "ordinal", "state", "stop_reason")


def _of_another_prompt(store: Store, days: list[str] | None) -> pl.DataFrame:
    """Returns windows that the present model was not asked about with the present prompt."""
    from memory_assets.stages.distill.model.questions import prompt_hash

    if store.settings.model == RULES:
        return empty(TABLE).select("window_id")
    windows = store.tables.read("windows", columns=["window_id", "day", "status"])
    observed = windows.filter((pl.col("status") == "observed") & pl.col("day").is_not_null())
    if days is not None:
        observed = observed.filter(pl.col("day").cast(pl.String).is_in(days))
    current = (pl.col("model") == store.settings.model) & (pl.col("prompt_hash") == prompt_hash(store.settings.observer_prompt))
    asked = store.tables.read(TABLE, days, columns=["window_id", "model", "prompt_hash"]).filter(current)
    return observed.join(asked, on="window_id", how="anti").sort("day", "window_id").select("day", "window_id")


ASSETS = [observer_answers]
CHECKS = [
    schema_check(TABLE),
    no_secrets_check(TABLE),
    rows_check(
        TABLE,
        "every_call_was_answered",
        "No answer was cut, refused or refused to be asked for; the rules stand in for missing ones.",
        _unanswered,
        blocking=False,
        severity=dg.AssetCheckSeverity.WARN,
    ),
    rows_check(
        TABLE,
        "of_the_present_prompt",
        "Every window was asked about with the present model and prompt; `memory cost` says what a backfill would take.",
        _of_another_prompt,
        blocking=False,
        severity=dg.AssetCheckSeverity.WARN,
    ),
]
