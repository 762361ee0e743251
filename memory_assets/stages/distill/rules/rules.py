"""The rules observer, `rules/1`: finds candidate facts in a window without a model.

Takes the messages of a window and its segments; returns candidates, the most useful first. Candidates that a later statement of
the window contradicts are marked: a diagnosis by a later correction of the assistant, a decision by a later turn of the owner.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory_assets.stages.distill.items import items_of, quote_from
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.assistant_says import find_statements
from memory_assets.stages.distill.rules.candidates import MOST_LINES, Candidate, FactKind
from memory_assets.stages.distill.rules.exchanges import Exchange, Row, parse_exchanges
from memory_assets.stages.distill.rules.owner_says import find_owner_facts
from memory_assets.text.words import likeness, shared, stems_of

OBSERVER = "rules/1"

ALIKE = 0.6
"""Similarity of stems from which two candidates are duplicates; the more useful one is kept."""

LEAST_USEFUL = 0.6
"""Candidates below this are dropped, not held; otherwise thousands of sentences would be stored."""

MOST_CANDIDATES = 36

SAME_SUBJECT = 0.34
"""Share of common stems from which two statements have the same subject."""

SAME_DECISION = 0.5
"""The same for decisions; higher, because two decisions about one subject can both be valid."""

FEWEST_SHARED = 3

_ESTABLISHED: frozenset[FactKind] = frozenset({"root_cause", "fact", "gotcha", "result"})
_DECIDED: frozenset[FactKind] = frozenset({"decision", "preference", "correction"})


def find_candidates(messages: Sequence[Row], segments: Sequence[Sequence[int]]) -> list[Candidate]:
    """Returns the candidates of the window, the most useful first."""
    exchanges = parse_exchanges(messages)
    found = find_owner_facts(exchanges) + find_statements(exchanges)
    found = mark_overturned([candidate for candidate in found if candidate.usefulness >= LEAST_USEFUL], exchanges)
    kept: list[Candidate] = []
    for candidate in sorted(found, key=lambda c: (c.is_overturned, c.author != "owner", *_rank(c))):
        if not any(likeness(candidate.text, other.text) >= ALIKE for other in kept):
            kept.append(candidate)
    by_id = {message["message_id"]: message for message in messages}
    segment_of = {messages[row]["message_id"]: number for number, rows in enumerate(segments) for row in rows}
    return [_complete(candidate, by_id, segment_of) for candidate in sorted(kept, key=_rank)[:MOST_CANDIDATES]]


def _rank(candidate: Candidate) -> tuple[float, datetime, str]:
    return (-candidate.usefulness, candidate.event_at, candidate.text)


def _complete(candidate: Candidate, by_id: dict[str, Row], segment_of: dict[str, int]) -> Candidate:
    """Returns the candidate with its quote, items and segment."""
    texts = [by_id[message_id]["text"] for message_id in candidate.message_ids]
    quote = quote_from(texts, candidate.quote)
    lines = tuple(sorted(set(candidate.lines)))[:MOST_LINES]
    segment, items = segment_of[candidate.message_ids[0]], items_of(candidate.text, texts, quote)
    return replace(candidate, lines=lines, segment=segment, quote=quote, **items)


def mark_overturned(candidates: Sequence[Candidate], exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates, marked if a later sentence of the window contradicts them."""
    retractions, changes = _retractions(exchanges), _changes_of_mind(exchanges)

    def is_overturned(c: Candidate) -> bool:
        if c.author == "owner":
            return c.kind in _DECIDED and _is_subject_of(c.quote, c.event_at, changes, SAME_DECISION)
        return c.kind in _ESTABLISHED and _is_subject_of(c.text, c.event_at, retractions, SAME_SUBJECT)

    return [replace(c, is_overturned=True) if is_overturned(c) else c for c in candidates]


def _retractions(exchanges: Sequence[Exchange]) -> list[tuple[datetime, str]]:
    """Returns each sentence in which the assistant corrects itself, with its neighbours and its time."""
    found = []
    for reply in (reply for exchange in exchanges for reply in exchange.replies):
        texts = [sentence.text for sentence in reply.sentences]
        for number, text in enumerate(texts):
            if cues.OVERTURNS.search(text):
                found.append((reply.message["event_at"], " ".join(texts[max(number - 1, 0) : number + 2])))
    return found


def _changes_of_mind(exchanges: Sequence[Exchange]) -> list[tuple[datetime, str]]:
    """Returns the turns in which the owner changes an earlier decision; questions are ignored."""
    return [
        (exchange.message["event_at"], exchange.said)
        for exchange in exchanges
        if exchange.message and cues.CHANGES_MIND.search(exchange.said) and not exchange.said.rstrip().endswith("?")
    ]


def _is_subject_of(text: str, at: datetime, later: Sequence[tuple[datetime, str]], needed: float) -> bool:
    """Returns whether one of the later texts is about the subject of the text."""
    own = stems_of(text)
    return any(
        when > at and len(own & stems_of(other)) >= FEWEST_SHARED and shared(text, other) >= needed for when, other in later
    )
