"""Condenses what one day's sessions said about a project: one reflection for each project and person.

The rules reflector keeps the 🔴 and notable 🟡 facts, repeats once, problems solved on the same day not at all, grouped by
category, each with the ids it rests on. What it leaves out is listed, so nothing vanishes unseen. The reflection must be
smaller than the facts and narratives it was made from; where it is not, it is tried again with more pressure (levels 1 and 2).
A day too small to shrink passes through, and where no pressure helps, everything notable is kept: a check warns.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

import polars as pl

from memory_assets import tables as schemas
from memory_assets.reflect.resolved import find_resolved

REFLECTOR = "rules/2"
NAMESPACE = uuid.UUID("5f0f8c1e-6a0f-4d55-9d0e-2a6b8f6f6b10")
MARKS = {"high": "🔴", "medium": "🟡", "low": "🟢"}
_ORDER = {"high": 0, "medium": 1, "low": 2}
CHARS_PER_TOKEN = 4
SMALL_TOKENS = 500
"""A smaller input passes through: its ids alone weigh as much as the facts."""

Row = Mapping[str, Any]
LEVELS: tuple[Callable[[Row], bool], ...] = (
    lambda row: row["priority"] in ("high", "medium"),
    lambda row: row["priority"] == "high" or row["author"] == "owner",
    lambda row: row["priority"] == "high",
)
"""Which facts survive at each level of pressure: all notable ones, then what is high or the owner's own, then what is high."""


def reflect_day(day: date, observations: pl.DataFrame, memory_of: Mapping[str, str]) -> pl.DataFrame:
    """Returns the day's reflections; `memory_of` maps an observation to the memory it is part of, so that repeats are one."""
    allowed = observations.filter(pl.col("gate") == "allow").sort("event_at", "id")
    rows = [
        _reflection(day, str(project), str(person), group.to_dicts(), memory_of)
        for (project, person), group in allowed.group_by("project", "person", maintain_order=True)
        if group.filter(pl.col("kind") == "fact").height
    ]
    return schemas.frame_of("reflections", rows).sort("reflection_id")


def estimate_tokens(text: str) -> int:
    """Returns the tokens of a text, estimated as a quarter of its characters."""
    return -(-len(text) // CHARS_PER_TOKEN)


def short_id(observation_id: str) -> str:
    """Returns the id as it is shown: `mem_` and twelve hex digits."""
    return f"mem_{observation_id.replace('-', '')[:12]}"


def _reflection(day: date, project: str, person: str, rows: Sequence[Row], memory_of: Mapping[str, str]) -> dict[str, Any]:
    facts = [row for row in rows if row["kind"] == "fact"]
    input_tokens = sum(row["tokens"] for row in rows)
    level, text, cited = _condense(facts, input_tokens, memory_of)
    return {
        "reflection_id": str(uuid.uuid5(NAMESPACE, f"{day}\x1f{project}\x1f{person}")),
        "day": day,
        "project": project,
        "person": person,
        "text": text,
        "observation_ids": cited,
        "dropped_ids": [row["id"] for row in facts if row["id"] not in set(cited)],
        "input_tokens": input_tokens,
        "output_tokens": estimate_tokens(text),
        "level": level,
        "reflector": REFLECTOR,
    }


def _condense(facts: Sequence[Row], input_tokens: int, memory_of: Mapping[str, str]) -> tuple[int, str, list[str]]:
    """Returns the pressure that was needed, the text and the ids cited."""
    resolved = find_resolved(facts)
    standing = [row for row in facts if row["id"] not in resolved]
    tried = []
    for level, keeps in enumerate(LEVELS):
        text, cited = _render([row for row in standing if keeps(row)], memory_of)
        tried.append((text, cited))
        if estimate_tokens(text) < input_tokens or input_tokens <= SMALL_TOKENS:
            return level, text, cited
    return len(LEVELS) - 1, *tried[0]


def _render(facts: Sequence[Row], memory_of: Mapping[str, str]) -> tuple[str, list[str]]:
    """Returns Markdown bullets by category, and the ids cited."""
    groups: dict[str, list[Row]] = {}
    for row in facts:
        groups.setdefault(memory_of.get(row["id"], row["id"]), []).append(row)
    newest = sorted((members for members in groups.values()), key=lambda m: (m[-1]["category"], _ORDER[m[-1]["priority"]]))
    lines, cited, category = [], [], None
    for members in newest:
        last = members[-1]
        if last["category"] != category:
            category = last["category"]
            lines.append(f"**{category}**")
        ids = [row["id"] for row in members]
        cited += ids
        lines.append(f"- {MARKS[last['priority']]} {last['text']} [{', '.join(short_id(id) for id in ids)}]")
    return "\n".join(lines), cited
