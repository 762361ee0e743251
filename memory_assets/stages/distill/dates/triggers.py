"""Makes triggers: days ahead that the owner's messages name, and those that facts name outright, with what to recall then.

Takes a day's messages and observations, and when each archived range was captured; gives the table `triggers`. A day that had
passed when its message was captured is kept as `past` and never comes up.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.frames import hash_of
from memory_assets.stages.distill.dates.date_forms import Order
from memory_assets.stages.distill.dates.dates import Dated, find_dates

MOST_MEMORIES = 5
NEAR_LINES = 40
"""Records away from the message within which a fact is about the same matter."""

LONGEST_QUOTE = 240
_STOPS = ".!?\n"


@dataclass(frozen=True)
class Clock:
    """How moments become days: the owner's zone, and how they write day and month where the zone does not tell."""

    zone: ZoneInfo
    order: Order | None = None


def find_triggers(
    messages: pl.DataFrame, observations: pl.DataFrame, windows: pl.DataFrame, captured: Mapping[str, datetime], clock: Clock
) -> pl.DataFrame:
    """Returns the day's triggers; `captured` tells when each archived range was captured."""
    origin = {row["window_id"]: row for row in windows.select("window_id", "project", "person", "path").iter_rows(named=True)}
    facts = observations.filter((pl.col("gate") == "allow") & (pl.col("kind") == "fact")).to_dicts()
    told: dict[str, dict[str, Any]] = {row["message_id"]: row for row in messages.iter_rows(named=True)}
    found: dict[tuple[str, Any], dict[str, Any]] = {}
    for message, dated, text in (*_of_messages(told, clock), *_of_facts(facts, told, clock)):
        if message["window_id"] in origin:
            row = _row(message, dated, text, origin[message["window_id"]], facts, captured, clock)
            found.setdefault((row["session_id"], row["trigger_on"]), row)
    return schemas.frame_of("triggers", found.values()).sort("trigger_on", "trigger_id")


Found = tuple[dict[str, Any], Dated, str]
"""The message, the day, and the text that names it."""


def _of_messages(messages: Mapping[str, dict[str, Any]], clock: Clock) -> Iterator[Found]:
    """Yields what the owner said; of a time that was guessed nothing can be resolved."""
    for message in messages.values():
        if message["author"] == "owner" and message["kind"] == "text" and not message["is_time_guessed"]:
            for dated in find_dates(message["text"], message["event_at"], clock.zone, clock.order):
                yield message, dated, message["text"]


def _of_facts(facts: list[dict[str, Any]], messages: Mapping[str, dict[str, Any]], clock: Clock) -> Iterator[Found]:
    """Yields the days that facts name outright; how far away a day is, only the owner's own words tell."""
    for fact in facts:
        message = next((messages[id] for id in fact["message_ids"] if id in messages), None)
        if message is not None and not message["is_time_guessed"]:
            for dated in find_dates(fact["text"], fact["event_at"], clock.zone, clock.order):
                if dated.is_absolute:
                    yield message, dated, fact["text"]


def _row(
    message: Mapping[str, Any],
    dated: Dated,
    text: str,
    origin: Mapping[str, Any],
    facts: list[dict[str, Any]],
    captured: Mapping[str, datetime],
    clock: Clock,
) -> dict[str, Any]:
    captured_at = captured.get(message["resource_id"], message["event_at"])
    captured_on = captured_at.astimezone(clock.zone).date()
    return {
        "trigger_id": f"trg_{hash_of(message['message_id'], dated.on)[:12]}",
        "day": message["day"],
        "trigger_on": dated.on,
        "expression": dated.expression,
        "quote": quote_of(text, dated),
        "said_at": message["event_at"],
        "zone": clock.zone.key,
        "captured_at": captured_at,
        "state": "past" if dated.on < captured_on else "due",
        "author": message["author"],
        "message_id": message["message_id"],
        "line": message["line"],
        "session_id": message["session_id"],
        "path": origin["path"],
        "project": origin["project"],
        "person": origin["person"],
        "memory_ids": _to_recall(message, facts),
    }


def quote_of(text: str, dated: Dated) -> str:
    """Returns the sentence that names the day, shortened around it."""
    start = max((text.rfind(stop, 0, dated.start) + 1 for stop in _STOPS), default=0)
    ends = [end for end in (text.find(stop, dated.end) for stop in _STOPS) if end >= 0]
    end = min(ends, default=len(text))
    start = max(start, dated.start - LONGEST_QUOTE // 2)
    return " ".join(text[start : min(end + 1, start + LONGEST_QUOTE)].split())


def _to_recall(message: Mapping[str, Any], facts: list[dict[str, Any]]) -> list[str]:
    """Returns the facts of the same window that are nearest to the message, those that rest on it first."""

    def away(fact: Mapping[str, Any]) -> int:
        is_its_own = message["message_id"] in fact["message_ids"]
        return -1 if is_its_own else min((abs(line - message["line"]) for line in fact["lines"]), default=NEAR_LINES + 1)

    own = [fact for fact in facts if fact["window_id"] == message["window_id"]]
    near = sorted((away(fact), fact["id"]) for fact in own)
    return [id for distance, id in near if distance <= NEAR_LINES][:MOST_MEMORIES]
