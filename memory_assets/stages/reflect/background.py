"""What is known of facts beside their words: repeats, confirmations, replacements.

Made from the memories at the end of the day, week or month; gives each fact its rank, and the reason to exclude it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from memory_assets.stages.recall.wording import exact_names
from memory_assets.stages.reflect.bullets import ORDER, Bullet
from memory_assets.stages.reflect.resolved import find_resolved

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Exclusion:
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
        rows = memories.select("id", "observation_ids", "session_ids", "superseded_by", "state").to_dicts()
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
        """Returns the important bullets first: 🔴, the owner's words, confirmed ones, those exact for their length."""
        owners = {row["id"] for row in facts if row["author"] == "owner"}

        def rank(bullet: Bullet) -> tuple[Any, ...]:
            confirmed = self.session_counts.get(self.memory(bullet.ids[0]), 1)
            exactness = (1 + math.log1p(len(exact_names(bullet.text)))) / bullet.weight
            return (ORDER[bullet.priority], owners.isdisjoint(bullet.ids), -confirmed, -exactness, bullet.ids[0])

        return sorted(bullets, key=rank)

    def excluded(self, facts: Sequence[Row]) -> dict[str, Exclusion]:
        """Returns the facts, given in order of time, that are not written whatever room there is, and why."""
        found: dict[str, Exclusion] = {}
        resolved = find_resolved([row for row in facts if row["gate"] == "allow"])
        for row in facts:
            memory = self.memory(row["id"])
            if memory in self.forgotten:
                found[row["id"]] = Exclusion("forgotten", memory)
            elif row["gate"] != "allow":
                found[row["id"]] = Exclusion("held", memory)
            elif replacement := self.replaced_by.get(memory):
                found[row["id"]] = Exclusion("replaced", replacement)
            elif solution := resolved.get(row["id"]):
                found[row["id"]] = Exclusion("resolved", self.memory(solution))
            elif row["priority"] == "low":
                found[row["id"]] = Exclusion("low", memory)
        return found
