"""Checks of quality: rates of faults, and scores on labelled sessions.

The checks of single facts belong to `observations`, the rates of many to `quality`. None of them stops a run: one faulty fact
is no reason to learn nothing of a month."""

from collections.abc import Sequence
from typing import Any

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import parts_in_run, rows_check, verdict
from memory_assets.assets.factory import bars
from memory_assets.runs.steps.quality import values_of
from memory_assets.stages.evaluate.gold import ALL, CEILINGS, FLOORS
from memory_assets.stages.evaluate.quality import (
    count_of,
    find_faulty,
    find_repeated,
    loosely_read,
    share_of,
)
from memory_assets.store.store import Store

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
    return _judge(loosely_read(rows), MOST_LOOSE, paths=bars(values_of(rows, "parse_path")))


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


CHECKS = [
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
    *(_limit_check(measure, floor, is_floor=True) for measure, floor in FLOORS.items()),
    *(_limit_check(measure, ceiling, is_floor=False) for measure, ceiling in CEILINGS.items()),
    no_session_at_zero,
]
