"""The rules observer, `rules/3`: finds candidate facts in a window without a model.

Takes the messages of a window and its segments; returns few candidates, the most useful first: what the owner laid down,
stated or approved, objections that the assistant conceded, and causes that were verified. Candidates that a later statement of
the window takes back are marked.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory_assets.stages.distill.items import items_of, quote_from
from memory_assets.stages.distill.rules.assistant_says import find_causes
from memory_assets.stages.distill.rules.candidates import Candidate
from memory_assets.stages.distill.rules.exchanges import Exchange, Row, parse_exchanges
from memory_assets.stages.distill.rules.owner_says import find_owner_facts
from memory_assets.text.words import likeness, shared, stems_of

OBSERVER = "rules/3"

ALIKE = 0.6
"""Similarity of stems from which two candidates are duplicates; the more useful one is kept."""

MOST_CANDIDATES = 10
"""Nobody lays down more in one window; further sentences are found by the search over what was said."""

SAME_SUBJECT = 0.5
"""Share of common stems from which two statements have the same subject."""

FEWEST_SHARED = 3

_TAKES_BACK = re.compile(r"(?i)\b(?:was wrong|(?:not|wasn't) the (?:cause|reason)|no longer)\b|^(?:or )?(?:no|actually|wait)\b")


def find_candidates(messages: Sequence[Row], segments: Sequence[Sequence[int]]) -> list[Candidate]:
    """Returns the candidates of the window, the most useful first."""
    exchanges = parse_exchanges(messages)
    found = mark_overturned([*find_owner_facts(exchanges), *find_causes(exchanges)], exchanges)
    kept: list[Candidate] = []
    for candidate in sorted(found, key=lambda c: (c.is_overturned, *_rank(c))):
        if not any(likeness(candidate.text, other.text) >= ALIKE for other in kept):
            kept.append(candidate)
    by_id = {message["message_id"]: message for message in messages}
    segment_of = {messages[row]["message_id"]: number for number, rows in enumerate(segments) for row in rows}
    return [_complete(candidate, by_id, segment_of) for candidate in sorted(kept, key=_rank)[:MOST_CANDIDATES]]


def mark_overturned(candidates: Sequence[Candidate], exchanges: Sequence[Exchange]) -> list[Candidate]:
    """Returns the candidates, marked if their author later takes them back."""
    said = [("owner", e.message["event_at"], text) for e in exchanges if e.message for text in e.owner_sentences]
    said += [("assistant", r.message["event_at"], s.text) for e in exchanges for r in e.replies for s in r.sentences]
    taken_back = [one for one in said if _TAKES_BACK.search(one[2]) and not one[2].endswith("?")]

    def is_overturned(c: Candidate) -> bool:
        later = [text for author, at, text in taken_back if at > c.event_at and author == c.author]
        return any(shared(c.quote, t) >= SAME_SUBJECT and len(stems_of(c.quote) & stems_of(t)) >= FEWEST_SHARED for t in later)

    return [replace(c, is_overturned=True) if is_overturned(c) else c for c in candidates]


def _rank(candidate: Candidate) -> tuple[float, datetime, str]:
    return (-candidate.usefulness, candidate.event_at, candidate.text)


def _complete(c: Candidate, by_id: dict[str, Row], segment_of: dict[str, int]) -> Candidate:
    """Returns the candidate with its quote, items and segment."""
    texts = [by_id[message_id]["text"] for message_id in c.message_ids]
    quote = quote_from(texts, c.quote)
    return replace(c, segment=segment_of[c.message_ids[0]], quote=quote, **items_of(c.text, texts, quote))
