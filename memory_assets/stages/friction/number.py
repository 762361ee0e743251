"""Gives frictions their numbers, once and for all, and makes the rows of the table.

A friction is the same as an earlier one when kind and subject are, or when both rest on a message in common: the seven days
move on by a day at a time, and what is seen of it changes with them. One that was rejected is never raised again. One that was
approved, or that nobody decided in time, is raised under another number when it happens in seven days that begin afterwards:
then the change did not help, or it still hurts.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.friction.finding import Finding, most_common_session
from memory_assets.stages.friction.week import DAYS
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.store.ledger import Event

ONE_LINE = 300

KEPT_MESSAGES = 40
"""Messages kept in the ledger with a number, by which the friction is known again."""


@dataclass(frozen=True)
class Numbered:
    """A number to be given, and the ledger's payload."""

    proposal_id: str
    payload: dict[str, Any]


@dataclass(frozen=True)
class _Given:
    """A number that was given."""

    proposal_id: str
    day: date
    kind: str
    key: str
    message_ids: frozenset[str]
    closed_on: date | None
    """The day on which it was approved or expired; one that was rejected is closed for good."""


def key_of(finding: Finding) -> str:
    """Returns what is the same for a friction on every day."""
    digest = hashlib.sha256(f"{finding.kind}\x1f{finding.subject}".encode()).hexdigest()
    return f"friction:{digest[:24]}"


def number(
    day: date, findings: Sequence[Finding], events: Sequence[Event], zone: tzinfo
) -> tuple[list[tuple[str, Finding]], list[Numbered]]:
    """Returns the findings that belong to the day under their numbers, and the numbers that have to be given first."""
    given = _given(events, zone)
    own: list[tuple[str, Finding]] = []
    new: list[Numbered] = []
    taken = {one.proposal_id for one in given}
    for finding in findings:
        known = _known(finding, given, day)
        if known is None:
            id = _free(day, taken)
            new.append(Numbered(id, _payload(finding, day)))
            taken.add(id)
            own.append((id, finding))
        elif known.day == day and known.proposal_id not in {id for id, _ in own}:
            own.append((known.proposal_id, finding))
    return own, new


def rows_of(
    day: date,
    numbered: Sequence[tuple[str, Finding]],
    *,
    session_count: int,
    entries: Mapping[str, str],
    observed: Mapping[str, str],
    zone: tzinfo,
) -> pl.DataFrame:
    """Returns the table `friction` of the day.

    `session_count` are the sessions of the seven days, `entries` the lines of MEMORY.md as they are written, by their text, and
    `observed` the observations by the messages that they rest on.
    """
    rows = [_row(day, id, finding, session_count, entries, observed, zone) for id, finding in numbered]
    return schemas.frame_of("friction", rows).sort("proposal_id")


def _known(finding: Finding, given: Sequence[_Given], day: date) -> _Given | None:
    """Returns the number that the friction has; None where it needs one."""
    key, shown = key_of(finding), set(finding.message_ids)
    same = [one for one in given if one.kind == finding.kind and (one.key == key or one.message_ids & shown)]
    if not same:
        return None
    last = next((one for one in reversed(same) if one.day == day), max(same, key=lambda one: (one.day, one.proposal_id)))
    begins_after = last.closed_on is not None and day - timedelta(days=DAYS - 1) > last.closed_on
    return None if begins_after and last.day != day else last


def _given(events: Sequence[Event], zone: tzinfo) -> list[_Given]:
    closed = _closed(events, zone)
    numbers = (event for event in events if event.kind == NUMBERED and event.target.startswith("f-"))
    return [
        _Given(
            event.target,
            date.fromisoformat(event.payload["day"]),
            event.payload["friction"],
            event.payload["key"],
            frozenset(event.payload["message_ids"]),
            closed.get(event.target),
        )
        for event in numbers
    ]


def _closed(events: Sequence[Event], zone: tzinfo) -> dict[str, date]:
    """Returns the local day on which each friction was approved or expired, but for those that a person rejected."""
    closed: dict[str, date] = {}
    for event in events:
        is_expiry = event.kind == "proposal.decided" and event.payload.get("state") == "expired"
        if event.kind == "proposal.approved" or is_expiry:
            closed.setdefault(event.target, event.at.astimezone(zone).date())
    rejected = {event.target for event in events if event.kind == "proposal.rejected"}
    return {id: on for id, on in closed.items() if id not in rejected}


def _free(day: date, taken: Collection[str]) -> str:
    stem = f"f-{day:%Y%m%d}-"
    last = max((int(id.removeprefix(stem)) for id in taken if id.startswith(stem)), default=0)
    return f"{stem}{last + 1:03d}"


def _payload(finding: Finding, day: date) -> dict[str, Any]:
    shown = list(finding.message_ids)[:KEPT_MESSAGES]
    return {"key": key_of(finding), "day": str(day), "friction": finding.kind, "message_ids": shown}


def _row(
    day: date,
    id: str,
    finding: Finding,
    session_count: int,
    entries: Mapping[str, str],
    observed: Mapping[str, str],
    zone: tzinfo,
) -> dict[str, Any]:
    is_memory = finding.target == MEMORY_MD
    session = most_common_session(finding.occurrences)
    moments: list[datetime] = [one.at for one in finding.occurrences]
    ids = list(dict.fromkeys(observed[one] for one in finding.message_ids if one in observed))
    return {
        "proposal_id": id,
        "day": day,
        "kind": finding.kind,
        "title": finding.title,
        "target": finding.target,
        "folder": "" if is_memory else session.folder,
        "section": finding.section,
        "text": _one_line(finding),
        "entry": entries.get(finding.old) if is_memory and finding.old else None,
        "old": finding.old,
        "new": finding.new,
        "event_on": max(moments).astimezone(zone).date(),
        "category": "rules-conventions" if finding.section == "Hard Rules" else "operations",
        "priority": "high" if len(finding.session_ids) > 2 else "medium",
        "confidence": min(len(finding.session_ids) / (len(finding.session_ids) + 1), 1.0),
        "project": session.project,
        "person": session.person,
        "author": "owner" if finding.kind in ("repeated_correction", "stale_memory") else "assistant",
        "memory_id": "",
        "observation_ids": ids,
        "session_ids": list(finding.session_ids),
        "reflection_id": "",
        "message_ids": list(finding.message_ids),
        "occurrence_count": len(finding.occurrences),
        "session_count": len(finding.session_ids),
        "week_session_count": session_count,
        "minutes": round(finding.minutes, 2),
        "severity": round(finding.severity, 2),
        "first_event_at": min(moments),
        "event_at": max(moments),
    }


def _one_line(finding: Finding) -> str:
    """Returns the line that would come, or what is changed where it is more than a line or takes another's place."""
    if finding.target == MEMORY_MD:
        return finding.new
    is_line = not finding.old and "\n" not in finding.new and len(finding.new) <= ONE_LINE
    return finding.new if is_line else finding.title
