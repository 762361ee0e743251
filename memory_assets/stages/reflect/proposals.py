"""Proposes lines for MEMORY.md from a day's reflections, each under a number that never changes.

A memory is proposed on the first day on which it qualifies: high priority; or medium, and in two
sessions or a durable statement of the person who typed it. Of preferences and people only the
owner's are proposed; rules and facts of a project are, whoever of its people said them. Numbers are
kept in the ledger, so a rebuilt day proposes under the same ones. A number belongs to a memory's id
and to what it claims: if the id is gone, because the message now belongs to another session, the
memory that claims the same in the same project has the number, and with it what was decided.
"""

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
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
from memory_assets.store.store import NUMBERS_OF_A_FOLDER
from memory_assets.text.words import squeezed

NUMBERED = "proposal.numbered"
_COPIED = (
    "text",
    "category",
    "priority",
    "confidence",
    "project",
    "person",
    "author",
    "observation_ids",
    "session_ids",
)
CONFIRMED_SESSIONS = 2
LONGEST_LINE = 300

Numbers = list[tuple[str, dict[str, Any]]]
"""New numbers of proposals with their payload in the ledger: the `key` of what is proposed, its
`claim`, and the `day`.
"""


@dataclass(frozen=True)
class Claims:
    """Finds the numbers of proposals by what they claim, for memories whose ids changed."""

    key: bytes = b""
    """Of the keyed hash in the ledger, so that no forgotten text can be guessed from it."""
    present: Set[str] = frozenset()
    """Ids of all observations."""
    proposed: Mapping[str, str] = field(default_factory=dict)
    """Claim of each proposal in the table, for those numbered by a release that did not write it.
    """

    def of(self, text: str, project: str) -> str:
        """Returns the keyed hash of what a text claims in a project, without its case and final
        punctuation.
        """
        normal = squeezed(text).casefold().rstrip(".!")
        return hmac.new(self.key, f"{project}\x1f{normal}".encode(), hashlib.sha256).hexdigest()[
            :24
        ]

    def moved(self, events: Sequence[Event]) -> dict[str, str]:
        """Returns the number of each claim whose memory is gone under every id that it had."""
        claims = {
            event.target: event.payload["claim"] for event in events if event.payload.get("claim")
        }
        missing_numbers = (
            number for number, ids in ids_by_number(events).items() if self.present.isdisjoint(ids)
        )
        known_claims = {
            number: claims.get(number) or self.proposed.get(number) for number in missing_numbers
        }
        return {
            claim: number for number, claim in sorted(known_claims.items(), reverse=True) if claim
        }


def ids_by_number(events: Iterable[Event]) -> dict[str, list[str]]:
    """Returns the ids that the memory of each proposal of a new line had, the first one first."""
    ids: dict[str, list[str]] = defaultdict(list)
    for event in events:
        if event.kind == NUMBERED and not event.payload.keys() & {"amends", "friction"}:
            ids[event.target].append(event.payload["key"])
    return ids


def propose(
    day: date,
    reflections: pl.DataFrame,
    memories: pl.DataFrame,
    events: Sequence[Event],
    *,
    owner: str,
    sections: Mapping[str, str],
    zone: ZoneInfo,
    claims: Claims | None = None,
    first: int = 1,
) -> tuple[pl.DataFrame, Numbers]:
    """Returns the day's proposals, and the new numbers, which have to be written to the ledger
    before the table is.

    `memories` are those at the end of the day. A memory that has a number by its claim gets it
    again under its present id.
    """
    claims = claims or Claims()
    moved = claims.moved(events)
    reflected = _reflection_of(reflections)
    numberings = [event for event in events if event.kind == NUMBERED]
    # Of two machines, the first one's number.
    numbered = {
        event.payload["key"]: (event.target, event.payload["day"]) for event in numberings[::-1]
    }
    free = following_number(day, (event.target for event in numberings), first=first)
    rows: list[dict[str, Any]] = []
    new: Numbers = []
    for memory in _candidates(memories, reflected, owner):
        number, on = _given_to(memory, day, numbered)
        if on != str(day):
            continue
        if number is None:
            claim = claims.of(memory["text"], memory["project"])
            number = moved.pop(claim, None)
            if number is None:
                number = f"p-{day:%Y%m%d}-{free:03d}"
                free += 1
            new.append((number, {"key": memory["id"], "claim": claim, "day": str(day)}))
        row = _row(memory, reflected, zone)
        section = section_of(memory["category"], sections, owner)
        rows.append({**row, "proposal_id": number, "day": day, "section": section})
    return schemas.frame_of("proposals", rows).sort("proposal_id"), new


def _row(memory: Mapping[str, Any], reflected: Mapping[str, str], zone: ZoneInfo) -> dict[str, Any]:
    observation_ids = (id for id in memory["observation_ids"] if id in reflected)
    return {
        **{name: memory[name] for name in _COPIED},
        "event_on": memory["event_at"].astimezone(zone).date(),
        "memory_id": memory["id"],
        "reflection_id": reflected[next(observation_ids)],
    }


def _reflection_of(reflections: pl.DataFrame) -> dict[str, str]:
    """Returns the reflection of each observation; of several the last."""
    pairs = reflections.select("observation_ids", "reflection_id").explode("observation_ids")
    return dict(pairs.drop_nulls("observation_ids").iter_rows())


def section_of(category: str, sections: Mapping[str, str], owner: str) -> str:
    """Returns the section of MEMORY.md that a category belongs to."""
    return sections.get(category, "Notes").replace("{owner}", owner)


def _candidates(
    memories: pl.DataFrame, reflected: Mapping[str, str], owner: str
) -> list[dict[str, Any]]:
    is_valid = pl.col("state").is_in(VALID_STATES) & (
        pl.col("text").str.len_chars() <= LONGEST_LINE
    )
    facts = memories.filter(is_valid, kind="fact").to_dicts()
    rows = [
        row
        for row in facts
        if not reflected.keys().isdisjoint(row["observation_ids"]) and _qualifies(row, owner)
    ]
    return sorted(rows, key=lambda row: (ORDER[row["priority"]], row["event_at"], row["id"]))


def _qualifies(memory: Mapping[str, Any], owner: str) -> bool:
    if memory["category"] in PERSONAL and memory["person"] != owner:
        return False
    confirmed = len(memory["session_ids"]) >= CONFIRMED_SESSIONS
    return memory["priority"] == "high" or (
        memory["priority"] == "medium" and (confirmed or is_durable(memory))
    )


def _given_to(
    memory: Mapping[str, Any], day: date, numbered: Mapping[str, tuple[str, str]]
) -> tuple[str | None, str]:
    """Returns the number of the memory and its day; None and this day, where it was never proposed.

    A backfilled older day gives a memory an older root, so the number is looked up under all its
    observations. A number of this day is preferred: what was proposed, and perhaps decided, stays
    proposed.
    """
    earlier = [numbered[id] for id in memory["observation_ids"] if id in numbered]
    of_this_day = [number_and_day for number_and_day in earlier if number_and_day[1] == str(day)]
    return next(iter(of_this_day or earlier), (None, str(day)))


def following_number(
    day: date, numbers_given: Iterable[str], kind: str = "p", *, first: int = 1
) -> int:
    """Returns the first number of the day that no proposal of the kind has yet, of those that this
    folder gives.
    """
    stem = f"{kind}-{day:%Y%m%d}-"
    numbers = (int(id.removeprefix(stem)) for id in numbers_given if id.startswith(stem))
    of_folder = (n for n in numbers if first <= n < first + NUMBERS_OF_A_FOLDER)
    return max(of_folder, default=first - 1) + 1
