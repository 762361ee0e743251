"""All frictions of a week: each detector in turn, none told twice, the most severe first."""

from collections.abc import Sequence
from datetime import UTC, datetime, time

from memory_assets.schema.protocols import Embedder
from memory_assets.stages.friction.corrections import find_corrections
from memory_assets.stages.friction.drift import find_drift
from memory_assets.stages.friction.failures import find_failures
from memory_assets.stages.friction.finding import Finding
from memory_assets.stages.friction.misuse import find_misuse
from memory_assets.stages.friction.skills import find_missing_skills
from memory_assets.stages.friction.stale import Line, Statement, find_stale
from memory_assets.stages.friction.week import Week


def detect(
    week: Week, lines: Sequence[Line], observed: Sequence[Statement], embedder: Embedder, *, owner: str
) -> list[Finding]:
    """Returns the frictions of the week; `lines` are those of MEMORY.md, `observed` the week's facts."""
    entries = [line.text for line in lines]
    misused = find_misuse(week, [(line.text, datetime.combine(line.on, time(), UTC)) for line in lines])
    stale = find_stale(week, lines, observed, embedder, owner=owner)
    ruled_out = {finding.subject.removeprefix("run ") for finding in misused}
    skills = find_missing_skills(week, embedder)
    retyped = {id for finding in skills for id in finding.message_ids}
    found = [
        *misused,
        *find_failures(week, embedder),
        *find_drift(week),
        *stale,
        *find_corrections(week, embedder, entries, owner=owner, ruled_out=ruled_out, retyped=retyped),
        *skills,
    ]
    return sorted(found, key=lambda finding: (-finding.severity, finding.kind, finding.subject))
