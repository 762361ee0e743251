"""The days of a run: contiguous stretches of them, those between two days that a person names, and the tags of a run.

The command line and the sensors start the same jobs with the same tags.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import get_args

from memory_assets.errors import SettingsError
from memory_assets.runs import inputs
from memory_assets.schema.tables import TABLES, tables_in
from memory_assets.schema.vocabulary import Category
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.store import Store

LONGEST_STRETCH = 31
"""Days in one run."""

BRIDGED_GAP = 3
"""Idle days inside a stretch that cost less to materialise than a run of their own (0.1 s a day against 0.5 s a run)."""


RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
"""Dagster's tags for the first and last partition of a run."""

ASK_AGAIN = "memory/ask_again"
"""Tag of runs that start by themselves (`false`): a model is asked only about what no model was ever asked about."""

STARTED_BY = "memory/started_by"
"""Tag that names what started a run: `command line`, a sensor or a schedule."""


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
    found: list[Stretch] = []
    for day in sorted(set(days)):
        last = found[-1] if found else None
        near = last is not None and (day - last.last).days <= BRIDGED_GAP + 1
        if last is not None and near and (day - last.first).days < LONGEST_STRETCH:
            found[-1] = Stretch(last.first, day)
        else:
            found.append(Stretch(day, day))
    return found


def first_day_of(store: Store) -> date:
    """Returns the first day of the store: of its windows, its notes and every table by day; today where there is nothing."""
    found = [store.tables.read("windows", columns=["day"])["day"].min(), *map(date.fromisoformat, inputs.notes_by_day(store))]
    by_day = [table.name for table in TABLES.values() if table.grain == "day" and table.record]
    found += [date.fromisoformat(part) for name in by_day for part in store.tables.parts(name)]
    return min((day for day in found if day is not None), default=store.settings.today())


def days_between(tables: ParquetTables, first: date | None, last: date | None) -> list[date]:
    """Returns the days with messages, from the first to the last of them or of those given."""
    if first and last and first > last:
        raise SettingsError(f"--from {first} lies after --to {last}; give the earlier day first.")
    days = [date.fromisoformat(part) for part in tables.parts("messages")]
    return [day for day in days if (not first or first <= day) and (not last or day <= last)]


def tags_of(
    job: str, stretch: Stretch | None = None, *, scopes: Sequence[str] = (), ask_again: bool = False, started_by: str
) -> dict[str, str]:
    """Returns the run tags that make one run of the job materialise all partitions of the stretch, all categories or scopes.

    `scopes` are those that Dagster knows, in its order (`runs.scopes.register_scopes`).
    """
    grains = {table.grain for table in tables_in(job)}
    keys = get_args(Category) if "category" in grains else scopes if "scope" in grains else ()
    first, last = (str(stretch.first), str(stretch.last)) if stretch else (keys[0], keys[-1]) if keys else ("", "")
    return {ASK_AGAIN: str(ask_again).lower(), STARTED_BY: started_by} | (range_tags(first, last) if first else {})


def has_scopes(job: str) -> bool:
    """Returns whether the job builds something with a partition for the owner and each project."""
    return any(table.grain == "scope" for table in tables_in(job))


def range_tags(first: str, last: str) -> dict[str, str]:
    """Returns the tags that name a contiguous range of partitions."""
    return {RANGE_START: first, RANGE_END: last}
