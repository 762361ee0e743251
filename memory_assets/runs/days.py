"""The days of a run: contiguous stretches of them, those between two days that a person names, and
the tags of a run.

The command line and the sensors start the same jobs with the same tags.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import get_args

import polars as pl

from memory_assets.errors import SettingsError
from memory_assets.runs import inputs
from memory_assets.schema.tables import DYNAMIC, TABLES, Grain, tables_in
from memory_assets.schema.vocabulary import Category
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.store import Store

BY_DAY = ("process_days", "encode_messages")
"""Jobs whose days need no other day: the latest are built first, and several processes may build
different ones at once.
"""

LONGEST_STRETCH = 31
"""Days in one run."""

RECENT_DAYS = 3
"""Days with sessions that are read before all others if there are many: in seconds, recall knows
the latest work.
"""

BRIDGED_GAP = 3
"""Idle days inside a stretch that cost less to materialise than a run of their own (0.1 s a day
against 0.5 s a run).
"""


RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"
"""Dagster's tags for the first and last partition of a run."""

ASK_AGAIN = "memory/ask_again"
"""Tag of runs that start by themselves (`false`): a model is asked only about what no model was
ever asked about.
"""

STARTED_BY = "memory/started_by"
"""Tag that names what started a run: `command line`, a sensor or a schedule."""

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Run configuration that keeps Dagster's log of a run, and the stack trace of a failed step, out of
the terminal; the UI shows both, and a command prints the error as one line."""


@dataclass(frozen=True)
class Stretch:
    """Neighbouring days that one run materialises."""

    first: date
    last: date

    def days(self) -> list[date]:
        """Returns its days in order."""
        return [self.first + timedelta(n) for n in range((self.last - self.first).days + 1)]


def stretches(days: Iterable[date]) -> list[Stretch]:
    """Returns the days as contiguous stretches of at most 31 days, small gaps included."""
    joined: list[Stretch] = []
    for day in sorted(set(days)):
        last = joined[-1] if joined else None
        near = last is not None and (day - last.last).days <= BRIDGED_GAP + 1
        if last is not None and near and (day - last.first).days < LONGEST_STRETCH:
            joined[-1] = Stretch(last.first, day)
        else:
            joined.append(Stretch(day, day))
    return joined


def newest_first(days: Iterable[date], sessions: Iterable[tuple[date, date]]) -> list[Stretch]:
    """Returns the days as stretches, the latest first; the first one is short, so that recent
    sessions are read soon.

    `sessions` are the first and last days of sessions. Where it can be done, a session's days are
    in one stretch: its later parts are read in the light of the earlier ones.
    """
    remaining = sorted(set(days))
    spans = list(sessions)
    ordered = list[Stretch]()
    wanted = RECENT_DAYS
    while remaining:
        first = _start_of(remaining[-wanted:], remaining, spans)
        ordered += reversed(stretches(day for day in remaining if day >= first))
        remaining = [day for day in remaining if day < first]
        wanted = LONGEST_STRETCH
    return ordered


def _start_of(
    wanted: Sequence[date], remaining: Sequence[date], sessions: Sequence[tuple[date, date]]
) -> date:
    """Returns the first of the wanted days, or an earlier one of the remaining ones where a session
    began that goes on then.
    """
    first = wanted[0]
    while True:
        begun = [begin for begin, end in sessions if remaining[0] <= begin < first <= end]
        if not begun:
            return first
        first = min(begun)


def first_day_of(store: Store) -> date:
    """Returns the first day of the store: of its windows, its notes and every table by day; today
    where there is nothing.
    """
    days = [
        store.tables.read("windows", columns=["day"])["day"].min(),
        *map(date.fromisoformat, inputs.notes_by_day(store)),
    ]
    by_day = [table.name for table in TABLES.values() if table.grain == "day" and table.record]
    days += [date.fromisoformat(part) for name in by_day for part in store.tables.parts(name)]
    return min((day for day in days if day is not None), default=store.settings.today())


def session_days(store: Store) -> list[tuple[date, date]]:
    """Returns the first and the last day of each session's windows."""
    windows = store.tables.read("windows", columns=["session_id", "day"]).drop_nulls("day")
    day = pl.col("day")
    spans = windows.group_by("session_id").agg(first=day.min(), last=day.max())
    return list(spans.select("first", "last").iter_rows())


def days_between(tables: ParquetTables, first: date | None, last: date | None) -> list[date]:
    """Returns the days with messages, from the first to the last of them or of those given."""
    if first and last and first > last:
        raise SettingsError(f"--from {first} lies after --to {last}; give the earlier day first.")
    days = [date.fromisoformat(part) for part in tables.parts("messages")]
    return [day for day in days if (not first or first <= day) and (not last or day <= last)]


def tags_of(
    job: str,
    stretch: Stretch | None = None,
    *,
    keys: Sequence[str] = (),
    ask_again: bool = False,
    started_by: str,
) -> dict[str, str]:
    """Returns the run tags that make one run of the job materialise all partitions of the stretch,
    all categories or keys.

    `keys` are those that Dagster knows, in its order (`runs.scopes.register_keys`).
    """
    tags = {ASK_AGAIN: str(ask_again).lower(), STARTED_BY: started_by}
    if "category" in {table.grain for table in tables_in(job)}:
        keys = get_args(Category)
    if stretch:
        keys = [str(stretch.first), str(stretch.last)]
    return tags | range_tags(keys[0], keys[-1]) if keys else tags


def dynamic_grain(job: str) -> Grain | None:
    """Returns the grain of what the job builds with partitions that come and go (scopes,
    documents); None for other jobs.
    """
    grains = {table.grain for table in tables_in(job)}
    return next((grain for grain in DYNAMIC if grain in grains), None)


def buildable(job: str, keys: Sequence[str]) -> list[str] | None:
    """Returns the tables of the job that a run can build: without any of these keys, none of their
    partitions; None for all.
    """
    if keys or dynamic_grain(job) is None:
        return None
    return [table.name for table in tables_in(job) if table.grain not in DYNAMIC]


def range_tags(first: str, last: str) -> dict[str, str]:
    """Returns the tags that name a contiguous range of partitions."""
    return {RANGE_START: first, RANGE_END: last}
