"""Detects the recurring problems (frictions) of a week, numbers each once, and makes the rows of
the table.

No problem is reported twice, the most severe comes first. A problem is the same as an earlier one
if kind and subject are, or if both share a message: the seven days move on by a day at a time, and
the messages with them. A rejected one is never raised again. One that was approved or expired is
raised under a new number if it happens in seven days that begin afterwards: the change did not
help, or the problem remains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.friction.corrections import find_corrections
from memory_assets.stages.friction.drift import find_drift
from memory_assets.stages.friction.failures import find_failures
from memory_assets.stages.friction.finding import PERMISSIONS, RULES_SECTION, RecurringProblem
from memory_assets.stages.friction.misuse import find_misuse
from memory_assets.stages.friction.skills import find_missing_skills
from memory_assets.stages.friction.week import DAYS, Week
from memory_assets.stages.reflect.proposals import NUMBERED, Numbers, following_number
from memory_assets.store.ledger import Event

ONE_LINE = 300

Numbered = list[tuple[str, RecurringProblem]]
"""Problems with their numbers."""

_COPIED = "kind title target section old new session_ids message_ids".split()

KEPT_MESSAGES = 40
"""Messages kept in the ledger with a number, to recognise the problem."""


def detect(
    week: Week,
    lines: Sequence[tuple[str, datetime]],
    embedder: Embedder,
    *,
    owner: str,
    broken_rules: Sequence[RecurringProblem] = (),
) -> list[RecurringProblem]:
    """Returns the problems of the week; `lines` are those of MEMORY.md, each with its day."""
    misused = find_misuse(week, lines)
    prohibited = {problem.subject.removeprefix("run ") for problem in misused}
    entries = [text for text, _ in lines]
    reported = {id for problem in broken_rules for id in problem.message_ids}
    found = [
        *broken_rules,
        *(problem for problem in misused if reported.isdisjoint(problem.message_ids)),
        *find_failures(week, embedder),
        *find_drift(week),
        *find_corrections(week, embedder, entries, owner=owner, prohibited=prohibited),
        *find_missing_skills(week, embedder),
    ]
    return sorted(found, key=lambda problem: (-problem.severity, problem.kind, problem.subject))


def key_of(problem: RecurringProblem) -> str:
    """Returns what identifies a problem on every day."""
    return f"friction:{schemas.hash_of(problem.kind, problem.subject)}"


def number(
    day: date,
    problems: Sequence[RecurringProblem],
    events: Sequence[Event],
    zone: tzinfo,
    *,
    first: int = 1,
) -> tuple[Numbered, Numbers]:
    """Returns the problems that belong to the day under their numbers, and the numbers to assign
    first.
    """
    numbers = [event for event in events if event.kind == NUMBERED]
    known = [event for event in numbers if event.target.startswith("f-")]
    closed = _closed_on(events, zone)
    free = following_number(day, (event.target for event in known), "f", first=first)
    own: dict[str, RecurringProblem] = {}
    new: Numbers = []
    for problem in problems:
        earlier = _same(problem, known, closed, day)
        if earlier is None:
            id = f"f-{day:%Y%m%d}-{free + len(new):03d}"
            shown = list(problem.message_ids)[:KEPT_MESSAGES]
            about = {"key": key_of(problem), "day": str(day), "friction": problem.kind}
            new.append((id, {**about, "message_ids": shown}))
            own[id] = problem
        elif earlier.payload["day"] == str(day):
            own.setdefault(earlier.target, problem)
    return list(own.items()), new


def follow(numbered: Numbered, later: Sequence[RecurringProblem]) -> Numbered:
    """Returns the problems with the occurrences that were found of them until `later`."""
    return [(id, replace(one, occurrences=_latest(one, later).occurrences)) for id, one in numbered]


def _latest(problem: RecurringProblem, later: Sequence[RecurringProblem]) -> RecurringProblem:
    """Returns the same problem as it was found later."""
    same = [other for other in later if _is_same(problem, other)]
    return max([problem, *same], key=lambda each: len(each.occurrences))


def _is_same(problem: RecurringProblem, other: RecurringProblem) -> bool:
    """Returns whether the other is of that kind, with its subject or most of its messages."""
    shared = set(problem.message_ids).intersection(other.message_ids)
    is_like = other.subject == problem.subject or 2 * len(shared) > len(problem.message_ids)
    return other.kind == problem.kind and is_like


def _same(
    problem: RecurringProblem, known: Sequence[Event], closed: Mapping[str, date], day: date
) -> Event | None:
    """Returns the event with the number that the problem has; None if it needs one."""
    key = key_of(problem)
    shown = set(problem.message_ids)
    of_kind = [event for event in known if event.payload["friction"] == problem.kind]
    same = [
        event
        for event in of_kind
        if event.payload["key"] == key or shown.intersection(event.payload["message_ids"])
    ]
    of_day = [event for event in same if event.payload["day"] == str(day)]
    if of_day:
        return of_day[-1]
    last = max(same, key=lambda event: (event.payload["day"], event.target), default=None)
    closed_on = closed.get(last.target) if last else None
    return None if closed_on and day - timedelta(days=DAYS - 1) > closed_on else last


def _closed_on(events: Sequence[Event], zone: tzinfo) -> dict[str, date]:
    """Returns the days on which proposals were approved or expired; a rejected one is closed for
    good, without a day.
    """
    closed: dict[str, date] = {}
    for event in events:
        is_expiry = event.kind == "proposal.decided" and event.payload.get("state") == "expired"
        if event.kind == "proposal.approved" or is_expiry:
            closed.setdefault(event.target, event.at.astimezone(zone).date())
    rejected = {event.target for event in events if event.kind == "proposal.rejected"}
    return {id: on for id, on in closed.items() if id not in rejected}


def rows_of(
    day: date,
    numbered: Numbered,
    *,
    session_count: int,
    observed: dict[str, str],
    zone: tzinfo,
) -> pl.DataFrame:
    """Returns the table `friction` of the day.

    `session_count` counts the sessions of the seven days; `observed` maps messages to the
    observations that rest on them.
    """
    rows = []
    for id, problem in numbered:
        is_memory = problem.file == MEMORY_MD
        is_rule = problem.section == RULES_SECTION
        is_owners = problem.kind == "repeated_correction"
        session = problem.session
        sessions = len(problem.session_ids)
        moments = [occurrence.at for occurrence in problem.occurrences]
        observations = (observed[id] for id in problem.message_ids if id in observed)
        rows.append(
            {
                **{name: getattr(problem, name) for name in _COPIED},
                "proposal_id": id,
                "day": day,
                "folder": "" if is_memory else session.folder,
                "text": _one_line(problem),
                "event_on": max(moments).astimezone(zone).date(),
                "category": "rules-conventions" if is_rule else "operations",
                "priority": "high" if sessions > 2 else "medium",
                "confidence": sessions / (sessions + 1),
                "project": session.project if len(problem.projects) == 1 else "",
                "person": session.person,
                "author": "owner" if is_owners else "assistant",
                "memory_id": "",
                "observation_ids": list(dict.fromkeys(observations)),
                "reflection_id": "",
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
    """Returns the new line, or the title if the change is more than one line or replaces
    another.
    """
    is_text = problem.section not in PERMISSIONS and not problem.old
    is_line = is_text and "\n" not in problem.new and len(problem.new) <= ONE_LINE
    return problem.new if is_line or problem.file == MEMORY_MD else problem.title
