"""What is known of facts beside their words: repeats, confirmations, replacements, and solutions of
the same day.

Made from the memories at the end of the day, week or month; gives each fact its rank, and the
reason to exclude it. Of a problem that was solved on the same day the solution is kept, and so is
the root cause.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.stages.embed.claims import read_claim
from memory_assets.stages.recall.wording import exact_names
from memory_assets.stages.reflect.bullets import ORDER, Bullet
from memory_assets.text.patterns import patterns_beside

_PATTERNS = patterns_beside(__file__)
_PROBLEM = _PATTERNS["problem"]
_CAUSE = _PATTERNS["cause"]
_SOLUTION = _PATTERNS["solution"]
SHARED_WORDS = 0.5
"""Share of the problem's own words, or one of its file names or identifiers, that its solution
repeats.
"""


def find_resolved(facts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Returns, by the id of each fact that states a problem, the id of the first later one that
    solves it.

    Facts are given in order of time. A rule, an important statement of the owner, and a fact with a
    cause or a solution are not problems.
    """
    solutions = [
        (number, fact) for number, fact in enumerate(facts) if _SOLUTION.search(fact["text"])
    ]
    resolved: dict[str, str] = {}
    for number, fact in enumerate(facts):
        if _is_problem(fact):
            solving = (
                solution["id"]
                for later, solution in solutions
                if later > number and _is_about(solution, fact)
            )
            solution_id = next(solving, None)
            if solution_id:
                resolved[fact["id"]] = solution_id
    return resolved


def _is_problem(fact: Mapping[str, Any]) -> bool:
    text = fact["text"]
    if fact["category"] in ("rules-conventions", "preferences") or (
        fact["author"],
        fact["priority"],
    ) == ("owner", "high"):
        return False
    return bool(_PROBLEM.search(text)) and not (_CAUSE.search(text) or _SOLUTION.search(text))


def _is_about(solution: Mapping[str, Any], problem: Mapping[str, Any]) -> bool:
    solved = read_claim(solution["text"])
    stated = read_claim(problem["text"])
    words = {word for word in stated.words if not _PROBLEM.fullmatch(word)}
    shared_count = len(solved.words & words)
    if shared_count / max(len(words), 1) >= SHARED_WORDS:
        return True
    return shared_count >= 2 and not solved.specifics.isdisjoint(stated.specifics)


class Exclusion(NamedTuple):
    """Why a fact is not written, and the memory that has it or replaces it."""

    reason: str
    kept_as: str


@dataclass(frozen=True)
class Background:
    """The memories of a moment, by the observations they are made of."""

    memory_of: Mapping[str, str]
    session_counts: Mapping[str, int]
    replaced_by: Mapping[str, str]
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
        """Returns the memory of the observation; one that was never merged is its own."""
        return self.memory_of.get(observation_id, observation_id)

    def ranked(self, bullets: Sequence[Bullet], facts: Sequence[Row]) -> list[Bullet]:
        """Returns the important bullets first: 🔴, the owner's words, confirmed ones, those exact
        for their length.
        """
        owners = {row["id"] for row in facts if row["author"] == "owner"}

        def rank(bullet: Bullet) -> tuple[Any, ...]:
            confirmed = self.session_counts.get(self.memory(bullet.ids[0]), 1)
            exactness = (1 + math.log1p(len(exact_names(bullet.text)))) / bullet.weight
            return (
                ORDER[bullet.priority],
                owners.isdisjoint(bullet.ids),
                -confirmed,
                -exactness,
                bullet.ids[0],
            )

        return sorted(bullets, key=rank)

    def excluded(self, facts: Sequence[Row]) -> dict[str, Exclusion]:
        """Returns the facts, given in order of time, that are not written whatever room there is,
        and why.
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
