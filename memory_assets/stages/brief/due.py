"""Which triggers come up on a day: the day before theirs and on the day itself; those past at capture never.

Takes the tables `triggers` and `memories` and a day in the owner's zone; gives triggers with the memories to recall then.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

import polars as pl

AHEAD = timedelta(days=1)
"""A day before there is still something that can be done."""

Standing = Literal["waiting", "due", "over", "past"]
RECALLABLE = ("active", "stale", "archived", "cold")


@dataclass(frozen=True)
class Trigger:
    """A day that somebody named, and what to recall when it comes."""

    trigger_id: str
    trigger_on: date
    expression: str
    text: str
    """The sentence that names the day."""
    state: Standing
    """waiting; due (today or tomorrow); over; past (it was over when the message was captured, and never came up)."""
    said_at: datetime
    author: str
    message_id: str
    session: str
    path: str
    line: int
    project: str
    person: str
    memory_ids: tuple[str, ...]
    """The present memories to recall with it."""
    memories: tuple[str, ...]
    """What they say."""


def find_due(
    triggers: pl.DataFrame,
    memories: pl.DataFrame,
    *,
    today: date,
    is_all: bool = False,
    hidden: Collection[str] = (),
) -> tuple[Trigger, ...]:
    """Returns the triggers that come up on the day, the earliest first; with `is_all` those still waiting, too.

    `hidden` are messages that carry what is forgotten.
    """
    ahead = triggers.filter(
        (pl.col("state") == "due") & (pl.col("trigger_on") >= today) & ~pl.col("message_id").is_in(list(hidden))
    )
    wanted = ahead if is_all else ahead.filter(pl.col("trigger_on") <= today + AHEAD)
    chosen = wanted.sort("trigger_on", "said_at", "trigger_id").to_dicts()
    known = _known(memories, {id for row in chosen for id in row["memory_ids"]})
    return tuple(_trigger(row, known, today) for row in chosen)


def standing(state: str, trigger_on: date, today: date) -> Standing:
    """Returns how a trigger stands on the day."""
    if state == "past":
        return "past"
    if trigger_on < today:
        return "over"
    return "due" if trigger_on <= today + AHEAD else "waiting"


def _trigger(row: dict[str, Any], known: dict[str, tuple[str, str]], today: date) -> Trigger:
    found = dict(known[id] for id in row["memory_ids"] if id in known)
    same = ("trigger_id", "trigger_on", "expression", "said_at", "author", "message_id", "path", "line", "project", "person")
    return Trigger(
        **{name: row[name] for name in same},
        text=row["quote"],
        state=standing(row["state"], row["trigger_on"], today),
        session=row["session_id"],
        memory_ids=tuple(found),
        memories=tuple(found.values()),
    )


def _known(memories: pl.DataFrame, observation_ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Returns, for each observation, the memory that it is part of: its id and what it says."""
    shown = (
        memories.filter(pl.col("state").is_in(RECALLABLE)).select("id", "text", "observation_ids").explode("observation_ids")
    )
    found = shown.filter(pl.col("observation_ids").is_in(sorted(observation_ids)))
    return {observation: (id, text) for id, text, observation in found.iter_rows()}
