"""The rules observer, `rules/1`: finds what is worth keeping in a window, with no model and no network.

Takes the messages of one window and its segments; gives candidates, best first within each kind. It reads the owner's
turns first, since they are the signal, then what the assistant established. The last state wins: what a later
statement overturns is marked, and the write gate holds it back.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory_assets.stages.distill.items import clock_times_in, entities_of, found_in, sentiment_of
from memory_assets.stages.distill.rules.assistant_says import find_statements
from memory_assets.stages.distill.rules.candidates import MOST_LINES, Candidate
from memory_assets.stages.distill.rules.exchanges import Row, read_exchanges
from memory_assets.stages.distill.rules.overturned import mark_overturned
from memory_assets.stages.distill.rules.owner_says import find_owner_facts
from memory_assets.stages.distill.rules.quotes import quote_from_any
from memory_assets.text.words import likeness

OBSERVER = "rules/1"

ALIKE = 0.6
"""Two candidates of one window with this many stems in common say the same; the more useful one stays."""

LEAST_USEFUL = 0.6
"""Below this a candidate is not even held: thousands of sentences would be."""

MOST_CANDIDATES = 36
"""Held facts are for looking up, not for keeping a transcript twice."""


def find_candidates(messages: Sequence[Row], segments: Sequence[Sequence[int]]) -> list[Candidate]:
    """Returns the candidates of the window, the most useful first."""
    exchanges = read_exchanges(messages)
    found = find_owner_facts(exchanges) + find_statements(exchanges)
    found = [candidate for candidate in found if candidate.usefulness >= LEAST_USEFUL]
    found = mark_overturned(found, exchanges)
    kept = sorted(without_repeats(sorted(found, key=_owner_first)), key=_rank)[:MOST_CANDIDATES]
    by_id = {message["message_id"]: (row, message) for row, message in enumerate(messages)}
    segment_of = {row: number for number, rows in enumerate(segments) for row in rows}
    return [_completed(candidate, by_id, segment_of) for candidate in kept]


def _rank(candidate: Candidate) -> tuple[float, datetime, str]:
    return (-candidate.usefulness, candidate.event_at, candidate.text)


def _owner_first(candidate: Candidate) -> tuple[bool, bool, float, datetime, str]:
    """Orders candidates so that of two that say the same the one that holds stays, and the owner's before others'."""
    return (candidate.is_overturned, candidate.author != "owner", *_rank(candidate))


def without_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Returns the candidates without those that say what an earlier one says."""
    kept: list[Candidate] = []
    for candidate in candidates:
        if not any(likeness(candidate.text, other.text) >= ALIKE for other in kept):
            kept.append(candidate)
    return kept


def _completed(candidate: Candidate, by_id: dict[str, tuple[int, Row]], segment_of: dict[int, int]) -> Candidate:
    """Returns the candidate with its items and its segment."""
    sources = [by_id[message_id] for message_id in candidate.message_ids]
    texts = [message["text"] for _, message in sources]
    quote = quote_from_any(texts, candidate.quote)
    told, invented = found_in(clock_times_in(candidate.text), texts)
    return replace(
        candidate,
        lines=tuple(sorted(set(candidate.lines)))[:MOST_LINES],
        segment=segment_of[sources[0][0]],
        quote=quote,
        sentiment=sentiment_of(quote),
        entities=entities_of(candidate.text),
        clock_times=told,
        ungrounded_times=invented,
    )
