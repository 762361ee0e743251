"""Ranks the facts of a day, week or month, and decides which are excluded, whatever room there is.

Uses the memories as they were at the end of the period: which facts repeat, confirm or replace each
other. A problem that was solved within the facts is excluded; its solution and its root cause are
not.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from memory_assets.english.claims import read_claim
from memory_assets.schema.protocols import Row
from memory_assets.stages.recall.wording import exact_names
from memory_assets.stages.reflect.bullets import ORDER, Bullet
from memory_assets.text.patterns import patterns_beside

_PATTERNS = patterns_beside(__file__)
_PROBLEM = _PATTERNS["problem"]
_CAUSE = _PATTERNS["cause"]
_SOLUTION = _PATTERNS["solution"]
SHARED_WORDS = 0.5
"""Share of the words of a problem that a statement must repeat to be its solution. With a file name
or an identifier of the problem, two words are enough.
"""


def find_resolved(facts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Returns the solved problems: the id of the problem's fact, and that of its first solution.

    The facts must be in order of time, and a solution must come after its problem.
    """
    solutions = [number for number, fact in enumerate(facts) if _SOLUTION.search(fact["text"])]
    resolved: dict[str, str] = {}
    for number, fact in enumerate(facts):
        if _is_problem(fact):
            for later in solutions:
                if later > number and _is_about(facts[later], fact):
                    resolved[fact["id"]] = facts[later]["id"]
                    break
    return resolved


def _is_problem(fact: Mapping[str, Any]) -> bool:
    """Returns whether the fact states a problem that a later fact may solve.

    Rules, important statements of the owner, and facts with a cause or a solution do not.
    """
    text = fact["text"]
    is_rule = fact["category"] in ("rules-conventions", "preferences")
    is_owners = fact["author"] == "owner" and fact["priority"] == "high"
    if is_rule or is_owners:
        return False
    return bool(_PROBLEM.search(text)) and not (_CAUSE.search(text) or _SOLUTION.search(text))


def _is_about(solution: Mapping[str, Any], problem: Mapping[str, Any]) -> bool:
    solution_claim = read_claim(solution["text"])
    problem_claim = read_claim(problem["text"])
    words = {word for word in problem_claim.words if not _PROBLEM.fullmatch(word)}
    shared_count = len(solution_claim.words & words)
    if shared_count / max(len(words), 1) >= SHARED_WORDS:
        return True
    shares_name = not solution_claim.specifics.isdisjoint(problem_claim.specifics)
    return shared_count >= 2 and shares_name


class Exclusion(NamedTuple):
    """Why a fact is not written, and the id of the memory that has it or replaces it."""

    reason: str
    kept_as: str


@dataclass(frozen=True)
class Background:
    """The memories at the end of a period, by their ids."""

    memory_of: Mapping[str, str]
    """The memory of each observation."""
    session_counts: Mapping[str, int]
    """How many sessions confirm each memory."""
    replaced_by: Mapping[str, str]
    """The memory that supersedes each superseded memory."""
    forgotten: frozenset[str]

    @classmethod
    def of(cls, memories: pl.DataFrame) -> "Background":
        """Returns the background from the table `memories`."""
        rows = memories.select(
            "id", "observation_ids", "session_ids", "superseded_by", "state"
        ).to_dicts()
        return cls(
            {observation: row["id"] for row in rows for observation in row["observation_ids"]},
            {row["id"]: len(row["session_ids"]) for row in rows},
            {row["id"]: row["superseded_by"] for row in rows if row["superseded_by"]},
            frozenset(row["id"] for row in rows if row["state"] == "forgotten"),
        )

    def memory(self, observation_id: str) -> str:
        """Returns the memory of the observation; if it was never merged, the observation's id."""
        return self.memory_of.get(observation_id, observation_id)

    def ranked(self, bullets: Sequence[Bullet], facts: Sequence[Row]) -> list[Bullet]:
        """Returns the bullets, the most important first.

        Compared are, in this order: priority, whether the owner said it, in how many sessions, and
        how many exact names it has for its length.
        """
        owners = {row["id"] for row in facts if row["author"] == "owner"}

        def rank(bullet: Bullet) -> tuple[Any, ...]:
            session_count = self.session_counts.get(self.memory(bullet.ids[0]), 1)
            exactness = (1 + math.log1p(len(exact_names(bullet.text)))) / bullet.weight
            return (
                ORDER[bullet.priority],
                owners.isdisjoint(bullet.ids),
                -session_count,
                -exactness,
                bullet.ids[0],
            )

        return sorted(bullets, key=rank)

    def excluded(self, facts: Sequence[Row]) -> dict[str, Exclusion]:
        """Returns why facts are not written, whatever room there is, by their ids.

        The facts must be in order of time.
        """
        excluded: dict[str, Exclusion] = {}
        resolved = find_resolved([row for row in facts if row["gate"] == "allow"])
        for row in facts:
            memory = self.memory(row["id"])
            replacement = self.replaced_by.get(memory)
            solution = resolved.get(row["id"])
            if memory in self.forgotten:
                excluded[row["id"]] = Exclusion("forgotten", memory)
            elif row["gate"] != "allow":
                excluded[row["id"]] = Exclusion("held", memory)
            elif replacement:
                excluded[row["id"]] = Exclusion("replaced", replacement)
            elif solution:
                excluded[row["id"]] = Exclusion("resolved", self.memory(solution))
            elif row["priority"] == "low":
                excluded[row["id"]] = Exclusion("low", memory)
        return excluded
