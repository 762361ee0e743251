"""The rules observer, `rules/5`: finds candidate facts in a window without a model.

Takes the messages of a window and its segments; returns few candidates, the most useful first: what
the owner laid down or stated, and causes that were verified. Candidates that a later sentence of
the window takes back or replaces are marked. Of the same thing in several wordings the fullest is
kept, or the latest.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from memory_assets.english.openings import withdraws
from memory_assets.stages.distill.items import items_of, quote_from
from memory_assets.stages.distill.rules.assistant_says import find_causes
from memory_assets.stages.distill.rules.candidates import Candidate
from memory_assets.stages.distill.rules.exchanges import Exchange, Row, parse_exchanges
from memory_assets.stages.distill.rules.owner_says import find_owner_facts
from memory_assets.stages.distill.rules.signals import find_signals
from memory_assets.text.words import likeness, shared, stems_of

OBSERVER = "rules/5"

ALIKE = 0.6
"""Similarity of stems from which two candidates are duplicates; the fuller one is kept, or the
later.
"""

MOST_CANDIDATES = 10
"""Nobody lays down more in one window; further sentences are found by the search over what was
said.
"""

SAME_SUBJECT = 0.5
"""Share of common stems from which two statements have the same subject."""

FEWEST_SHARED = 2
"""Of fewer common stems nothing follows."""

_TAKES_BACK = re.compile(
    r"(?i)\b(?:was wrong|(?:not|wasn't) the (?:cause|reason)|no longer|not (?:what i|right)"
    r"|(?:do not|don'?t|didn'?t) (?:like|want|need))\b|^(?:or )?(?:no|actually|wait)\b"
)
_SUBJECT = re.compile(
    r"(?i)^(?P<subject>[^,;:]+?) (?:is|are|has|have|should|must|needs?|may|uses?"
    r"|lives?)\b(?P<value>.+)"
)
_LIMIT = re.compile(r"(?i)\b(?:for|in|on|at|when|if|with|under)\s+(?:the\s+|an?\s+)?([`\w./-]+)")
"""What a statement is limited to: "for Riga", "in CI", "on Fridays"."""


def find_candidates(messages: Sequence[Row], segments: Sequence[Sequence[int]]) -> list[Candidate]:
    """Returns the candidates of the window, the most useful first."""
    exchanges = parse_exchanges(messages)
    in_turns = [*find_owner_facts(exchanges), *find_causes(exchanges)]
    candidates = [*in_turns, *find_signals(messages)]
    distinct: list[Candidate] = []
    for candidate in sorted(mark_overturned(candidates, exchanges), key=_fullness, reverse=True):
        texts = [other.text for other in distinct]
        alike = [text for text in texts if likeness(candidate.text, text) >= ALIKE]
        if all(_are_limited_apart(candidate.text, text) for text in alike):
            distinct.append(candidate)
    by_id = {message["message_id"]: message for message in messages}
    segment_of = {
        messages[row]["message_id"]: number for number, rows in enumerate(segments) for row in rows
    }
    distinct.sort(key=lambda candidate: (-candidate.usefulness, candidate.event_at, candidate.text))
    return [_complete(candidate, by_id, segment_of) for candidate in distinct[:MOST_CANDIDATES]]


def mark_overturned(
    candidates: Sequence[Candidate], exchanges: Sequence[Exchange]
) -> list[Candidate]:
    """Returns the candidates, marked if a later sentence of their author takes them back or names
    another value, or if the next words of the owner withdraw them.
    """
    spoken = [
        ("owner", exchange.message["event_at"], text)
        for exchange in exchanges
        if exchange.message
        for text in exchange.owner_sentences
    ]
    replies = [reply for exchange in exchanges for reply in exchange.replies]
    spoken += [
        ("assistant", reply.message["event_at"], sentence.text)
        for reply in replies
        for sentence in reply.sentences
    ]

    withdrawn = list(_withdrawn(exchanges))

    def is_overturned(candidate: Candidate) -> bool:
        is_withdrawn = candidate.author == "owner" and any(
            message_id in candidate.message_ids and candidate.quote in text
            for message_id, text in withdrawn
        )
        return is_withdrawn or any(
            _replaces(candidate.quote, text)
            for author, at, text in spoken
            if author == candidate.author and at > candidate.event_at
        )

    return [replace(c, is_overturned=True) if is_overturned(c) else c for c in candidates]


def _withdrawn(exchanges: Sequence[Exchange]) -> Iterator[tuple[str, str]]:
    """Yields what the owner withdrew, each with the id of its message: the sentence before "scrap
    that", or the whole turn before it where a turn begins so; of a question nothing but itself.
    """
    turns = [exchange for exchange in exchanges if exchange.message and exchange.owner_sentences]
    for exchange, following in pairwise([*turns, Exchange(None, ())]):
        assert exchange.message
        message_id = exchange.message["message_id"]
        for sentence, later in pairwise(exchange.owner_sentences):
            if withdraws(later):
                yield message_id, sentence
        if withdraws(following.said) and not exchange.said.endswith("?"):
            yield message_id, exchange.said


def _fullness(candidate: Candidate) -> tuple[object, ...]:
    is_sure = not candidate.doubt
    return not candidate.is_overturned, is_sure, len(stems_of(candidate.text)), candidate.event_at


def _replaces(quote: str, later: str) -> bool:
    """Returns whether the later sentence takes back what was said, or names another value of its
    subject.

    Statements that are limited to different things leave each other as they are.
    """
    if later.endswith("?") or _are_limited_apart(quote, later):
        return False
    stated = _SUBJECT.match(quote)
    restated = _SUBJECT.match(later)
    if stated and restated and _is_about(stated["subject"], restated["subject"], least=1):
        return not stems_of(stated["value"]) <= stems_of(later)
    return bool(_TAKES_BACK.search(later)) and _is_about(quote, later)


def _are_limited_apart(text: str, other: str) -> bool:
    limits = set(_LIMIT.findall(text.lower()))
    other_limits = set(_LIMIT.findall(other.lower()))
    return bool(limits and other_limits) and limits.isdisjoint(other_limits)


def _is_about(quote: str, later: str, least: float = SAME_SUBJECT) -> bool:
    common = stems_of(quote) & stems_of(later)
    return shared(quote, later) >= least and len(common) >= FEWEST_SHARED


def _complete(candidate: Candidate, by_id: dict[str, Row], segment_of: dict[str, int]) -> Candidate:
    """Returns the candidate with its quote, items and segment."""
    texts = [by_id[message_id]["text"] for message_id in candidate.message_ids]
    quote = quote_from(texts, candidate.quote)
    return replace(
        candidate,
        segment=segment_of[candidate.message_ids[0]],
        quote=quote,
        **items_of(candidate.text, texts, quote),
    )
