"""Decides the state of each memory: active, stale, archived or cold.

    active → stale      its TTL in exposed days is over, without being said, recalled or used
           → archived   by the event `memory.archived` of the weekly job
           → cold       by the event `memory.cold` of the monthly job

A day is exposed if somebody queried the store on it, or on one of the six days before it. So
weekends count and long holidays do not, and nothing becomes stale in a store that nobody queries.
Each category has its TTL. A memory becomes active again, and its TTL starts again, when it is said,
recalled or used, or by the event `memory.restored`. States are computed anew from memories, queries
and events each time, so a changed TTL applies to all memories without a backfill. Held, superseded
and forgotten memories keep their state.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema.records import VALID_STATES
from memory_assets.store.ledger import ARCHIVED, COLD, RESTORED, Event

EXPOSED_FOR = timedelta(days=7)
"""A query exposes its own day and the six days after it, because people do not work every day."""

STATE_OF = {ARCHIVED: "archived", COLD: "cold"}
MOVES = frozenset({ARCHIVED, COLD, RESTORED})
"""Kinds of events that change the state of the memories that they name."""

SCHEMA = pl.Schema(
    {
        "memory_id": pl.String,
        "state": pl.String,
        "since": pl.Datetime("us", "UTC"),
        "reason": pl.String,
    }
)
COLUMNS = ["id", "state", "category", "event_at", "last_used_at", "observation_ids"]
"""Columns of `memories` that the functions here need."""


def fold_states(
    memories: pl.DataFrame,
    recalls: pl.DataFrame,
    events: Iterable[Event],
    now: datetime,
    ttls: Mapping[str, int],
    zone: ZoneInfo,
) -> pl.DataFrame:
    """Returns (memory_id, state, since, reason) of each memory.

    `recalls` is the recall log (`day`). Of `events`, only those in `MOVES` are read. `ttls` are
    days by category; memories of a category without a TTL, or with 0, never become stale. `since`
    is when the state began, in UTC; null for states that other rules decide.
    """
    today = now.astimezone(zone).date()
    exposed = exposed_days(recalls["day"], today)
    moves = _last_moves(memories, events, now)
    rows = []
    for row in memories.select(COLUMNS).iter_rows(named=True):
        state_since_reason = (row["state"], None, "")
        if row["state"] in VALID_STATES:
            ttl = ttls.get(row["category"], 0)
            state_since_reason = _judge(row, moves.get(row["id"]), exposed, ttl, zone)
        rows.append((row["id"], *state_since_reason))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def with_states(memories: pl.DataFrame, states: pl.DataFrame) -> pl.DataFrame:
    """Returns the memories with their states replaced by those from `fold_states`."""
    new_states = states.select(id="memory_id", state="state")
    return memories.drop("state").join(new_states, on="id", how="left").select(memories.columns)


def _judge(
    row: Mapping, move: Event | None, exposed: Sequence[date], ttl: int, zone: ZoneInfo
) -> tuple[str, datetime, str]:
    """Returns the state of a memory, its beginning and the reason."""
    seen_at = last_seen(row)
    if move is not None and move.at > seen_at:
        state = STATE_OF.get(move.kind)
        if state:
            moved_on = f"{state} on {move.at.astimezone(zone):%Y-%m-%d}"
            return state, move.at, move.payload.get("reason") or moved_on
        seen_at = move.at
    first = bisect_right(exposed, seen_at.astimezone(zone).date())
    if ttl and len(exposed) - first > ttl:
        since = datetime.combine(exposed[first + ttl], time(), zone).astimezone(UTC)
        days = f"not recalled on {len(exposed) - first} days with queries"
        return "stale", since, f"{days}; {row['category']} has {ttl}"
    return "active", seen_at, ""


def last_seen(row: Mapping) -> datetime:
    """Returns when the memory was last said, recalled or used."""
    return max(row["event_at"], row["last_used_at"] or row["event_at"])


def accessed_at(
    memories: pl.DataFrame, events: Iterable[Event], now: datetime
) -> dict[str, datetime]:
    """Returns when each memory was last said, recalled, used or restored, by id."""
    restored = _last_moves(memories, (event for event in events if event.kind == RESTORED), now)
    rows = memories.select(COLUMNS).iter_rows(named=True)
    accessed = {row["id"]: last_seen(row) for row in rows}
    for id, move in restored.items():
        if id in accessed:
            accessed[id] = max(accessed[id], move.at)
    return accessed


def exposed_days(queried: Iterable[date], today: date) -> list[date]:
    """Returns the exposed days up to today, sorted."""
    days = {
        day + timedelta(days=offset) for day in set(queried) for offset in range(EXPOSED_FOR.days)
    }
    return sorted(day for day in days if day <= today)


def next_change(
    memories: pl.DataFrame,
    states: pl.DataFrame,
    recalls: pl.DataFrame,
    now: datetime,
    ttls: Mapping[str, int],
    zone: ZoneInfo,
) -> datetime | None:
    """Returns the earliest time at which an active memory may become stale.

    That is the case if the store is queried every day until then.
    """
    today = now.astimezone(zone).date()
    exposed = exposed_days(recalls["day"], today)
    days_ahead = list[int]()
    active = memories.join(states.filter(state="active"), left_on="id", right_on="memory_id")
    for category, since in active.select("category", "since").iter_rows():
        ttl = ttls.get(category, 0)
        if ttl:
            exposed_before = bisect_right(exposed, since.astimezone(zone).date())
            days_ahead.append(ttl + 1 - (len(exposed) - exposed_before))
    if not days_ahead:
        return None
    change_on = today + timedelta(days=min(days_ahead))
    return datetime.combine(change_on, time(), zone).astimezone(UTC)


def _last_moves(memories: pl.DataFrame, events: Iterable[Event], now: datetime) -> dict[str, Event]:
    """Returns the event that moved each memory last.

    If the memory that an event names was merged since, the event moves the memory that has it.
    """
    moves = sorted(
        (event for event in events if event.kind in MOVES and event.at <= now),
        key=lambda event: event.moment,
    )
    moved_ids = sorted({id for event in moves for id in event.payload["memory_ids"]})
    memory_of_observation = memories.select("observation_ids", "id").explode("observation_ids")
    has_moved = pl.col("observation_ids").is_in(moved_ids)
    present_ids = dict(memory_of_observation.filter(has_moved).iter_rows())
    last_moves: dict[str, Event] = {}
    for event in moves:
        last_moves |= {present_ids.get(id, id): event for id in event.payload["memory_ids"]}
    return last_moves
