"""Decides which unused memories leave recall: stale ones are archived, archived ones become cold.

    stale    → archived   weekly, without access for more than 90 days
    archived → cold       monthly, without access for more than six months

A memory is accessed when it is said, recalled, used or restored. A stale memory also becomes cold
without being archived first, if it was not accessed for more than six months and has been stale for
more than 180 days. Only stale memories are archived, so age alone never suffices: a memory becomes
stale when its category's TTL has passed in a store that is queried (`states`). Both moves are
events, and nothing is deleted. A memory that is accessed afterwards becomes active again. Planning
twice gives the same events, with the same ids.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import polars as pl

from memory_assets.schema.frames import hash_of
from memory_assets.stages.maintain.states import accessed_at
from memory_assets.store.ledger import ARCHIVED, COLD, Event, Planned

UNUSED_DAYS = 90
"""Days without access after which a stale memory is archived."""

COLD_DAYS = 182
"""Days without access after which a memory becomes cold: six months."""

STALE_DAYS = 180
"""Days after which a stale memory that was never archived becomes cold, too."""


def plan_archive(memories: pl.DataFrame, events: Iterable[Event], now: datetime) -> list[Planned]:
    """Returns the event that archives the stale memories without access, if there are any.

    `memories` are rows of the table with their present states. Only those of `events` that restored
    memories are read.
    """
    last_access = accessed_at(memories.filter(state="stale"), events, now)
    unused = {id: at for id, at in last_access.items() if _is_longer_ago(at, now, UNUSED_DAYS)}
    return _move(ARCHIVED, "weekly", unused, f"no access for more than {UNUSED_DAYS} days")


def plan_cold(
    memories: pl.DataFrame, since: Mapping[str, datetime], events: Iterable[Event], now: datetime
) -> list[Planned]:
    """Returns the event that moves archived and long stale memories into cold storage.

    `since` is when the state of each memory began.
    """
    archived = set(memories.filter(state="archived")["id"])
    candidates = memories.filter(pl.col("state").is_in(["stale", "archived"]))
    last_access = accessed_at(candidates, events, now)
    unused = {id: at for id, at in last_access.items() if _is_longer_ago(at, now, COLD_DAYS)}
    cold = {
        id: at
        for id, at in unused.items()
        if id in archived or _is_longer_ago(since[id], now, STALE_DAYS)
    }
    return _move(COLD, "monthly", cold, f"no access for more than {COLD_DAYS} days")


def _move(kind: str, job: str, last_access: Mapping[str, datetime], reason: str) -> list[Planned]:
    """Returns one event that moves all the memories, or nothing if there are none.

    The event's id depends on their times of access, so that a memory can be moved again later.
    """
    if not last_access:
        return []
    accessed = sorted(f"{id} {at.isoformat()}" for id, at in last_access.items())
    payload = {"memory_ids": sorted(last_access), "reason": reason}
    return [Planned(f"rule-{hash_of(kind, *accessed)}", kind, job, payload)]


def _is_longer_ago(moment: datetime, now: datetime, days: int) -> bool:
    return now - moment > timedelta(days=days)
