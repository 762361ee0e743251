"""What an observer hands to the write gate: candidate facts of one window, and the narrative of each of its segments."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory_assets.schema.records import Author, Priority, Sentiment, Strength

FactKind = Literal[
    "rule", "preference", "correction", "decision", "root_cause", "state_change", "result", "gotcha", "fact", "narrative"
]
"""What sort of fact it is; the gate and the taxonomy read it, the tables do not keep it."""

OWNERS_KINDS: frozenset[FactKind] = frozenset({"rule", "preference", "correction"})
"""Kinds that only the owner's own words can make."""

START_CONFIDENCE: dict[Strength, float] = {"explicit": 0.9, "implied": 0.7, "inferred": 0.5}
"""Confidence at extraction (A77 Strength); later evidence moves it."""

FACT_CHARS = 300
"""A longer fact is several facts."""

MOST_LINES = 12
"""More evidence than this points at nothing."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact that somebody proposes to keep, with the evidence it rests on."""

    text: str
    kind: FactKind
    priority: Priority
    author: Author
    strength: Strength
    usefulness: float
    """How much a later session gains from it, 0 to 1."""
    confidence: float
    event_at: datetime
    lines: tuple[int, ...]
    message_ids: tuple[str, ...]
    quote: str
    """Words of the evidence; until a candidate is completed, the sentence that it was made from."""
    segment: int
    sentiment: Sentiment = "neutral"
    entities: tuple[str, ...] = ()
    clock_times: tuple[str, ...] = ()
    is_overturned: bool = False
    """A later statement of the window says otherwise."""
    hint: str | None = None
    """The verdict of the model that proposed it; the rules observer gives none."""
    hint_confidence: float | None = None
    hint_category: str | None = None
    ungrounded_times: tuple[str, ...] = ()
    """Clock times in the text that no source has."""
    observer: str | None = None
    """Who found it, where that is somebody else than the observer of the window."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What an observer made of one window."""

    observer: str
    parse_path: str
    narratives: tuple[str, ...]
    """One for each segment, in order."""
    segments: tuple[tuple[int, ...], ...]
    """Row numbers of the messages of each segment; each message in exactly one."""
    candidates: tuple[Candidate, ...]
    prompt_hash: str | None = None
