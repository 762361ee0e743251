"""The last state wins: marks what a later statement of the same window overturns.

Takes candidates and exchanges; gives the same candidates, with those marked that lost. A diagnosis is overturned when
a later message says that it was wrong and speaks of the same things; a decision when a later one of the owner's is
about the same subject.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import Candidate, FactKind
from memory_assets.stages.distill.rules.exchanges import Exchange
from memory_assets.text.words import shared, stems_of

SAME_SUBJECT = 0.34
"""Share of stems that two statements about one subject have in common."""

SAME_DECISION = 0.5
"""Two decisions need more in common: one may well stand beside the other."""

FEWEST_SHARED = 3

_ESTABLISHED: frozenset[FactKind] = frozenset({"root_cause", "fact", "gotcha", "result"})
_DECIDED: frozenset[FactKind] = frozenset({"decision", "preference", "correction"})


def mark_overturned(candidates: Sequence[Candidate], exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates, those marked that a later sentence of the window takes back."""
    taken_back, changed = _retractions(exchanges), _changes_of_mind(exchanges)
    return [replace(c, is_overturned=True) if _is_overturned(c, taken_back, changed) else c for c in candidates]


def _retractions(exchanges: Sequence[Exchange]) -> list[tuple[datetime, str]]:
    """Returns what the assistant took back: each such sentence with those around it, and its time."""
    found = []
    for exchange in exchanges:
        for reply in exchange.replies:
            texts = [sentence.text for sentence in reply.sentences]
            for number, text in enumerate(texts):
                if cues.OVERTURNS.search(text):
                    around = " ".join(texts[max(number - 1, 0) : number + 2])
                    found.append((reply.message["event_at"], around))
    return found


def _changes_of_mind(exchanges: Sequence[Exchange]) -> list[tuple[datetime, str]]:
    """Returns the turns in which the owner says that something is to be otherwise; a question takes nothing back."""
    return [
        (exchange.message["event_at"], exchange.said)
        for exchange in exchanges
        if exchange.message and cues.CHANGES_MIND.search(exchange.said) and not exchange.said.rstrip().endswith("?")
    ]


def _is_overturned(
    candidate: Candidate, taken_back: Sequence[tuple[datetime, str]], changed: Sequence[tuple[datetime, str]]
) -> bool:
    if candidate.author == "owner":
        return candidate.kind in _DECIDED and _is_spoken_of(candidate.quote, candidate.event_at, changed, SAME_DECISION)
    return candidate.kind in _ESTABLISHED and _is_spoken_of(candidate.text, candidate.event_at, taken_back, SAME_SUBJECT)


def _is_spoken_of(text: str, at: datetime, later: Sequence[tuple[datetime, str]], needed: float) -> bool:
    """Says whether one of the later texts is about the same subject."""
    mine = stems_of(text)
    return any(
        when > at and len(mine & stems_of(other)) >= FEWEST_SHARED and shared(text, other) >= needed for when, other in later
    )
