"""Checks of the scores on labelled sessions; none of them stops a run."""

from collections.abc import Mapping
from functools import partial

import dagster as dg
import polars as pl

from memory_assets.assets.checks import common
from memory_assets.extras.lab.gold import ALL, CEILINGS, FLOORS
from memory_assets.store.store import Store


def _limit(
    measure: str, limit: float, is_floor: bool, store: Store, days: common.Days
) -> dg.AssetCheckResult:
    """Returns whether all sessions together keep the limit, and which sessions do not."""
    rows = store.tables.read("evaluation").filter(measure=measure)
    value = pl.col("value")
    missed = rows.filter(value < limit) if is_floor else rows.filter(value > limit)
    is_all = pl.col("session_id") == ALL
    sessions = missed.filter(~is_all).select("session_id", value.round(3))
    figures = rows.filter(is_all).select(value.round(4), "low", "high").to_dicts()
    metadata = {key: value for row in figures for key, value in row.items() if value is not None}
    return common.verdict(missed.filter(is_all).is_empty(), sessions, limit=limit, **metadata)


def _register(limits: Mapping[str, float], name: str, bound: str, *, is_floor: bool) -> None:
    for measure, limit in limits.items():
        rule = f"{measure}: {bound} {limit:.2f} over all sessions."
        judge = partial(_limit, measure, limit, is_floor)
        common.REGISTERED.append(
            common.TableCheck("evaluation", f"{measure}_{name}", rule, judge, "warn")
        )


_register(FLOORS, "reaches_its_floor", "at least", is_floor=True)
_register(CEILINGS, "stays_below_its_ceiling", "at most", is_floor=False)


@common.check("evaluation", level="warn")
def no_session_at_zero(store: Store, days: common.Days) -> dg.AssetCheckResult:
    """In every labelled session at least one wanted fact was found."""
    rows = store.tables.read("evaluation").filter(pl.col("session_id") != ALL, measure="recall")
    missed = rows.filter(pl.col("value") == 0).select("session_id")
    return common.verdict(missed.is_empty(), missed, sessions=rows.height)
