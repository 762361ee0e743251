"""Writes the category summaries: the first tier that a broad question is answered from.

Takes the present memories; gives one summary for each category and project, and for each category
and person where a memory concerns a person. A line is a fact in its own words, the strongest
distinct ones first (priority, confidence, latest), with the id of its memory; nothing is reworded,
so a summary is as true as its facts.

The summaries of a category are also a page of the workspace, `summaries/CATEGORY.md`. The page that
it replaces stays beside it, named after the moment of its replacement (`-2` for the second of one
second): all of the present day, and the last one of each earlier day.
"""

import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Row
from memory_assets.schema.tables import version_of
from memory_assets.schema.vocabulary import MARKS
from memory_assets.text.short_ids import short_id
from memory_assets.text.words import CHARS_A_TOKEN, count_tokens, likeness

SUMMARISER = version_of("category_summaries")
NAMESPACE = uuid.UUID("2f6c1a52-9d0b-4c5f-8b7e-6f5f1f0f3a41")
MOST_FACTS = 12
MOST_TOKENS = 600
PAGES = "summaries"
_STAMP = "%Y%m%dT%H%M%SZ"
_GROUP = ("category", "scope", "project", "person")
SAME = 0.6
"""Likeness of two facts from which only one gets a line."""

MOST_COMPARED = 60
"""The strongest facts of a group that are compared: a summary of twelve lines needs no more."""

_RANK = {priority: rank for rank, priority in enumerate(MARKS)}


def summarise(memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the summaries of the active facts among the memories."""
    facts = memories.filter((pl.col("state") == "active") & (pl.col("kind") == "fact"))
    owned = facts.with_columns(
        pl.when(pl.col("scope") == name).then(name).otherwise(pl.lit("")).alias(name)
        for name in ("project", "person")
    )
    groups = owned.partition_by(*_GROUP, as_dict=True, maintain_order=True)
    return schemas.frame_of(
        "category_summaries",
        [_summary(key, group.to_dicts()) for key, group in sorted(groups.items())],
    )


def with_newer_memories(summaries: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the summaries with the memories since they were written first, so that notes are
    recalled at once.
    """
    latest = summaries["event_at"].max()
    newer = memories if latest is None else memories.filter(pl.col("event_at") > latest)
    if newer.is_empty():
        return summaries
    both = pl.concat([summarise(newer), summaries])
    grouped = both.group_by("summary_id", maintain_order=True)
    return grouped.agg(
        pl.col("memory_ids").explode().unique(maintain_order=True),
        pl.col("fact_count").sum(),
        pl.exclude("summary_id", "memory_ids", "fact_count").last(),
    )


def render_page(category: str, summaries: pl.DataFrame) -> str:
    """Returns a category's summaries as a page; empty where it has none."""
    if summaries.is_empty():
        return ""
    latest = summaries["event_at"].max()
    parts = [
        f"# {category}",
        f"_{summaries['fact_count'].sum():,} facts, the latest of {latest:%Y-%m-%d}._",
    ]
    for row in summaries.sort("project", "person").iter_rows(named=True):
        parts += [f"## {row['project'] or row['person'] or 'Everywhere'}", row["text"]]
    return "\n\n".join(parts) + "\n"


def page_of(category: str) -> str:
    """Returns the place of a category's page in the workspace."""
    return f"{PAGES}/{category}.md"


def replaced_page_of(category: str, at: datetime, taken: Collection[str] = ()) -> str:
    """Returns the place of the page that was replaced at that moment; `taken` are the places of
    others.
    """
    names = (f"{PAGES}/{category}.{at:{_STAMP}}{f'-{n}' if n > 1 else ''}.md" for n in count(1))
    return next(name for name in names if name not in taken)


def pages_to_delete(names: Iterable[str], today: date, zone: ZoneInfo) -> list[str]:
    """Returns the replaced pages of one category that are not kept: of days before today all but
    the last.
    """
    last: dict[date, str] = {}
    gone = []
    for name in sorted(names, key=_replaced_at):
        day = _replaced_at(name)[0].astimezone(zone).date()
        if day < today and day in last:
            gone.append(last[day])
        last[day] = name
    return gone


def _replaced_at(name: str) -> tuple[datetime, int]:
    """Returns when the page was replaced, and its number among those of that second."""
    stamp, _, number = name.split(".")[1].partition("-")
    return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC), int(number or 1)


def _summary(key: tuple[Any, ...], facts: Sequence[Row]) -> dict[str, Any]:
    kept = list(_fitting(_distinct(sorted(facts, key=_order)[:MOST_COMPARED])))
    text = "\n".join(map(_line, kept))
    return {
        "summary_id": str(uuid.uuid5(NAMESPACE, "\x1f".join(map(str, key)))),
        **dict(zip(_GROUP, key, strict=True)),
        "text": text,
        "memory_ids": [fact["id"] for fact in kept],
        "fact_count": len(facts),
        "tokens": count_tokens(text),
        "confidence": sum(fact["confidence"] for fact in kept) / len(kept),
        "first_event_at": min(fact["first_event_at"] for fact in facts),
        "event_at": max(fact["event_at"] for fact in facts),
        "summariser": SUMMARISER,
    }


def _order(fact: Row) -> tuple[Any, ...]:
    age = -fact["event_at"].timestamp()
    return _RANK[fact["priority"]], -fact["confidence"], age, fact["id"]


def _distinct(facts: Iterable[Row]) -> Iterator[Row]:
    kept: list[str] = []
    for fact in facts:
        if all(likeness(fact["text"], text) < SAME for text in kept):
            kept.append(fact["text"])
            yield fact


def _fitting(facts: Iterable[Row]) -> Iterator[Row]:
    """Yields the facts whose lines fit, the first one whatever its length."""
    left = MOST_TOKENS * CHARS_A_TOKEN
    for number, fact in enumerate(facts):
        left -= len(_line(fact)) + 1
        if number and (left < 0 or number >= MOST_FACTS):
            return
        yield fact


def _line(fact: Row) -> str:
    return f"- {MARKS[fact['priority']]} {' '.join(fact['text'].split())} [{short_id(fact['id'])}]"
