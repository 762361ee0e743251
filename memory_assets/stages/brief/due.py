"""Finds the triggers that are due on a day: dates that somebody named, and the memories to recall.

A trigger is due on its date and on the day before, unless the date was past when its message was
captured. Takes the tables `triggers` and `memories`, and a day in the owner's zone.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

import polars as pl

from memory_assets.schema.records import VALID_STATES

AHEAD = timedelta(days=1)
"""How early a trigger is due: a day before its date, there is still time to act."""

_COPIED = (
    "trigger_id trigger_on expression said_at author message_id path line project person".split()
)

TriggerState = Literal["waiting", "due", "over", "past"]


@dataclass(frozen=True)
class Trigger:
    """A date that somebody named, and what to recall on it."""

    trigger_id: str
    trigger_on: date
    expression: str
    text: str
    """The sentence with the date."""
    state: TriggerState
    """Due is today or tomorrow; past is a date that was over when the message was captured."""
    said_at: datetime
    author: str
    message_id: str
    session: str
    path: str
    line: int
    project: str
    person: str
    memory_ids: tuple[str, ...]
    """The present memories to recall."""
    memories: tuple[str, ...]
    """Their texts."""


@dataclass(frozen=True)
class Triggers:
    """Upcoming dates."""

    triggers: tuple[Trigger, ...]


def find_due(
    triggers: pl.DataFrame,
    memories: pl.DataFrame,
    *,
    today: date,
    is_all: bool = False,
    hidden: Collection[str] = (),
) -> tuple[Trigger, ...]:
    """Returns the triggers due on the day, the earliest first.

    With `is_all`, also later ones. `hidden` are messages with forgotten content.
    """
    is_ahead = pl.col("trigger_on").is_between(today, date.max if is_all else today + AHEAD)
    is_hidden = pl.col("message_id").is_in(list(hidden))
    due = triggers.filter(is_ahead & ~is_hidden, state="due")
    chosen = due.sort("trigger_on", "said_at", "trigger_id").to_dicts()
    memory_of = _memory_of(memories, {id for row in chosen for id in row["memory_ids"]})
    return tuple(_trigger(row, memory_of, today) for row in chosen)


def trigger_state(state: str, trigger_on: date, today: date) -> TriggerState:
    """Returns the state of a trigger on the day."""
    if state == "past":
        return "past"
    if trigger_on < today:
        return "over"
    return "due" if trigger_on <= today + AHEAD else "waiting"


def _trigger(row: dict[str, Any], memory_of: dict[str, tuple[str, str]], today: date) -> Trigger:
    memories = dict(memory_of[id] for id in row["memory_ids"] if id in memory_of)
    return Trigger(
        **{name: row[name] for name in _COPIED},
        text=row["quote"],
        state=trigger_state(row["state"], row["trigger_on"], today),
        session=row["session_id"],
        memory_ids=tuple(memories),
        memories=tuple(memories.values()),
    )


def _memory_of(memories: pl.DataFrame, ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Returns the memory of each observation: its id and text."""
    valid = memories.filter(pl.col("state").is_in(VALID_STATES))
    pairs = valid.select("id", "text", "observation_ids").explode("observation_ids")
    pairs = pairs.filter(pl.col("observation_ids").is_in(sorted(ids)))
    return {observation: (id, text) for id, text, observation in pairs.iter_rows()}
