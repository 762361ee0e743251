"""Reads the memories as they were at an earlier moment.

They are not a saved copy: the observations, merges and events up to that moment are folded again,
by the functions that build the table `memories`. So what was forgotten since is left out, and what
better rules extracted since is included.
"""

from datetime import UTC, date, datetime, time, timedelta

import polars as pl

from memory_assets.errors import TableError
from memory_assets.stages.embed.evidence import EVIDENCE
from memory_assets.stages.embed.memories import fold_memories
from memory_assets.stages.embed.present import read_present
from memory_assets.stages.maintain.states import fold_states, with_states
from memory_assets.stages.recall.log import log_recalls
from memory_assets.store.ledger import RECALLED
from memory_assets.store.store import Store

TABLE = "memories"
"""The only table with a past; the others keep their rows by day."""


def read_as_of(store: Store, table: str, day: date | str) -> pl.DataFrame:
    """Returns the memories at the end of the local day, or now if the day is today. Memories that
    were forgotten, before or since, are left out.

    Raises `TableError` for another table, and for a day that has not begun.
    """
    on = _day(day)
    if table != TABLE:
        raise TableError(
            f"Only the table '{TABLE}' can be read as of a day, not '{table}'. Filter its "
            "rows by day instead."
        )
    today = store.settings.today()
    if on > today:
        raise TableError(f"The day {on} has not begun; today is {today}. Give an earlier day.")
    moment = min(_end_of(store, on), store.settings.clock())
    past, _states = memories_as_of(store, moment)
    past = past.filter(pl.col("state") != "forgotten")
    present = read_present(store.tables, store.ledger)
    forgotten = present.filter(state="forgotten")["observation_ids"].explode()
    ids = forgotten.drop_nulls().unique().to_list()
    shared_ids = pl.col("observation_ids").list.set_intersection(ids)
    return past.filter(shared_ids.list.len() == 0)


def memories_at_end_of(store: Store, day: date) -> pl.DataFrame:
    """Returns the memories as they were known at the end of the local day."""
    return memories_as_of(store, _end_of(store, day))[0]


def memories_as_of(store: Store, moment: datetime) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Returns the memories as they were known at the moment, and their states as `fold_states`
    gives them.
    """
    day = moment.astimezone(store.settings.zone).date()
    tables = [store.tables.read(name) for name in ("observations", "harness_memories")]
    observations = pl.concat(tables).filter(pl.col("day") <= day)
    ids = observations["id"].implode()
    edges = store.tables.read("merges")
    edges = edges.filter(pl.col("newer_id").is_in(ids) & pl.col("older_id").is_in(ids))
    # Events about evidence are written later than it; what counts is the day of its observations.
    all_events = store.ledger.events()
    events = [event for event in all_events if event.at <= moment or event.kind in EVIDENCE]
    memories = fold_memories(observations, edges, events)
    zone = store.settings.zone
    recalls = log_recalls([event for event in events if event.kind == RECALLED], zone)
    states = fold_states(memories, recalls, events, moment, store.settings.ttl_days, zone)
    return with_states(memories, states), states


def _end_of(store: Store, day: date) -> datetime:
    next_day = datetime.combine(day + timedelta(days=1), time(), store.settings.zone)
    return next_day.astimezone(UTC) - timedelta(microseconds=1)


def _day(day: date | str) -> date:
    try:
        return date.fromisoformat(day) if isinstance(day, str) else day
    except ValueError:
        raise TableError(f"'{day}' is not a day. Write it as 2026-05-01.") from None
