"""What build functions get and return.

A build function takes the store and a `Run`. It returns either a function from a partition to its
rows, which are then written one partition at a time under the store's lock, or a `Report` where it
wrote by itself (files, indexes, tables by source). One that builds several tables returns a mapping
from table to rows.
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
"""Rows that are named in warnings."""


class Markdown(str):
    """Text for the UI that holds counts and ids, never words of messages or observations."""


@dataclass(frozen=True)
class Run:
    """What a build function has to build."""

    table: Table
    partitions: Sequence[str]
    due: Sequence[str]
    """The partitions that are not up to date; the others are left as they are."""
    ask_again: bool = True
    """Whether a model is also asked about what another prompt or model has answered already."""


@dataclass(frozen=True)
class Rows:
    """Rows of one partition, by table if there are several, with figures about them."""

    frame: pl.DataFrame | Mapping[str, pl.DataFrame]
    figures: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None
    """Input version to note, where it is not that of the declaration."""
    warnings: Sequence[str] = ()
    log: Sequence[str] = ()
    """Lines for the log of the run; no words of messages or observations."""


@dataclass
class Report:
    """What a build wrote, in figures for the UI."""

    figures: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    checks: dict[str, str] = field(default_factory=dict)
    """By declared check, the problem; empty where there is none."""
    by_partition: dict[str, dict[str, Any]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    """What the log of steps counts."""


Built = pl.DataFrame | Iterable[pl.DataFrame] | Rows | Mapping[str, pl.DataFrame]
Builder = Callable[[str], Built]


def per_partition(build: Callable[[Store, str], Built]) -> Callable[[Store, Run], Builder]:
    """Makes a build function of one that takes the store and a partition, and needs nothing to be
    prepared once a run.
    """
    return wraps(build)(lambda store, _: partial(build, store))


def counts_of(rows: pl.DataFrame, column: str) -> dict[str, int]:
    """Returns how often each value of the column occurs, by name; `none` counts the rows without
    one.
    """
    counted = rows.group_by(column).len().sort(column).iter_rows()
    return {"none" if value is None else str(value): count for value, count in counted}
