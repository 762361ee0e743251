"""The last state wins: marks what a later statement of the same window overturns.

Takes candidates and exchanges; gives the same candidates, with those marked that lost. A diagnosis is overturned when
a later message says that it was wrong and speaks of the same things; a decision when a later one of the owner's is
about the same subject.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory_assets.distill import cues
from memory_assets.distill.candidates import Candidate
from memory_assets.distill.exchanges import Exchange
from memory_assets.distill.words import shared, stems_of

SAME_SUBJECT = 0.34
"""Share of stems that two statements about one subject have in common."""

FEWEST_SHARED = 3


def mark_overturned(candidates: Sequence[Candidate], exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates, those marked that a later sentence of the window takes back."""
    retractions = _retractions(exchanges)
    return [replace(c, is_overturned=True) if _is_overturned(c, retractions) else c for c in candidates]


def _retractions(exchanges: Sequence[Exchange]) -> list[tuple[datetime, str]]:
    """Returns the sentences that take something back, with their time and the sentence around them."""
    found = []
    for exchange in exchanges:
        for reply in exchange.replies:
            texts = [sentence.text for sentence in reply.sentences]
            for number, text in enumerate(texts):
                if cues.OVERTURNS.search(text):
                    around = " ".join(texts[max(number - 1, 0) : number + 2])
                    found.append((reply.message["event_at"], around))
    return found


def _is_overturned(candidate: Candidate, retractions: Sequence[tuple[datetime, str]]) -> bool:
    if candidate.kind not in ("root_cause", "decision", "fact", "gotcha") or candidate.author == "owner":
        return False
    mine = stems_of(candidate.text)
    return any(
        at > candidate.event_at and len(mine & stems_of(text)) >= FEWEST_SHARED and shared(candidate.text, text) >= SAME_SUBJECT
        for at, text in retractions
    )
