"""What is known of facts beside their words when a day, a week or a month is told of: repeats, confirmations, replacements.

Made from the memories as they stood at the end of that time; gives each fact its rank and tells why one is not told.
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
class Dropped:
    """Why a fact is not told, and the memory that still holds it or what stands in its place."""

    reason: str
    kept_as: str


@dataclass(frozen=True)
class Background:
    """Memories as they stood, by the observations they are made of."""

    memory_of: Mapping[str, str]
    session_counts: Mapping[str, int]
    replaced_by: Mapping[str, str]
    forgotten: frozenset[str]

    @classmethod
    def of(cls, memories: pl.DataFrame) -> "Background":
        """Returns what the memories tell."""
        rows = memories.select("id", "observation_ids", "session_ids", "superseded_by", "state").to_dicts()
        return cls(
            {observation: row["id"] for row in rows for observation in row["observation_ids"]},
            {row["id"]: len(row["session_ids"]) for row in rows},
            {row["id"]: row["superseded_by"] for row in rows if row["superseded_by"]},
            frozenset(row["id"] for row in rows if row["state"] == "forgotten"),
        )

    def memory(self, observation_id: str) -> str:
        """Returns the memory that the observation is part of; one that was never merged is its own."""
        return self.memory_of.get(observation_id, observation_id)

    def rank(self, bullet: Bullet, is_owners: bool) -> tuple[Any, ...]:
        """Returns what sorts the important first: 🔴, the owner's words, confirmed ones, what is exact for its length."""
        confirmed = self.session_counts.get(self.memory(bullet.ids[0]), 1)
        exactness = (1 + math.log1p(len(exact_names(bullet.text)))) / bullet.weight
        return (ORDER[bullet.priority], not is_owners, -confirmed, -exactness, bullet.ids[0])

    def set_aside(self, facts: Sequence[Row]) -> dict[str, Dropped]:
        """Returns the facts, given in order of time, that are not told whatever room there is, and why."""
        found: dict[str, Dropped] = {}
        resolved = find_resolved([row for row in facts if row["gate"] == "allow"])
        for row in facts:
            memory = self.memory(row["id"])
            if memory in self.forgotten:
                found[row["id"]] = Dropped("forgotten", memory)
            elif row["gate"] != "allow":
                found[row["id"]] = Dropped("held", memory)
            elif replacement := self.replaced_by.get(memory):
                found[row["id"]] = Dropped("replaced", replacement)
            elif solution := resolved.get(row["id"]):
                found[row["id"]] = Dropped("resolved", self.memory(solution))
            elif row["priority"] == "low":
                found[row["id"]] = Dropped("low", memory)
        return found
