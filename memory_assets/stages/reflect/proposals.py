"""Proposes lines for MEMORY.md from a day's reflections, each under a number that never changes.

A memory is proposed on the first day on which it qualifies: high priority; or medium, and in two sessions or a durable
statement of the person who typed it. Of preferences and people only the owner's are proposed; rules and facts of a project are,
whoever of its people said them. Numbers are kept in the ledger, so a rebuilt day proposes under the same ones.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.records import VALID_STATES
from memory_assets.stages.distill.rows import PERSONAL
from memory_assets.stages.reflect.bullets import ORDER
from memory_assets.stages.reflect.durable import is_durable
from memory_assets.store.ledger import Event

NUMBERED = "proposal.numbered"
_COPIED = ("text", "category", "priority", "confidence", "project", "person", "author", "observation_ids", "session_ids")
CONFIRMED_SESSIONS = 2
LONGEST_LINE = 300

Numbers = list[tuple[str, dict[str, Any]]]
"""New numbers of proposals with their payload in the ledger: the `key` of what is proposed, and the `day`."""


def propose(
    day: date,
    reflections: pl.DataFrame,
    memories: pl.DataFrame,
    events: Sequence[Event],
    *,
    owner: str,
    sections: Mapping[str, str],
    zone: ZoneInfo,
) -> tuple[pl.DataFrame, Numbers]:
    """Returns the day's proposals, and the new numbers, which have to be written to the ledger before the table is.

    `memories` are those at the end of the day.
    """
    reflected = {o: r for r, ids in reflections.select("reflection_id", "observation_ids").iter_rows() for o in ids}
    given = {event.payload["key"]: (event.target, event.payload["day"]) for event in events if event.kind == NUMBERED}
    free = following_number(day, (number for number, _ in given.values()))
    rows: list[dict[str, Any]] = []
    new: Numbers = []
    for memory in _candidates(memories, reflected, owner):
        number, on = _given_to(memory, day, given)
        if on != str(day):
            continue
        if number is None:
            number = f"p-{day:%Y%m%d}-{free + len(new):03d}"
            new.append((number, {"key": memory["id"], "day": str(day)}))
        copied = {name: memory[name] for name in _COPIED}
        rows.append(
            copied
            | {
                "proposal_id": number,
                "day": day,
                "section": section_of(memory["category"], sections, owner),
                "event_on": memory["event_at"].astimezone(zone).date(),
                "memory_id": memory["id"],
                "reflection_id": next(reflected[o] for o in memory["observation_ids"] if o in reflected),
            }
        )
    return schemas.frame_of("proposals", rows).sort("proposal_id"), new


def section_of(category: str, sections: Mapping[str, str], owner: str) -> str:
    """Returns the section of MEMORY.md that a category belongs to."""
    return sections.get(category, "Notes").replace("{owner}", owner)


def _candidates(memories: pl.DataFrame, reflected: Mapping[str, str], owner: str) -> list[dict[str, Any]]:
    is_valid = pl.col("state").is_in(VALID_STATES) & (pl.col("text").str.len_chars() <= LONGEST_LINE)
    facts = memories.filter(is_valid, kind="fact").to_dicts()
    rows = [row for row in facts if not reflected.keys().isdisjoint(row["observation_ids"]) and _qualifies(row, owner)]
    return sorted(rows, key=lambda row: (ORDER[row["priority"]], row["event_at"], row["id"]))


def _qualifies(memory: Mapping[str, Any], owner: str) -> bool:
    if memory["category"] in PERSONAL and memory["person"] != owner:
        return False
    confirmed = len(memory["session_ids"]) >= CONFIRMED_SESSIONS
    return memory["priority"] == "high" or (memory["priority"] == "medium" and (confirmed or is_durable(memory)))


def _given_to(memory: Mapping[str, Any], day: date, given: Mapping[str, tuple[str, str]]) -> tuple[str | None, str]:
    """Returns the number of the memory and its day; None and this day, where it was never proposed.

    A backfilled older day gives a memory an older root, so the number is looked up under all its observations. A number of
    this day is preferred: what was proposed, and perhaps decided, stays proposed.
    """
    known = [given[id] for id in memory["observation_ids"] if id in given]
    return next((one for one in known if one[1] == str(day)), next(iter(known), (None, str(day))))


def following_number(day: date, given: Iterable[str], kind: str = "p") -> int:
    """Returns the first number of the day that no proposal of the kind has yet."""
    stem = f"{kind}-{day:%Y%m%d}-"
    return max((int(number.removeprefix(stem)) for number in given if number.startswith(stem)), default=0) + 1
