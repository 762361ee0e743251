"""The result of observing a window: candidate facts, and a model's narrative of each segment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from memory_assets.schema.vocabulary import Author, Priority, Sentiment, Strength

FactKind = Literal[
    "rule",
    "preference",
    "correction",
    "decision",
    "root_cause",
    "state_change",
    "result",
    "gotcha",
    "answer",
    "fact",
    "narrative",
]
"""The kind of a fact; used by the gate and the taxonomy, not stored."""

OWNERS_KINDS: frozenset[FactKind] = frozenset({"rule", "preference", "correction"})
"""Kinds that require the owner's own words."""

START_CONFIDENCE: dict[Strength, float] = {"explicit": 0.9, "implied": 0.7, "inferred": 0.5}
"""Confidence at extraction (A77 Strength); later evidence changes it."""

FACT_CHARS = 300
"""Longer texts hold more than one fact."""

MOST_LINES = 12
"""Most lines of evidence; more are not specific."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that may be stored, with its evidence."""

    text: str
    kind: FactKind
    priority: Priority
    author: Author
    strength: Strength
    usefulness: float
    """Value for a later session, 0 to 1."""
    confidence: float
    event_at: datetime
    lines: tuple[int, ...]
    message_ids: tuple[str, ...]
    quote: str
    """Words of the evidence; before the items are added, the source sentence."""
    segment: int = 0
    sentiment: Sentiment = "neutral"
    entities: tuple[str, ...] = ()
    clock_times: tuple[str, ...] = ()
    is_overturned: bool = False
    """A later statement of the window contradicts it."""
    hint: str | None = None
    """The verdict of the model; none from the rules observer."""
    hint_confidence: float | None = None
    hint_category: str | None = None
    ungrounded_times: tuple[str, ...] = ()
    """Clock times in the text that occur in no source."""
    fault: str = ""
    """Why the evidence of a model's fact is not enough: unsupported, unknown name, or contradicted.
    """
    commit: str = ""
    """The commit that followed a decision or a change."""
    observer: str | None = None
    """Set if another observer than the window's found it."""
    doubt: str = ""
    """Why the rules are not sure that it is a standing rule; a person decides about it."""


def candidate_of(
    kind: FactKind,
    usefulness: float,
    text: str,
    quote: str,
    *evidence: Mapping[str, Any],
    author: Author = "owner",
    doubt: str = "",
) -> Candidate:
    """Returns a fact that was plainly stated in the first of these messages; the others say what it
    refers to.
    """
    return Candidate(
        text, kind, "medium" if kind in ("preference", "fact") else "high", author, "explicit",
        usefulness,
        START_CONFIDENCE["explicit" if author == "owner" else "implied"], evidence[0]["event_at"],
        tuple(sorted({row["line"] for row in evidence})),
        tuple(row["message_id"] for row in evidence), quote, doubt=doubt,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Observed:
    """The result of observing one window."""

    observer: str
    parse_path: str
    narratives: Sequence[str]
    """One per segment, in order; empty without a model."""
    segments: Sequence[Sequence[int]]
    """Row numbers of the messages of each segment; each message belongs to exactly one."""
    candidates: Sequence[Candidate]
    prompt_hash: str | None = None
