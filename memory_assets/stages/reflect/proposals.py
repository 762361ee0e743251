"""Proposes lines for MEMORY.md from a day's reflections, under numbers that are given once.

A memory is proposed on the first day on which it is worth it: high priority, or medium and said in two sessions. Only the
owner's own rules, preferences and people are proposed; facts of a project are, whoever's session said them. Numbers are
kept in the ledger, so a day that is made again proposes under the same ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.store.ledger import Event

NUMBERED = "proposal.numbered"
PERSONAL = frozenset({"preferences", "rules-conventions", "people-relationships"})
CONFIRMED_SESSIONS = 2
LONGEST_LINE = 300
_ORDER = {"high": 0, "medium": 1, "low": 2}


@dataclass(frozen=True)
class Numbering:
    """A number to be given: which proposal gets it, and what for."""

    proposal_id: str
    key: str
    day: date


def propose(
    day: date,
    reflections: pl.DataFrame,
    memories: pl.DataFrame,
    events: Sequence[Event],
    *,
    owner: str,
    sections: Mapping[str, str],
    zone: ZoneInfo,
) -> tuple[pl.DataFrame, list[Numbering]]:
    """Returns the day's proposals, and the numbers that have to be written to the ledger before the table is.

    `memories` are those as they stood at the end of the day.
    """
    reflected = _reflection_of(reflections)
    given = {event.payload["key"]: (event.target, event.payload["day"]) for event in events if event.kind == NUMBERED}
    worth = [(row, _given_to(row, day, given)) for row in _candidates(memories, reflected, owner)]
    chosen = [(row, number) for row, (number, on) in worth if on == str(day)]
    numbers = _number(day, chosen, given)
    rows = [_proposal(day, numbers[row["id"]], row, reflected, owner, sections, zone) for row, _ in chosen]
    new = [Numbering(numbers[row["id"]], row["id"], day) for row, number in chosen if number is None]
    return schemas.frame_of("proposals", rows).sort("proposal_id"), new


def section_of(category: str, sections: Mapping[str, str], owner: str) -> str:
    """Returns the section of MEMORY.md that a category belongs to."""
    return sections.get(category, "Notes").replace("{owner}", owner)


def _reflection_of(reflections: pl.DataFrame) -> dict[str, str]:
    return {o: r for r, ids in reflections.select("reflection_id", "observation_ids").iter_rows() for o in ids}


def _candidates(memories: pl.DataFrame, reflected: Mapping[str, str], owner: str) -> list[dict[str, Any]]:
    facts = memories.filter(
        (pl.col("state") == "active") & (pl.col("kind") == "fact") & (pl.col("text").str.len_chars() <= LONGEST_LINE)
    )
    rows = [
        row
        for row in facts.iter_rows(named=True)
        if any(o in reflected for o in row["observation_ids"]) and _is_worth(row, owner)
    ]
    return sorted(rows, key=lambda row: (_ORDER[row["priority"]], row["event_at"], row["id"]))


def _is_worth(memory: Mapping[str, Any], owner: str) -> bool:
    if memory["category"] in PERSONAL and memory["person"] != owner:
        return False
    confirmed = len(memory["session_ids"]) >= CONFIRMED_SESSIONS
    return memory["priority"] == "high" or (memory["priority"] == "medium" and confirmed)


def _given_to(memory: Mapping[str, Any], day: date, given: Mapping[str, tuple[str, str]]) -> tuple[str | None, str]:
    """Returns the number that the memory has and its day; none yet and this day, where it was never proposed.

    A backfilled older day gives a memory an older root, so the number is looked for under every observation it ever began
    with, and one that was given for this day wins: what was proposed, and perhaps decided, stays proposed.
    """
    known = [given[id] for id in memory["observation_ids"] if id in given]
    return next((one for one in known if one[1] == str(day)), next(iter(known), (None, str(day))))


def _number(
    day: date, chosen: Iterable[tuple[Mapping[str, Any], str | None]], given: Mapping[str, tuple[str, str]]
) -> dict[str, str]:
    free = following_number(day, (number for number, _ in given.values()))
    numbers = {}
    for row, number in chosen:
        numbers[row["id"]] = number or f"p-{day:%Y%m%d}-{free:03d}"
        free += number is None
    return numbers


def following_number(day: date, given: Iterable[str]) -> int:
    """Returns the first number of the day that no proposal has yet."""
    stem = f"p-{day:%Y%m%d}-"
    return max((int(number.removeprefix(stem)) for number in given if number.startswith(stem)), default=0) + 1


def _proposal(
    day: date,
    proposal_id: str,
    memory: Mapping[str, Any],
    reflected: Mapping[str, str],
    owner: str,
    sections: Mapping[str, str],
    zone: ZoneInfo,
) -> dict[str, Any]:
    copied = ("text", "category", "priority", "confidence", "project", "person", "author", "observation_ids", "session_ids")
    return {
        **{name: memory[name] for name in copied},
        "proposal_id": proposal_id,
        "day": day,
        "section": section_of(memory["category"], sections, owner),
        "event_on": memory["event_at"].astimezone(zone).date(),
        "memory_id": memory["id"],
        "reflection_id": next(reflected[o] for o in memory["observation_ids"] if o in reflected),
    }
