"""How long what memories name exists: the share that holds by age and category, and the half-life.

Takes the rows of `verifications` about memories, with the categories of these. A name that does not
hold ended on the day that the repository says; all others are observed up to today. So the rate is
that of exponential decay: ended names over the days that all names were observed.
"""

import math
from datetime import date

import polars as pl

LEAST = 20
"""Fewer names say nothing about their age."""

AGES = {30: "up to 30 days", 90: "up to 90 days", 365: "up to a year", 36_500: "older"}
"""Groups by the days since the memory was last said: the last day and the name of each."""

_HOLDS = pl.col("state") == "holds"


def ages_of(names: pl.DataFrame, today: date) -> pl.DataFrame:
    """Returns the names with a known state, each with its group by age and the number of days that
    it held after it was said.
    """
    looked_up = names.filter(pl.col("state") != "unknown").drop_nulls("written_on")
    ended_on = pl.when(~_HOLDS).then("since_on").fill_null(today)
    days = (today - pl.col("written_on")).dt.total_days()
    groups = [pl.when(days <= last).then(pl.lit(name)) for last, name in AGES.items()]
    held = (ended_on - pl.col("written_on")).dt.total_days().clip(0)
    return looked_up.sort("written_on", descending=True).with_columns(
        age=pl.coalesce(groups), held=held
    )


def shares_of(ages: pl.DataFrame, column: str) -> dict[str, float]:
    """Returns the share that holds by the values of the column, in the order of the rows."""
    return dict(ages.group_by(column, maintain_order=True).agg(_HOLDS.mean()).iter_rows())


def half_life(ages: pl.DataFrame) -> float | None:
    """Returns the days after which half of the names do not hold; None if none has ended."""
    ended = ages.filter(~_HOLDS).height
    return math.log(2) * max(float(ages["held"].sum()), 1.0) / ended if ended else None
