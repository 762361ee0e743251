"""Proposes changes of lines that MEMORY.md holds already: replaced since, said more fully, contradicted, or too many.

Takes the entries as they stand, the present memories and the decisions; gives amendments. Only entries that are ours and
untouched are asked about: what a person wrote or reworded is theirs. An amendment is known by a key that says what would become
of which entry and why, so it gets its number once, and one that was rejected is not asked about again.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.embed.claims import read_claim
from memory_assets.stages.embed.notes import note_id
from memory_assets.stages.reflect.proposals import NUMBERED, following_number
from memory_assets.stages.triage.auto import ADOPTED, BY_OWNER, says_the_same
from memory_assets.stages.triage.entries import Standing
from memory_assets.stages.triage.memory_md import MOST_BYTES, MOST_ENTRIES, normal
from memory_assets.store.ledger import CORRECTED, Event

MOST_RETIRED_AT_ONCE = 20
"""A person reads that many in one sitting; the next triage asks about more."""

WORTH_MORE_WORDS = 2
"""One more word is a filler as often as not."""

WORTH = ("deprecated", "candidate", "established", "proven")
"""States of an entry, the one that is least missed first."""


@dataclass(frozen=True)
class Amendment:
    """A change of one entry that is to be asked about."""

    key: str
    standing: Standing
    text: str
    """What the entry would say; empty where it would go."""
    event_on: date
    reason: str
    memory: Mapping[str, Any] | None
    """The memory that speaks for the change."""


def plan_amendments(
    standings: Sequence[Standing],
    size: int,
    memories: pl.DataFrame,
    events: Sequence[Event],
    merged: pl.DataFrame,
    zone: tzinfo,
) -> list[Amendment]:
    """Returns the amendments that the state of the file asks for; `size` is the file's in bytes.

    `merged` are decisions with `proposal_id`, `text`, `entry` and `event_on`: proposals that said the same as an entry.
    """
    ours = [one for one in standings if one.is_ours]
    by_id = {row["id"]: row for row in memories.iter_rows(named=True)}
    corrections = {note_id(event) for event in events if event.kind == CORRECTED}
    planned = [
        *_replaced(ours, by_id, corrections, zone),
        *_said_more_fully(ours, merged),
        *(_retire(one, "contradicted", "more speaks against it than for it") for one in ours if _is_contradicted(one)),
        *(_retire(one, "many", _too_many(len(standings), size)) for one in _least_missed(ours, len(standings), size)),
    ]
    first = {one.standing.line: one for one in reversed(planned)}
    return [one for one in planned if first[one.standing.line] is one]


def plan_retirements(standings: Iterable[Standing], proposal_ids: Collection[str]) -> list[Amendment]:
    """Returns the amendments by which the lines of these proposals go, as far as they stand untouched."""
    return [_retire(one, "settings", ADOPTED) for one in standings if one.is_ours and one.proposal_id in proposal_ids]


def number_amendments(planned: Iterable[Amendment], events: Sequence[Event], day: date) -> list[tuple[str, dict[str, Any]]]:
    """Returns the number and the ledger's payload of each amendment that has none yet."""
    given = {event.payload["key"]: event.target for event in events if event.kind == NUMBERED}
    new = [one for one in planned if one.key not in given]
    first = following_number(day, given.values())
    return [(f"p-{day:%Y%m%d}-{first + n:03d}", _payload(one, day)) for n, one in enumerate(new)]


def read_amendments(events: Iterable[Event]) -> pl.DataFrame:
    """Returns the table `amendments` from the ledger."""
    rows = [
        {**event.payload["amends"], "proposal_id": event.target, "day": date.fromisoformat(event.payload["day"])}
        for event in events
        if event.kind == NUMBERED and "amends" in event.payload
    ]
    dated = [{**row, "event_on": date.fromisoformat(row["event_on"])} for row in rows]
    return schemas.frame_of("amendments", dated).sort("proposal_id")


def _replaced(
    ours: Sequence[Standing], by_id: Mapping[str, Mapping[str, Any]], corrections: Collection[str], zone: tzinfo
) -> Iterator[Amendment]:
    for one in ours:
        successor = _successor(one.memory, by_id) if one.memory else None
        if one.memory is None or successor is None or normal(successor["text"]) == normal(one.entry.text):
            continue
        is_owners = any(id in corrections for id in successor["observation_ids"])
        reason = BY_OWNER if is_owners else "a newer memory replaced it"
        day = successor["event_at"].astimezone(zone).date()
        yield Amendment(f"replace:{one.proposal_id}:{successor['id']}", one, successor["text"], day, reason, successor)


def _successor(memory: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Returns the active memory at the end of the chain that replaced this one."""
    seen: set[str] = set()
    while memory["state"] == "superseded" and memory["superseded_by"] in by_id and memory["id"] not in seen:
        seen.add(memory["id"])
        memory = by_id[memory["superseded_by"]]
    return memory if seen and memory["state"] == "active" else None


def _said_more_fully(ours: Sequence[Standing], merged: pl.DataFrame) -> Iterator[Amendment]:
    """Yields a fuller wording of an entry: a merged proposal that says the same, drops no word and adds some."""
    by_line = {one.line: one for one in ours}
    for row in merged.sort("proposal_id").iter_rows(named=True):
        one = by_line.get(row["entry"])
        if one and _is_fuller(row["text"], one.entry.text):
            key = f"merge:{one.proposal_id}:{row['proposal_id']}"
            yield Amendment(key, one, row["text"], row["event_on"], f"{row['proposal_id']} says the same and more", one.memory)


def _is_fuller(newer: str, older: str) -> bool:
    said, known = read_claim(newer).words, read_claim(older).words
    return known < said and len(said - known) >= WORTH_MORE_WORDS and says_the_same(newer, older)


def _is_contradicted(one: Standing) -> bool:
    return one.state == "deprecated" and one.memory is not None and one.memory["state"] == "active"


def _least_missed(ours: Sequence[Standing], count: int, size: int) -> list[Standing]:
    """Returns the entries to retire first where the file is too large: by state, then by how long they were not of use."""
    if count <= MOST_ENTRIES and size <= MOST_BYTES:
        return []
    ranked = sorted(ours, key=lambda one: (WORTH.index(one.state), _last_of_use(one)))
    chosen: list[Standing] = []
    for one in ranked[:MOST_RETIRED_AT_ONCE]:
        if count - len(chosen) <= MOST_ENTRIES and size <= MOST_BYTES:
            break
        chosen.append(one)
        size -= len(one.line.encode()) + 1
    return chosen


def _last_of_use(one: Standing) -> str:
    used: datetime | None = one.memory["last_used_at"] if one.memory else None
    return max(used.date().isoformat() if used else "", one.entry.on.isoformat())


def _too_many(count: int, size: int) -> str:
    return f"MEMORY.md holds {count} entries and {size:,} bytes; {MOST_ENTRIES} and {MOST_BYTES:,} are enough for a session"


def _retire(one: Standing, why: str, reason: str) -> Amendment:
    return Amendment(f"retire:{one.proposal_id}:{why}", one, "", one.entry.on, reason, one.memory)


def _payload(one: Amendment, day: date) -> dict[str, Any]:
    known = one.memory or {}
    return {
        "key": one.key,
        "day": str(day),
        "amends": {
            "section": one.standing.entry.section,
            "text": one.text,
            "entry": one.standing.line,
            "event_on": str(one.event_on),
            "reason": one.reason,
            "category": known.get("category", "projects"),
            "priority": known.get("priority", "medium"),
            "confidence": known.get("confidence", 0.5),
            "project": known.get("project", ""),
            "person": known.get("person", ""),
            "author": known.get("author", "owner"),
            "memory_id": known.get("id", ""),
            "observation_ids": list(known.get("observation_ids", ())),
            "session_ids": list(known.get("session_ids", ())),
            "reflection_id": "",
        },
    }
