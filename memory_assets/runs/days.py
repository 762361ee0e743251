"""The days of a run: groups them into stretches of neighbouring days, and makes its tags.

The command line and the sensors start the same jobs with the same tags.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from typing import get_args

import polars as pl

from memory_assets.errors import DamagedError, SettingsError
from memory_assets.runs import inputs
from memory_assets.schema.tables import DYNAMIC, TABLES, Grain, tables_in
from memory_assets.schema.vocabulary import Category
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.store import Store

BY_DAY = ("process_days", "encode_messages")
"""Jobs that build each day without the other days. The latest days are built first, and several
processes may build different days at the same time.
"""

LONGEST_STRETCH = 31
"""Most days in one run."""

RECENT_DAYS = 3
"""The latest days are built in a first short run if many are due, so that recall knows the latest
work after seconds.
"""

TABLE_DAYS = 75
"""Partitions without content that a run may contain between two days: each takes 4 ms, a second run
0.3 s or more.
"""

RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"
"""Dagster's tags for the first and last partition of a run."""

ASK_AGAIN = "memory/ask_again"
"""Tag of a run, which is `false` if a sensor, a schedule or `memory ingest` started it. Such a run
asks a model only about what no model was ever asked about.
"""

STARTED_BY = "memory/started_by"
"""Tag that names what started a run: `command line`, a sensor or a schedule."""

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Run configuration that keeps Dagster's log and stack traces out of the terminal. The UI shows
both, and a command prints an error as one line.
"""


@dataclass(frozen=True)
class Stretch:
    """Neighbouring days that one run materialises."""

    first: date
    last: date

    def days(self) -> list[date]:
        """Returns its days in order."""
        count = (self.last - self.first).days + 1
        return [self.first + timedelta(days) for days in range(count)]


def stretches(days: Iterable[date], job: str = "process_days") -> list[Stretch]:
    """Returns the days as stretches of at most `LONGEST_STRETCH` days, with gaps filled that are
    small for the number of the job's tables.
    """
    most_gap = TABLE_DAYS // len(tables_in(job))
    joined: list[Stretch] = []
    for day in sorted(set(days)):
        if joined and _may_extend(joined[-1], day, most_gap):
            joined[-1] = Stretch(joined[-1].first, day)
        else:
            joined.append(Stretch(day, day))
    return joined


def _may_extend(stretch: Stretch, day: date, most_gap: int) -> bool:
    """Returns whether a later day is near the stretch, and the two together are short enough."""
    gap = (day - stretch.last).days - 1
    return gap <= most_gap and (day - stretch.first).days < LONGEST_STRETCH


def newest_first(
    days: Iterable[date], sessions: Iterable[tuple[date, date]], job: str = "process_days"
) -> list[Stretch]:
    """Returns the days as stretches, the latest first.

    The first stretch is short, so that the latest sessions can be recalled soon. Where possible,
    all days of a session are in one stretch, because its later parts are understood with the help
    of the earlier ones. `sessions` has the first and the last day of each session.
    """
    remaining = sorted(set(days))
    spans = list(sessions)
    ordered = list[Stretch]()
    day_count = RECENT_DAYS
    while remaining:
        latest = remaining[-day_count:]
        first = _start_of(latest[0], remaining[0], spans)
        ordered += reversed(stretches((day for day in remaining if day >= first), job))
        remaining = [day for day in remaining if day < first]
        day_count = LONGEST_STRETCH
    return ordered


def _start_of(first: date, earliest: date, spans: Sequence[tuple[date, date]]) -> date:
    """Returns the first day, moved back so far that no session begins before it and ends on it or
    later. Sessions that begin before the earliest day are cut.
    """
    # The day to which one session moves it may lie within another session, so look again.
    while True:
        starts = [begin for begin, end in spans if earliest <= begin < first <= end]
        if not starts:
            return first
        first = min(starts)


def first_day_of(store: Store) -> date:
    """Returns the first day with windows, notes or rows of a table by day; today without any.

    Damaged tables are left out: the code has to load, so that a run that reads them can say so.
    """
    days = [*map(date.fromisoformat, inputs.notes_by_day(store))]
    with suppress(DamagedError):
        days.extend(store.tables.read("windows", columns=["day"])["day"].drop_nulls().unique())
    for table in TABLES.values():
        # Steps that write files or events instead of rows, such as `daily_log`, have no record.
        if table.grain == "day" and table.record:
            with suppress(DamagedError):
                days += map(date.fromisoformat, store.tables.parts(table.name))
    return min(days, default=store.settings.today())


def session_days(store: Store) -> list[tuple[date, date]]:
    """Returns the first and the last day of each session's windows."""
    windows = store.tables.read("windows", columns=["session_id", "day"]).drop_nulls("day")
    day = pl.col("day")
    spans = windows.group_by("session_id").agg(first=day.min(), last=day.max())
    return list(spans.select("first", "last").iter_rows())


def days_between(tables: ParquetTables, first: date | None, last: date | None) -> list[date]:
    """Returns the days with messages from `first` to `last`; None is no limit.

    Raises `SettingsError` where `first` lies after `last`.
    """
    if first and last and first > last:
        raise SettingsError(f"--from {first} lies after --to {last}; give the earlier day first.")
    days = [date.fromisoformat(part) for part in tables.parts("messages")]
    earliest = first or date.min
    latest = last or date.max
    return [day for day in days if earliest <= day <= latest]


def tags_of(
    job: str,
    stretch: Stretch | None = None,
    *,
    keys: Sequence[str] = (),
    ask_again: bool = False,
    started_by: str,
) -> dict[str, str]:
    """Returns the tags of one run of the job, with the first and last of its partitions.

    The partitions are the days of the stretch. Without a stretch, they are all categories if a
    table of the job is divided by category, and `keys` otherwise. `keys` are the
    scopes or other dynamic partitions, in Dagster's order (`runs.scopes.register_keys`).
    """
    tags = {ASK_AGAIN: str(ask_again).lower(), STARTED_BY: started_by}
    if stretch:
        keys = [str(stretch.first), str(stretch.last)]
    elif "category" in {table.grain for table in tables_in(job)}:
        keys = get_args(Category)
    if keys:
        tags |= range_tags(keys[0], keys[-1])
    return tags


def dynamic_grain(job: str) -> Grain | None:
    """Returns the grain of the job's tables whose partitions come and go (scopes, documents).

    Returns None if the job has no such table.
    """
    grains = {table.grain for table in tables_in(job)}
    return next((grain for grain in DYNAMIC if grain in grains), None)


def buildable(job: str, keys: Sequence[str]) -> list[str] | None:
    """Returns the tables of the job that a run can build; None if it can build all of them.

    Without `keys`, the tables whose partitions come and go have no partition to build.
    """
    if keys or dynamic_grain(job) is None:
        return None
    return [table.name for table in tables_in(job) if table.grain not in DYNAMIC]


def range_tags(first: str, last: str) -> dict[str, str]:
    """Returns the tags that name a contiguous range of partitions."""
    return {RANGE_START: first, RANGE_END: last}
