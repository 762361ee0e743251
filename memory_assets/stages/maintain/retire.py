"""Decides which unused memories leave recall: stale ones are archived, archived ones become cold.

    stale    → archived   weekly: not said, recalled or used for more than 90 days
    archived → cold       monthly: not for more than six months, or stale for more than 180 days

Only stale memories are archived, so age alone never suffices: a memory becomes stale when its category's TTL has passed in a
store that is queried (`states`). Nothing is deleted. Both moves are events. What is said, recalled or used again afterwards is
active again at the next fold. Planning twice gives the same events, with the same ids.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

import polars as pl

from memory_assets.schema.frames import hash_of
from memory_assets.stages.maintain.states import last_seen
from memory_assets.store.ledger import ARCHIVED, COLD, Planned

UNUSED_DAYS = 90
COLD_DAYS = 182
"""Six months."""

STALE_DAYS = 180
"""Days after which a stale memory that was never archived becomes cold, too."""


def plan_archive(memories: pl.DataFrame, now: datetime) -> list[Planned]:
    """Returns the event that archives the stale memories without access; none where there are none.

    `memories` are rows of the table with their present states.
    """
    rows = memories.filter(state="stale").iter_rows(named=True)
    unused = [row for row in rows if _is_longer_ago(last_seen(row), now, UNUSED_DAYS)]
    return _move(ARCHIVED, "weekly", unused, f"no access for more than {UNUSED_DAYS} days")


def plan_cold(memories: pl.DataFrame, since: Mapping[str, datetime], now: datetime) -> list[Planned]:
    """Returns the event that moves archived and long stale memories into cold storage.

    `since` is when the state of each memory began.
    """
    rows = [
        row
        for row in memories.filter(pl.col("state").is_in(["stale", "archived"])).iter_rows(named=True)
        if _is_longer_ago(last_seen(row), now, COLD_DAYS)
        and (row["state"] == "archived" or _is_longer_ago(since[row["id"]], now, STALE_DAYS))
    ]
    return _move(COLD, "monthly", rows, f"no access for more than {COLD_DAYS} days")


def _move(kind: str, job: str, rows: list[dict], reason: str) -> list[Planned]:
    """Returns one event for all; its id depends on when each was last used, so that a memory can be moved again later."""
    if not rows:
        return []
    seen = sorted(f"{row['id']} {last_seen(row).isoformat()}" for row in rows)
    payload = {"memory_ids": sorted(row["id"] for row in rows), "reason": reason}
    return [Planned(f"rule-{hash_of(kind, *seen)}", kind, job, payload)]


def _is_longer_ago(moment: datetime, now: datetime, days: int) -> bool:
    return now - moment > timedelta(days=days)
