"""Proposes lines for MEMORY.md from a day's reflections, each under a number that never changes.

A memory is proposed on the first day on which it qualifies. A line of MEMORY.md is read by every
session, so a report of what was done never qualifies, and a memory of low priority does not. The
others do if two sessions say them. What one session says qualifies if it is a rule, a preference, a
decision or a change of the owner, or the owner's fact about all of a kind; also the surest few
other facts of a day and project with high priority, but for the cause of a fault. The rest stays in
the memory, where it is recalled. Memories about preferences and people qualify only if they are the
owner's; for rules and facts of a project it does not matter who said them.

The ledger records the numbers, so that a rebuilt day proposes under the same numbers. A number
belongs to the memory's id and to its claim. The id disappears when the memory's message comes to
belong to another session. Then the memory with the same claim in the same project gets the number.
The decision about the proposal belongs to the number, and so stays valid.
"""

import hashlib
import hmac
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.english.standing import is_of_all
from memory_assets.schema import frames as schemas
from memory_assets.schema.records import VALID_STATES
from memory_assets.stages.distill.rows import PERSONAL
from memory_assets.stages.distill.write_gate import MOST_PERHAPS
from memory_assets.stages.embed.merge import NORMS
from memory_assets.stages.reflect.bullets import ORDER
from memory_assets.stages.reflect.durable import is_durable, is_passing
from memory_assets.store.ledger import Event
from memory_assets.store.store import NUMBERS_OF_A_FOLDER
from memory_assets.text.words import squeezed

NUMBERED = "proposal.numbered"
"""Event: a memory got the number of a proposal."""

# Columns that are copied from the memory.
_OF_MEMORY = tuple(
    "text category priority confidence project person author observation_ids session_ids".split()
)
CONFIRMED_SESSIONS = 2
MOST_SAID_ONCE = 3
"""Facts of a day and project that become proposals though only one session says them."""

LONGEST_LINE = 300

Numbers = list[tuple[str, dict[str, Any]]]
"""New numbers of proposals, each with its payload in the ledger: the `key`, which is the id of the
memory, the hash of its `claim`, and the `day`.
"""


@dataclass(frozen=True)
class Claims:
    """Finds the numbers of proposals by their claims, for memories whose ids changed."""

    key: bytes = b""
    """Key of the hashes. Only who has it can test whether a text is among those of the ledger, such
    as a forgotten text.
    """
    present: Set[str] = frozenset()
    """Ids of all observations."""
    proposed: Mapping[str, str] = field(default_factory=dict)
    """Claim of each proposal in the table: earlier releases did not write claims to the ledger."""

    def of(self, text: str, project: str) -> str:
        """Returns the hash of a text's claim in a project; case and final stop do not matter."""
        normal = squeezed(text).casefold().rstrip(".!")
        claim = f"{project}\x1f{normal}".encode()
        return hmac.new(self.key, claim, hashlib.sha256).hexdigest()[:24]

    def without_memory(self, events: Sequence[Event]) -> dict[str, str]:
        """Returns claim → number of the proposals whose memory is gone: no observation has one of
        its ids. If several have the same claim, the first number counts.
        """
        claims = {
            event.target: event.payload["claim"] for event in events if event.payload.get("claim")
        }
        numbers = {}
        # From the last number to the first, so that the first one of a claim is written last.
        for number, ids in reversed(ids_by_number(events).items()):
            claim = claims.get(number) or self.proposed.get(number)
            if claim and self.present.isdisjoint(ids):
                numbers[claim] = number
        return numbers


def ids_by_number(events: Iterable[Event]) -> dict[str, list[str]]:
    """Returns the ids that the memory of each proposal had, the first one first.

    Leaves out proposals that amend a line, or that are about friction.
    """
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
    first_number: int = 1,
    offered: pl.DataFrame | None = None,
) -> tuple[pl.DataFrame, Numbers]:
    """Returns the day's proposals, and the numbers to write to the ledger before the table.

    `offered` are held observations of the day that a person is asked about: perhaps rules.
    `memories` are those at the end of the day. A memory that has a number by its claim keeps it
    under its present id. Free numbers are given from `first_number` on.
    """
    claims = claims or Claims()
    numbers_by_claim = claims.without_memory(events)
    reflected = _reflection_of(reflections)
    numberings = [event for event in events if event.kind == NUMBERED]
    # If two machines numbered a memory, the first number counts: it is written last.
    numbered = {
        event.payload["key"]: (event.target, event.payload["day"]) for event in numberings[::-1]
    }
    used_numbers = [event.target for event in numberings]
    free = following_number(day, used_numbers, first=first_number)
    rows: list[dict[str, Any]] = []
    new_numbers: Numbers = []
    perhaps = [] if offered is None else _perhaps_rules(offered, numberings, day, owner)
    candidates = _without_most_said_once(_candidates(memories, reflected, owner), numbered)
    for memory in [*candidates, *perhaps]:
        number, proposed_on = _number_of(memory, day, numbered)
        # Another day has proposed it. If none has, `proposed_on` is this day.
        if proposed_on != str(day):
            continue
        if number is None:
            claim = claims.of(memory["text"], memory["project"])
            number = numbers_by_claim.pop(claim, None)
            if number is None:
                number = f"p-{day:%Y%m%d}-{free:03d}"
                free += 1
            # A reused number is noted as well: it now belongs to the memory's present id.
            payload = {"key": memory["id"], "claim": claim, "day": str(day)}
            offering = {"session": memory["session_id"]} if "gate_reason" in memory else {}
            new_numbers.append((number, {**payload, **offering}))
        row = _row(memory, reflected, zone)
        section = section_of(memory["category"], sections, owner)
        rows.append({**row, "proposal_id": number, "day": day, "section": section})
    return schemas.frame_of("proposals", rows).sort("proposal_id"), new_numbers


def _row(memory: Mapping[str, Any], reflected: Mapping[str, str], zone: ZoneInfo) -> dict[str, Any]:
    # Only a perhaps rule has no observation in a reflection.
    observation_ids = (id for id in memory["observation_ids"] if id in reflected)
    return {
        **{name: memory[name] for name in _OF_MEMORY},
        "event_on": memory["event_at"].astimezone(zone).date(),
        "memory_id": memory["id"],
        "reflection_id": reflected.get(next(observation_ids, ""), ""),
    }


def _reflection_of(reflections: pl.DataFrame) -> dict[str, str]:
    """Returns the reflection of each observation; if several have it, the last one."""
    pairs = reflections.select("observation_ids", "reflection_id").explode("observation_ids")
    return dict(pairs.drop_nulls("observation_ids").iter_rows())


def section_of(category: str, sections: Mapping[str, str], owner: str) -> str:
    """Returns the section of MEMORY.md that a category belongs to."""
    return sections.get(category, "Notes").replace("{owner}", owner)


def _candidates(
    memories: pl.DataFrame, reflected: Mapping[str, str], owner: str
) -> list[dict[str, Any]]:
    is_valid = pl.col("state").is_in(VALID_STATES)
    is_line = pl.col("text").str.len_chars() <= LONGEST_LINE
    facts = memories.filter(is_valid, is_line, kind="fact").to_dicts()
    rows = [
        row
        for row in facts
        if not reflected.keys().isdisjoint(row["observation_ids"]) and _qualifies(row, owner)
    ]
    return sorted(rows, key=lambda row: (ORDER[row["priority"]], row["event_at"], row["id"]))


def _perhaps_rules(
    offered: pl.DataFrame, numberings: Iterable[Event], day: date, owner: str
) -> list[dict[str, Any]]:
    """Returns what the owner may have meant as a rule, in the form of memories; of a session at
    most three, on all its days together.
    """
    earlier = Counter(
        event.payload.get("session") for event in numberings if event.payload["day"] != str(day)
    )
    rows: list[dict[str, Any]] = []
    for observation in offered.filter(person=owner).sort("event_at", "id").to_dicts():
        session_id = observation["session_id"]
        if earlier[session_id] < MOST_PERHAPS:
            earlier[session_id] += 1
            ids = {"observation_ids": [observation["id"]], "session_ids": [session_id]}
            rows.append({**observation, **ids})
    return rows


def _qualifies(memory: Mapping[str, Any], owner: str) -> bool:
    """Returns whether a memory may become a line, if enough speaks for it."""
    if memory["category"] in PERSONAL and memory["person"] != owner:
        return False
    return memory["priority"] in ("high", "medium") and not is_passing(memory["text"])


def _is_lasting(memory: Mapping[str, Any]) -> bool:
    """Returns whether two sessions say it, or the owner laid it down or stated it in general."""
    is_confirmed = len(memory["session_ids"]) >= CONFIRMED_SESSIONS
    is_of_kind = memory["priority"] == "high" or memory["category"] in NORMS | PERSONAL
    is_general = is_of_kind or is_of_all(memory["text"])
    return is_confirmed or (is_general and is_durable(memory))


def _without_most_said_once(
    candidates: Sequence[dict[str, Any]], numbered: Container[str]
) -> list[dict[str, Any]]:
    """Returns the candidates without those that one session says, but for the surest of each
    project.

    `numbered` are the observations of proposals: what was proposed once stays proposed.
    """
    counts: Counter[str] = Counter()
    chosen: set[str] = set()
    for memory in sorted(candidates, key=lambda row: (-row["confidence"], row["id"])):
        is_numbered = any(id in numbered for id in memory["observation_ids"])
        is_sure = memory["priority"] == "high" and "root_cause" not in memory["tags"]
        has_room = is_sure and counts[memory["project"]] < MOST_SAID_ONCE
        if _is_lasting(memory):
            chosen.add(memory["id"])
        elif is_numbered or has_room:
            counts[memory["project"]] += 1
            chosen.add(memory["id"])
    return [memory for memory in candidates if memory["id"] in chosen]


def _number_of(
    memory: Mapping[str, Any], day: date, numbered: Mapping[str, tuple[str, str]]
) -> tuple[str | None, str]:
    """Returns the number of the memory and its day; None and this day if it was never proposed.

    The number is looked up under all observations of the memory, because backfilling an older day
    changes which of them gives the memory its id. A number of this day is preferred, so that a
    proposal of this day, and the decision about it, stay.
    """
    numbers = [numbered[id] for id in memory["observation_ids"] if id in numbered]
    of_this_day = [number_and_day for number_and_day in numbers if number_and_day[1] == str(day)]
    return next(iter(of_this_day or numbers), (None, str(day)))


def following_number(
    day: date, used_numbers: Iterable[str], kind: str = "p", *, first: int = 1
) -> int:
    """Returns the lowest free number of the day for a proposal of the kind.

    Only the `NUMBERS_OF_A_FOLDER` numbers from `first` on belong to this data folder.
    """
    stem = f"{kind}-{day:%Y%m%d}-"
    numbers = (int(id.removeprefix(stem)) for id in used_numbers if id.startswith(stem))
    of_folder = (n for n in numbers if first <= n < first + NUMBERS_OF_A_FOLDER)
    return max(of_folder, default=first - 1) + 1
