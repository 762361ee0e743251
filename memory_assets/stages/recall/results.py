"""What a recall is asked with, and what it answers: results that say what they are, where from, and what spoke for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, get_args

import polars as pl

from memory_assets.schema.requests import CorpusName, Filters, State
from memory_assets.stages.distill.rows import short_id
from memory_assets.stages.recall.render import render_block

CORPORA = get_args(CorpusName)
"""What can be searched: facts and narratives, narratives alone, and what was said, word for word."""

ON_REQUEST = get_args(State)
"""States that a question sees only where its filters include them; what was forgotten is never seen."""

UNCERTAIN = 0.3
"""Confidence below which a memory is marked as uncertain."""


def condition(filters: Filters, columns: Sequence[str]) -> pl.Expr:
    """Returns what the rows of a frame with these columns must fulfil; a filter on a column that is missing is left out."""
    chosen = {"category": filters.category, "priority": filters.priority, "kind": filters.kind, "trigger": filters.trigger}
    named = {"project": filters.only_project, "person": filters.person, "session_id": filters.session}
    wanted: list[tuple[str, pl.Expr | None]] = [
        ("state", pl.col("state").is_in(list(filters.states))),
        *((name, pl.col(name).is_in(list(words)) if words else None) for name, words in chosen.items()),
        *((name, pl.col(name) == word if word else None) for name, word in named.items()),
        ("event_at", pl.col("event_at") >= filters.since if filters.since else None),
        ("event_at", pl.col("event_at") < filters.until if filters.until else None),
    ]
    return pl.all_horizontal(pl.lit(True), *(one for name, one in wanted if one is not None and name in columns))


def _encodable(name: str | None) -> str | None:
    """Returns the name with a question mark for each half of a character, which no name that is known can hold."""
    return name if name is None else name.encode("utf-8", "replace").decode()


@dataclass(frozen=True)
class Asker:
    """Who asks, where and when: what the ranking prefers, and what it must not hand back; a `now` without a zone is UTC."""

    now: datetime
    project: str | None = None
    person: str | None = None
    session: str | None = None
    recent: Sequence[str] = ()
    """The last messages of the conversation, oldest first."""

    def __post_init__(self) -> None:
        for name in ("project", "person", "session"):
            object.__setattr__(self, name, _encodable(getattr(self, name)))
        if self.now.tzinfo is None:
            object.__setattr__(self, "now", self.now.replace(tzinfo=UTC))


@dataclass(frozen=True)
class Recalled:
    """One result, with what speaks for it."""

    memory_id: str
    kind: str
    """fact, narrative or message."""
    text: str
    score: float
    confidence: float
    category: str
    priority: str
    age_days: int
    event_at: datetime
    session: str
    path: str
    lines: tuple[int, ...]
    project: str
    person: str = ""
    arms: tuple[str, ...] = ()
    """Which arms found it: keyword, vector, context, graph."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Factor → what the fused score was multiplied with."""
    tags: tuple[str, ...] = ()
    """uncertain, unconfirmed (inferred, and no other source says so), a state that is not active, `conflict:mem_…`."""


def as_result(
    row: Mapping[str, Any], now: datetime, *, score: float, arms: Sequence[str], weights: Mapping[str, float] | None = None
) -> Recalled:
    """Returns a row of `memories` as a result."""
    return Recalled(
        memory_id=row["id"],
        kind=row["kind"],
        text=row["text"],
        score=round(score, 6),
        confidence=row["confidence"],
        category=row["category"],
        priority=row["priority"],
        age_days=max((now - row["event_at"]).days, 0),
        event_at=row["event_at"],
        session=row["session_id"],
        path=row["path"],
        lines=tuple(row["lines"]),
        project=row["project"],
        person=row["person"],
        arms=tuple(arms),
        weights=weights or {},
        tags=tags_of(row),
    )


def tags_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what a reader should know before trusting the memory."""
    is_inferred = row["strength"] == "inferred" and row["author"] != "owner" and not row["confirmed_count"]
    tags = {
        row["state"]: row["state"] != "active",
        "uncertain": row["confidence"] < UNCERTAIN,
        "unconfirmed": is_inferred,
        **{f"conflict:{short_id(other)}": True for other in row["conflicts_with"]},
    }
    return tuple(tag for tag, is_set in tags.items() if is_set)


def surer_first(ordered: Sequence[Recalled]) -> list[Recalled]:
    """Returns the results with, of two that cannot both hold, the one of higher confidence first."""
    found = list(ordered)
    places = {short_id(one.memory_id): place for place, one in enumerate(found)}
    for place, one in enumerate(ordered):
        for tag in one.tags:
            other = places.get(tag.removeprefix("conflict:"), -1)
            if tag.startswith("conflict:") and other > place and found[other].confidence > found[place].confidence:
                found[place], found[other] = found[other], found[place]
    return found


@dataclass(frozen=True)
class LeftOut:
    """A candidate that was not returned, and why."""

    memory_id: str
    reason: str
    score: float


@dataclass(frozen=True)
class Cost:
    """What a recall took."""

    embeddings: int = 0
    index_queries: int = 0
    model_calls: int = 0
    model_tokens: int = 0
    usd: float = 0.0
    seconds: float = field(default=0.0, compare=False)

    def __add__(self, other: "Cost") -> "Cost":
        """Returns what both took together."""
        return Cost(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True)
class Answer:
    """The results, best first, and how they came about."""

    question: str
    profile: str
    results: tuple[Recalled, ...]
    considered: int
    """Candidates that the arms found."""
    asked: str = ""
    """What was searched for, after cleaning and rewriting."""
    left_out: tuple[LeftOut, ...] = ()
    degraded: str | None = None
    """`keyword` where vectors could not be asked, `vector` where words could not, `nothing` where neither could."""
    notes: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    """What took part beside words and vectors: rewrite, summaries, graph."""
    cost: Cost = Cost()
    is_known: bool = True
    """False: what was asked is not in memory."""
    likelihood: float = 1.0
    """How likely the answer is among what was searched."""
    tier: int = 2
    """Where the answer was found: 1 summaries, 2 memories, 3 what was said word for word."""

    def render(self) -> str:
        """Returns the block that is put in front of a prompt."""
        return render_block(self.results)
