"""Chooses the earlier memories that are shown with a question, and reads which of them the answer cites.

Takes memories as they stood and the messages of a call; gives the few that the call is about, within a budget. What
is shown depends on the day it is asked, so it is no part of an answer's key: it is kept beside the answer.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from memory_assets.schema.records import Priority
from memory_assets.stages.distill.rows import short_id
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.text.tokens import count_tokens
from memory_assets.text.words import stems_of

EARLIER_TOKENS = 4_000
"""Earlier observations take at most this much of a call (DUET)."""

LEAST_SHARE = 0.35
"""A memory that shares fewer of its words with the call is about something else."""

WEIGHT: dict[Priority, float] = {"high": 3.0, "medium": 2.0, "low": 1.0}

_CITED = re.compile(r"mem_[0-9a-f]{12}")
_CITATION = re.compile(r"\s*[\[(]\s*(?:memory\s+)?(?:ids?\s*:?\s*)?mem_[0-9a-f]{12}(?:\s*,\s*mem_[0-9a-f]{12})*\s*[\])]", re.I)


@dataclass(frozen=True)
class Remembered:
    """An earlier memory as a model is shown it."""

    id: str
    """`mem_` and twelve hex digits."""
    text: str
    stems: frozenset[str]
    weight: float
    event_at: datetime
    project: str
    person: str | None
    """Set for what concerns a person wherever they work."""


def read_remembered(memories: pl.DataFrame) -> list[Remembered]:
    """Returns the active facts, ready to be searched."""
    facts = memories.filter((pl.col("state") == "active") & (pl.col("kind") == "fact")).sort("id")
    columns = ("id", "text", "priority", "event_at", "project", "person", "scope")
    return [
        Remembered(
            short_id(row["id"]),
            row["text"],
            stems_of(row["text"]),
            1 + math.log(WEIGHT[row["priority"]]),
            row["event_at"],
            row["project"],
            row["person"] if row["scope"] == "person" else None,
        )
        for row in facts.select(columns).iter_rows(named=True)
    ]


def pick_earlier(remembered: Sequence[Remembered], messages: Sequence[Row], project: str, person: str) -> list[Remembered]:
    """Returns what was known before these messages and has to do with them, the closest first, within the budget."""
    began = min(message["event_at"] for message in messages)
    said = frozenset[str]().union(*(stems_of(m["text"]) for m in messages if m["author"] in ("owner", "assistant")))
    scored = [
        (-share * memory.weight, memory.id, memory)
        for memory in remembered
        if memory.event_at < began and (memory.person == person if memory.person else memory.project == project)
        if (share := len(memory.stems & said) / max(len(memory.stems), 1)) >= LEAST_SHARE
    ]
    picked, left = [], EARLIER_TOKENS
    for _, _, memory in sorted(scored, key=lambda entry: entry[:2]):
        left -= count_tokens(memory.text) + count_tokens(memory.id)
        if left < 0:
            break
        picked.append(memory)
    return picked


def read_citations(answer: str, shown_ids: Sequence[str]) -> tuple[str, ...]:
    """Returns the ids that the answer cites, of those that it was shown."""
    return tuple(sorted(set(_CITED.findall(answer)) & set(shown_ids)))


def without_citations(answer: str) -> str:
    """Returns the answer without ids of memories in brackets: they are no part of a fact."""
    return _CITATION.sub("", answer)
