"""Proposes changes of lines of MEMORY.md: replaced since, contradicted by a proposal, said more
fully, said in turns that were taken back, naming what was renamed or is gone, or too many.

Takes the status of the entries, the present memories and the decisions; returns amendments. Only
unchanged entries of ours are considered, because what a person wrote or reworded is theirs; that a
proposal contradicts such a line is asked about, too. The key of an amendment names the entry, the
change and its reason, so it is numbered once, and what was rejected is not proposed again.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from types import MappingProxyType
from typing import Any

import polars as pl

from memory_assets.english.claims import read_claim
from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Row
from memory_assets.stages.embed.notes import note_id
from memory_assets.stages.reflect.proposals import NUMBERED, following_number
from memory_assets.stages.triage.auto import ADOPTED, BY_OWNER
from memory_assets.stages.triage.comparison import says_the_same
from memory_assets.stages.triage.entries import EntryStatus
from memory_assets.stages.triage.file_sizes import FileSize
from memory_assets.stages.triage.memory_md import normal
from memory_assets.stages.verify.verifications import GoneNames
from memory_assets.store.ledger import CORRECTED, Event
from memory_assets.text.words import text_hash

MOST_RETIRED_AT_ONCE = 20
"""Retirements proposed by one triage, so that a person can review them at once."""

WORTH_MORE_WORDS = 2
"""A single extra word is often a filler."""

WORTH = ("deprecated", "candidate", "established", "proven")
"""States of an entry, the least valuable first."""


@dataclass(frozen=True)
class PlannedAmendment:
    """A proposed change of one entry."""

    key: str
    status: EntryStatus
    """The entry; one without a number is no line yet: its section gets a new one."""
    text: str
    """The new text; empty to retire the entry."""
    event_on: date
    reason: str
    memory: Row | None
    """The memory that supports the change."""


def plan_amendments(
    statuses: Sequence[EntryStatus],
    file: FileSize,
    memories: pl.DataFrame,
    events: Sequence[Event],
    merged: pl.DataFrame,
    zone: tzinfo,
    contradicting: Sequence[tuple[EntryStatus, Row]] = (),
    rewound: Collection[str] = (),
    outdated: Mapping[str, GoneNames] = MappingProxyType({}),
) -> list[PlannedAmendment]:
    """Returns the amendments that the entries of a file need.

    `merged` are decisions with `proposal_id`, `text`, `entry` and `event_on`: proposals that repeat
    an entry. `contradicting` are entries, whoever wrote them, each with the pending proposal that
    contradicts it. `rewound` are the ids of messages that a person took back, `outdated` what
    lines name that does not hold.
    """
    ours = [status for status in statuses if status.is_ours]
    by_id = {row["id"]: row for row in memories.iter_rows(named=True)}
    corrections = {note_id(event) for event in events if event.kind == CORRECTED}
    planned = [
        *_replaced(ours, by_id, corrections, zone),
        *(_contradicted(status, proposal) for status, proposal in contradicting),
        *_said_more_fully(ours, merged),
        *_retire_contradicted(ours),
        *_retire_rewound(ours, rewound),
        *_name_anew(ours, outdated),
        *(_retire(status, "many", file.text) for status in _least_missed(ours, file)),
    ]
    first_of_line: dict[str, PlannedAmendment] = {}
    for amendment in planned:
        first_of_line.setdefault(amendment.status.line, amendment)
    return list(first_of_line.values())


def _retire_contradicted(ours: Iterable[EntryStatus]) -> Iterator[PlannedAmendment]:
    for status in ours:
        is_active = status.memory is not None and status.memory["state"] == "active"
        if is_active and status.state == "deprecated":
            yield _retire(status, "contradicted", "more speaks against it than for it")


def _retire_rewound(
    ours: Iterable[EntryStatus], rewound: Collection[str]
) -> Iterator[PlannedAmendment]:
    """Yields the retirement of each line whose messages were all taken back, if nothing else in
    memory says the same.
    """
    for status in ours:
        evidence = status.promotion.payload.get("evidence", ()) if status.promotion else ()
        messages = {part["message_id"] for part in evidence}
        if messages and messages.issubset(rewound) and status.memory is None:
            yield _retire(status, "rewound", "the turns in which it was said were taken back")


def _name_anew(
    ours: Iterable[EntryStatus], outdated: Mapping[str, GoneNames]
) -> Iterator[PlannedAmendment]:
    """Yields each line with the new names of what it names, or the retirement of a line that names
    only what is gone.
    """
    for status in ours:
        names = outdated.get(status.line)
        if names is None:
            continue
        why = f"gone:{text_hash(names.mark)[:12]}"
        retirement = _retire(status, why, f"it {names.mark}")
        text = with_new_names(status.entry.text, names.new_names)
        if text != status.entry.text:
            yield replace(retirement, key=f"rename:{status.proposal_id}:{why}", text=text)
        elif names.is_all:
            yield retirement


def with_new_names(text: str, new_names: Mapping[str, str]) -> str:
    """Returns the text with new names where an old one stands whole; a folder keeps its slash."""
    longest_first = sorted(new_names, key=len, reverse=True)
    pattern = rf"(?<![\w./-])(\./)?({'|'.join(map(re.escape, longest_first))})(?![\w-])"

    def renamed(match: re.Match[str]) -> str:
        """Returns the new name of a match."""
        new_name = new_names[match[2]].rstrip("/")
        return f"{match[1] or ''}{new_name}{'/' if match[2].endswith('/') else ''}"

    return re.sub(pattern, renamed, text) if new_names else text


def plan_retirements(
    statuses: Iterable[EntryStatus], proposal_ids: Collection[str]
) -> list[PlannedAmendment]:
    """Returns the amendments that retire the unchanged lines of these proposals."""
    lines = (status for status in statuses if status.is_ours)
    adopted = (status for status in lines if status.proposal_id in proposal_ids)
    return [_retire(status, "settings", ADOPTED) for status in adopted]


def number_amendments(
    planned: Iterable[PlannedAmendment], events: Sequence[Event], day: date, *, first: int = 1
) -> list[tuple[str, dict[str, Any]]]:
    """Returns the number and the ledger's payload of each amendment without a number."""
    numbers = {event.payload["key"]: event.target for event in events if event.kind == NUMBERED}
    new = [amendment for amendment in planned if amendment.key not in numbers]
    free = following_number(day, numbers.values(), first=first)
    return [
        (f"p-{day:%Y%m%d}-{number:03d}", _payload(amendment, day))
        for number, amendment in enumerate(new, free)
    ]


def read_amendments(events: Iterable[Event]) -> pl.DataFrame:
    """Returns the table `amendments` from the ledger."""
    rows: dict[str, dict[str, Any]] = {}
    for event in events:
        row = event.payload.get("amends") if event.kind == NUMBERED else None
        if row:
            days = {
                "day": date.fromisoformat(event.payload["day"]),
                "event_on": date.fromisoformat(row["event_on"]),
            }
            rows.setdefault(event.payload["key"], {**row, "proposal_id": event.target, **days})
    return schemas.frame_of("amendments", rows.values()).sort("proposal_id")


def _replaced(
    ours: Sequence[EntryStatus],
    by_id: Mapping[str, Row],
    corrections: Collection[str],
    zone: tzinfo,
) -> Iterator[PlannedAmendment]:
    for status in ours:
        successor = _successor(status.memory, by_id) if status.memory else None
        if successor is None or normal(successor["text"]) == normal(status.entry.text):
            continue
        is_owners = any(id in corrections for id in successor["observation_ids"])
        reason = BY_OWNER if is_owners else "a newer memory replaced it"
        key = f"replace:{status.proposal_id}:{successor['id']}"
        day = successor["event_at"].astimezone(zone).date()
        yield PlannedAmendment(key, status, successor["text"], day, reason, successor)


def _successor(memory: Row, by_id: Mapping[str, Row]) -> Row | None:
    """Returns the active memory at the end of the chain of replacements."""
    seen: set[str] = set()
    while memory["state"] == "superseded" and memory["id"] not in seen:
        seen.add(memory["id"])
        memory = by_id.get(memory["superseded_by"], memory)
    return memory if seen and memory["state"] == "active" else None


def _said_more_fully(
    ours: Sequence[EntryStatus], merged: pl.DataFrame
) -> Iterator[PlannedAmendment]:
    """Yields fuller wordings of entries: merged proposals that drop no word and add some."""
    by_line = {status.line: status for status in ours}
    for row in merged.sort("proposal_id").iter_rows(named=True):
        status = by_line.get(row["entry"])
        if status and _is_fuller(row["text"], status.entry.text):
            key = f"merge:{status.proposal_id}:{row['proposal_id']}"
            reason = f"{row['proposal_id']} says the same and more"
            day = row["event_on"]
            yield PlannedAmendment(key, status, row["text"], day, reason, status.memory)


def contradiction_key(proposal_id: str) -> str:
    """Returns how the key of an amendment begins that a proposal led to by contradicting an
    entry.
    """
    return f"contradict:{proposal_id}:"


def _contradicted(status: EntryStatus, proposal: Row) -> PlannedAmendment:
    key = f"{contradiction_key(proposal['proposal_id'])}{text_hash(status.line)[:12]}"
    memory = {**proposal, "id": proposal["memory_id"]}
    return PlannedAmendment(
        key, status, proposal["text"], proposal["event_on"], proposal["support"], memory
    )


def _is_fuller(newer: str, older: str) -> bool:
    words = read_claim(newer).words
    older_words = read_claim(older).words
    is_longer = older_words < words and len(words - older_words) >= WORTH_MORE_WORDS
    return is_longer and says_the_same(newer, older)


def _least_missed(ours: Sequence[EntryStatus], file: FileSize) -> list[EntryStatus]:
    """Returns the entries to retire if the file is too large: by state, then those unused for
    longest.
    """
    ranked = sorted(ours, key=lambda status: (WORTH.index(status.state), _last_of_use(status)))
    chosen: list[EntryStatus] = []
    for status in ranked[:MOST_RETIRED_AT_ONCE]:
        if not file.is_too_long:
            break
        chosen.append(status)
        byte_count = file.byte_count - len(status.line.encode()) - 1
        file = replace(file, entry_count=file.entry_count - 1, byte_count=byte_count)
    return chosen


def _last_of_use(status: EntryStatus) -> str:
    used: datetime | None = status.memory["last_used_at"] if status.memory else None
    return max(used.date().isoformat() if used else "", status.entry.on.isoformat())


def _retire(status: EntryStatus, why: str, reason: str) -> PlannedAmendment:
    key = f"retire:{status.proposal_id}:{why}"
    return PlannedAmendment(key, status, "", status.entry.on, reason, status.memory)


WITHOUT_MEMORY: Row = {
    "id": "",
    "category": "projects",
    "priority": "medium",
    "confidence": 0.5,
    "project": "",
    "person": "",
    "author": "owner",
    "observation_ids": [],
    "session_ids": [],
}


def _payload(amendment: PlannedAmendment, day: date) -> dict[str, Any]:
    memory = amendment.memory or WITHOUT_MEMORY
    about = {name: memory[name] for name in WITHOUT_MEMORY if name != "id"}
    change = {
        "section": amendment.status.entry.section,
        "text": amendment.text,
        "entry": amendment.status.line if amendment.status.entry.number else None,
        "event_on": str(amendment.event_on),
        "reason": amendment.reason,
        "memory_id": memory["id"],
        "reflection_id": "",
    }
    return {"key": amendment.key, "day": str(day), "amends": {**change, **about}}
