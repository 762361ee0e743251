"""Numbers recurring problems (frictions) once, and makes the rows of the table.

A problem is the same as an earlier one if kind and subject are, or if both share a message: the seven days move on by a day at
a time, and the messages with them. A rejected one is never raised again. One that was approved or expired is raised under a new
number if it happens in seven days that begin afterwards: the change did not help, or the problem remains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.friction.finding import RULES_SECTION, RecurringProblem
from memory_assets.stages.friction.week import DAYS
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.store.ledger import Event

ONE_LINE = 300

KEPT_MESSAGES = 40
"""Messages kept in the ledger with a number, to recognise the problem."""


@dataclass(frozen=True)
class NumberedProblem:
    """A number to assign, and the ledger's payload."""

    proposal_id: str
    payload: dict[str, Any]


@dataclass(frozen=True)
class _Known:
    """A number that was assigned."""

    proposal_id: str
    day: date
    kind: str
    key: str
    message_ids: frozenset[str]
    closed_on: date | None
    """The day on which it was approved or expired; a rejected one is closed for good."""


def key_of(problem: RecurringProblem) -> str:
    """Returns what identifies a problem on every day."""
    return f"friction:{schemas.hash_of(problem.kind, problem.subject)}"


def number(
    day: date, problems: Sequence[RecurringProblem], events: Sequence[Event], zone: tzinfo
) -> tuple[list[tuple[str, RecurringProblem]], list[NumberedProblem]]:
    """Returns the problems that belong to the day under their numbers, and the numbers to assign first."""
    known = _known(events, zone)
    own: dict[str, RecurringProblem] = {}
    new: list[NumberedProblem] = []
    stem = f"f-{day:%Y%m%d}-"
    last = max((int(one.proposal_id.removeprefix(stem)) for one in known if one.proposal_id.startswith(stem)), default=0)
    for problem in problems:
        earlier = _same(problem, known, day)
        if earlier is None:
            id = f"{stem}{last + len(new) + 1:03d}"
            shown = list(problem.message_ids)[:KEPT_MESSAGES]
            payload = {"key": key_of(problem), "day": str(day), "friction": problem.kind, "message_ids": shown}
            new.append(NumberedProblem(id, payload))
            own[id] = problem
        elif earlier.day == day:
            own.setdefault(earlier.proposal_id, problem)
    return list(own.items()), new


def _same(problem: RecurringProblem, known: Sequence[_Known], day: date) -> _Known | None:
    """Returns the number that the problem has; None if it needs one."""
    key, shown = key_of(problem), set(problem.message_ids)
    same = [one for one in known if one.kind == problem.kind and (one.key == key or one.message_ids & shown)]
    if not same:
        return None
    last = next((one for one in reversed(same) if one.day == day), max(same, key=lambda one: (one.day, one.proposal_id)))
    begins_after = last.closed_on is not None and day - timedelta(days=DAYS - 1) > last.closed_on
    return None if begins_after and last.day != day else last


def _known(events: Sequence[Event], zone: tzinfo) -> list[_Known]:
    closed: dict[str, date] = {}
    for event in events:
        is_expiry = event.kind == "proposal.decided" and event.payload.get("state") == "expired"
        if event.kind == "proposal.approved" or is_expiry:
            closed.setdefault(event.target, event.at.astimezone(zone).date())
    for event in events:
        if event.kind == "proposal.rejected":
            closed.pop(event.target, None)
    return [
        _Known(
            id, date.fromisoformat(said["day"]), said["friction"], said["key"], frozenset(said["message_ids"]), closed.get(id)
        )
        for id, said in ((event.target, event.payload) for event in events if event.kind == NUMBERED)
        if id.startswith("f-")
    ]


def rows_of(
    day: date,
    numbered: Sequence[tuple[str, RecurringProblem]],
    *,
    session_count: int,
    entries: Mapping[str, str],
    observed: Mapping[str, str],
    zone: tzinfo,
) -> pl.DataFrame:
    """Returns the table `friction` of the day.

    `session_count` counts the sessions of the seven days, `entries` maps the texts of MEMORY.md to their lines, and `observed`
    messages to the observations that rest on them.
    """
    rows = []
    for id, problem in numbered:
        is_memory, session, sessions = problem.file == MEMORY_MD, problem.session, len(problem.session_ids)
        moments = [one.at for one in problem.occurrences]
        rows.append(
            {
                "proposal_id": id,
                "day": day,
                "kind": problem.kind,
                "title": problem.title,
                "target": problem.target,
                "folder": "" if is_memory else session.folder,
                "section": problem.section,
                "text": _one_line(problem),
                "entry": entries.get(problem.old) if is_memory and problem.old else None,
                "old": problem.old,
                "new": problem.new,
                "event_on": max(moments).astimezone(zone).date(),
                "category": "rules-conventions" if problem.section == RULES_SECTION else "operations",
                "priority": "high" if sessions > 2 else "medium",
                "confidence": sessions / (sessions + 1),
                "project": session.project,
                "person": session.person,
                "author": "owner" if problem.kind in ("repeated_correction", "stale_memory") else "assistant",
                "memory_id": "",
                "observation_ids": list(dict.fromkeys(observed[one] for one in problem.message_ids if one in observed)),
                "session_ids": list(problem.session_ids),
                "reflection_id": "",
                "message_ids": list(problem.message_ids),
                "occurrence_count": len(problem.occurrences),
                "session_count": sessions,
                "week_session_count": session_count,
                "minutes": round(problem.minutes, 2),
                "severity": round(problem.severity, 2),
                "first_event_at": min(moments),
                "event_at": max(moments),
            }
        )
    return schemas.frame_of("friction", rows).sort("proposal_id")


def _one_line(problem: RecurringProblem) -> str:
    """Returns the new line, or the title if the change is more than one line or replaces another."""
    is_line = not problem.old and "\n" not in problem.new and len(problem.new) <= ONE_LINE
    return problem.new if is_line or problem.file == MEMORY_MD else problem.title
