"""Selects the earlier memories that are shown with a question, and finds the ones that its answer cites.

Takes memories and the messages of a call; returns the memories about the same subject, within a token budget. They depend on
the day of the call, so their ids are stored with the answer and are no part of its key.
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
"""Token budget of earlier memories in a call (DUET)."""

LEAST_SHARE = 0.35
"""Least share of a memory's words that the call must contain."""

WEIGHT: dict[Priority, float] = {"high": 3.0, "medium": 2.0, "low": 1.0}

_CITED = re.compile(r"mem_[0-9a-f]{12}")
_CITATION = re.compile(r"\s*[\[(]\s*(?:memory\s+)?(?:ids?\s*:?\s*)?mem_[0-9a-f]{12}(?:\s*,\s*mem_[0-9a-f]{12})*\s*[\])]", re.I)


@dataclass(frozen=True)
class EarlierMemory:
    """An earlier memory that may be shown to a model."""

    id: str
    """`mem_` and twelve hex digits."""
    text: str
    stems: frozenset[str]
    weight: float
    event_at: datetime
    project: str
    person: str | None
    """Set for facts about a person, which apply to all projects."""


def earlier_memories(memories: pl.DataFrame) -> list[EarlierMemory]:
    """Returns the active facts with their stems and weights."""
    facts = memories.filter((pl.col("state") == "active") & (pl.col("kind") == "fact")).sort("id")
    columns = facts.select("id", "text", "priority", "event_at", "project", pl.when(pl.col("scope") == "person").then("person"))
    return [
        EarlierMemory(short_id(id), text, stems_of(text), 1 + math.log(WEIGHT[priority]), *rest)
        for id, text, priority, *rest in columns.iter_rows()
    ]


def pick_earlier(memories: Sequence[EarlierMemory], messages: Sequence[Row], project: str, person: str) -> list[EarlierMemory]:
    """Returns the memories from before these messages that are related to them, the most similar first, within the budget."""
    began = min(message["event_at"] for message in messages)
    said = frozenset[str]().union(*(stems_of(m["text"]) for m in messages if m["author"] in ("owner", "assistant")))
    scored = [
        (-share * memory.weight, memory.id, memory)
        for memory in memories
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


def find_citations(answer: str, shown_ids: Sequence[str]) -> tuple[str, ...]:
    """Returns the shown ids that the answer cites."""
    return tuple(sorted(set(_CITED.findall(answer)) & set(shown_ids)))


def without_citations(answer: str) -> str:
    """Returns the answer without ids of memories in brackets."""
    return _CITATION.sub("", answer)
