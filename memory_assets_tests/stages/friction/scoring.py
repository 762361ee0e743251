"""Compares what was found in a synthetic week with what was planted there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time

from memory_assets.schema.protocols import Embedder
from memory_assets.stages.friction.detect import detect
from memory_assets.stages.friction.finding import RecurringProblem
from memory_assets.stages.friction.week import read_week
from memory_assets.stages.triage.memory_md import read_entries
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets_tests.stages.friction.weeks import Planted, SyntheticWeek


@dataclass(frozen=True)
class Score:
    """Planted frictions that were found, as they should be, and those that were not; and what nobody planted."""

    found: tuple[Planted, ...] = ()
    missed: tuple[Planted, ...] = ()
    extra: tuple[RecurringProblem, ...] = ()

    def __add__(self, other: "Score") -> "Score":
        return Score(self.found + other.found, self.missed + other.missed, self.extra + other.extra)

    @property
    def recall(self) -> float:
        """Share of the planted ones that were found."""
        return len(self.found) / max(len(self.found) + len(self.missed), 1)

    @property
    def precision(self) -> float:
        """Share of the found ones that were planted."""
        return len(self.found) / max(len(self.found) + len(self.extra), 1)


def findings_of(
    week: SyntheticWeek, tables: ParquetTables, embedder: Embedder
) -> list[RecurringProblem]:
    """What the detectors find in the week's tables, beside its MEMORY.md."""
    entries = read_entries(week.memory_md)
    lines = [(entry.text, datetime.combine(entry.on, time(), UTC)) for entry in entries]
    return detect(
        read_week(tables.read("messages"), tables.read("sessions")),
        lines,
        embedder,
        owner="mira",
    )


def score(week: SyntheticWeek, findings: Sequence[RecurringProblem]) -> Score:
    """Kind, target, words and evidence of each planted friction have to agree: at least two of three of its sessions."""
    names, left, found, extra = week.session_names(), list(week.planted), [], []
    for finding in findings:
        sessions = {names[id] for id in finding.session_ids}
        match = next((one for one in left if _is_it(one, finding, sessions)), None)
        if match:
            left.remove(match)
            found.append(match)
        else:
            extra.append(finding)
    return Score(tuple(found), tuple(left), tuple(extra))


def _is_it(planted: Planted, finding: RecurringProblem, sessions: set[str]) -> bool:
    told = f"{finding.target} {finding.old} {finding.new}".lower()
    is_target = finding.kind == planted.kind and finding.target.endswith(planted.target)
    is_shown = 3 * len(planted.sessions & sessions) >= 2 * len(planted.sessions | sessions)
    return is_target and is_shown and all(word.lower() in told for word in planted.words)
