"""The days of a run: contiguous stretches of them, and those between two days that a person names."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from memory_assets.errors import SettingsError
from memory_assets.runs import inputs
from memory_assets.schema.protocols import Tables
from memory_assets.schema.tables import TABLES
from memory_assets.store.store import Store

LONGEST_STRETCH = 31
"""Days in one run."""

BRIDGED_GAP = 3
"""Idle days inside a stretch that cost less to materialise than a run of their own (0.1 s a day against 0.5 s a run)."""


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
    found = [store.tables.read("windows", columns=["day"])["day"].min(), *map(_day, inputs.notes_by_day(store))]
    by_day = [table.name for table in TABLES.values() if table.grain == "day" and table.record]
    found += [_day(part) for name in by_day for part in store.tables.parts(name)]
    return min((day for day in found if day is not None), default=store.settings.today())


def _day(part: str) -> date:
    return date.fromisoformat(part)


def days_between(tables: Tables, first: date | None, last: date | None) -> list[date]:
    """Returns the days with messages, from the first to the last of them or of those given."""
    if first and last and first > last:
        raise SettingsError(f"--from {first} lies after --to {last}; give the earlier day first.")
    days = [date.fromisoformat(part) for part in tables.parts("messages")]
    return [day for day in days if (not first or first <= day) and (not last or day <= last)]
