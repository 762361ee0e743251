"""What build functions get and return.

A build function gets the store and a `Run`. Most return a `Builder`: a function that returns the
rows of one partition, or a mapping from table to rows if it builds several tables. The caller
writes one partition at a time, under the store's lock. A build function that writes by itself
(files, indexes, tables by source) returns a `Report`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any

import polars as pl

from memory_assets.schema.tables import Table
from memory_assets.store.store import Store

SHOWN_ROWS = 5
"""Most rows that warnings name."""


class Markdown(str):
    """Text for the UI: counts and ids, never words of messages or observations."""


@dataclass(frozen=True)
class Run:
    """What a build function has to build."""

    table: Table
    partitions: Sequence[str]
    due: Sequence[str]
    """Those of the partitions that are not up to date. Only they are built."""
    ask_again: bool = True
    """Whether a model is also asked what another model, or another prompt, was asked already."""


@dataclass(frozen=True)
class Rows:
    """Rows of one partition, by table if there are several tables, and what to report of them."""

    frame: pl.DataFrame | Mapping[str, pl.DataFrame]
    figures: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None
    """Input version to note, if not that of `runs.inputs`."""
    warnings: Sequence[str] = ()
    log: Sequence[str] = ()
    """Lines for the log of the run; no words of messages or observations."""


@dataclass
class Report:
    """What to report of a build."""

    figures: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    checks: dict[str, str] = field(default_factory=dict)
    """By check that the table declares, the problem; empty if the check passed."""
    by_partition: dict[str, dict[str, Any]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    """Counts for the log of steps (`store.telemetry`)."""


Built = pl.DataFrame | Iterable[pl.DataFrame] | Rows | Mapping[str, pl.DataFrame]
Builder = Callable[[str], Built]


def per_partition(build: Callable[[Store, str], Built]) -> Callable[[Store, Run], Builder]:
    """Makes a build function of a function that builds one partition without any preparation."""
    return wraps(build)(lambda store, _: partial(build, store))


def counts_of(rows: pl.DataFrame, column: str) -> dict[str, int]:
    """Returns how often each value of the column occurs; `none` counts the rows without a value."""
    counted = rows.group_by(column).len().sort(column).iter_rows()
    return {"none" if value is None else str(value): count for value, count in counted}
