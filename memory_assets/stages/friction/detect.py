"""Runs every detector on a week: no problem is reported twice, the most severe comes first."""

from collections.abc import Sequence
from datetime import UTC, datetime, time

from memory_assets.schema.protocols import Embedder
from memory_assets.stages.friction.corrections import find_corrections
from memory_assets.stages.friction.drift import find_drift
from memory_assets.stages.friction.failures import find_failures
from memory_assets.stages.friction.finding import RecurringProblem
from memory_assets.stages.friction.misuse import find_misuse
from memory_assets.stages.friction.skills import find_missing_skills
from memory_assets.stages.friction.stale import MemoryLine, Statement, find_stale
from memory_assets.stages.friction.week import Week


def detect(
    week: Week, lines: Sequence[MemoryLine], observed: Sequence[Statement], embedder: Embedder, *, owner: str
) -> list[RecurringProblem]:
    """Returns the problems of the week; `lines` are those of MEMORY.md, `observed` the week's facts."""
    misused = find_misuse(week, [(line.text, datetime.combine(line.on, time(), UTC)) for line in lines])
    skills = find_missing_skills(week, embedder)
    prohibited = {problem.subject.removeprefix("run ") for problem in misused}
    retyped = {id for problem in skills for id in problem.message_ids}
    entries = [line.text for line in lines]
    found = [
        *misused,
        *find_failures(week, embedder),
        *find_drift(week),
        *find_stale(week, lines, observed, embedder, owner=owner),
        *find_corrections(week, embedder, entries, owner=owner, prohibited=prohibited, retyped=retyped),
        *skills,
    ]
    return sorted(found, key=lambda problem: (-problem.severity, problem.kind, problem.subject))
