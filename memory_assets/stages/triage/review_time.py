"""Computes when an undecided proposal expires: after a number of days on which its project had
sessions.

A person who does not work on a project is not asked to review it. So a day counts only if the
project had a session on it, after the day on which the person was asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo

import polars as pl

from memory_assets.store.parquet_tables import ParquetTables


@dataclass(frozen=True)
class ReviewTime:
    """How long a person has, and which days count."""

    days: int
    today: date
    zone: tzinfo
    session_days: Mapping[str, Sequence[date]] = field(default_factory=dict)
    """Local days with sessions by project, in order."""

    def expires_at(self, asked_at: datetime, project: str) -> datetime:
        """Returns when the proposal expires; if days are still missing, the earliest time at which
        it can.
        """
        asked_on = asked_at.astimezone(self.zone).date()
        counted_days = [day for day in self.session_days.get(project, ()) if day > asked_on]
        missing = self.days - len(counted_days)
        if missing <= 0:
            expires_on = counted_days[self.days - 1]
        else:
            expires_on = max(asked_on, self.today) + timedelta(days=missing)
        return asked_at + timedelta(days=(expires_on - asked_on).days)


def read_session_days(tables: ParquetTables) -> dict[str, list[date]]:
    """Returns the local days on which each project had sessions, in order."""
    days = tables.read("sessions", columns=["project", "day"]).unique().sort("day")
    return dict(days.group_by("project").agg("day").iter_rows())


def last_days(tables: ParquetTables) -> dict[str, date]:
    """Returns the latest local day of each session."""
    days = tables.read("sessions", columns=["session_id", "day"])
    return dict(days.group_by("session_id").agg(pl.col("day").max()).iter_rows())
