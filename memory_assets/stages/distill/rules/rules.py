"""The rules observer, `rules/4`: finds candidate facts in a window without a model.

Takes the messages of a window and its segments; returns few candidates, the most useful first: what
the owner laid down, stated or picked, and causes that were verified. Candidates that a later
sentence of the window takes back, replaces or settles are marked. Of the same thing in several
wordings the fullest is kept, or the latest.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from memory_assets.stages.distill.items import items_of, quote_from
from memory_assets.stages.distill.rules.assistant_says import find_causes
from memory_assets.stages.distill.rules.candidates import Candidate
from memory_assets.stages.distill.rules.exchanges import Exchange, Row, parse_exchanges
from memory_assets.stages.distill.rules.owner_says import PICK, find_owner_facts
from memory_assets.stages.distill.rules.signals import find_signals
from memory_assets.text.words import likeness, shared, stems_of

OBSERVER = "rules/4"

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

SAME_CHOICE = 0.25
"""Share of an option's stems in a later choice, from which that choice goes on with the same
subject.
"""

_TAKES_BACK = re.compile(
    r"(?i)\b(?:was wrong|(?:not|wasn't) the (?:cause|reason)|no longer|wtf|(?:do not|don'?t"
    r"|didn'?t) (?:like|want|need)"
    r"|not what i|(?:doesn'?t|not) (?:look )?right)\b|^(?:or )?(?:no|actually|wait)\b"
)
_SUBJECT = re.compile(
    r"(?i)^(?P<subject>[^,;:]+?) (?:is|are|has|have|should|must|needs?|may|uses?"
    r"|lives?)\b(?P<value>.+)"
)
_LIMIT = re.compile(r"(?i)\b(?:for|in|on|at|when|if|with|under)\s+(?:the\s+|an?\s+)?([`\w./-]+)")
"""What a statement is limited to: "for Riga", "in CI", "on Fridays"."""

_IS_OPEN = re.compile(
    r"(?i)\b(?:there (?:is|are) no|(?:has|have) no|lacks?|missing|not yet|can (?:fail|crash"
    r"|panic|hang))\b"
)
_IS_DONE = re.compile(r"(?i)\b(?:fixed|added|implemented|closed|resolved|done)\b")


def find_candidates(messages: Sequence[Row], segments: Sequence[Sequence[int]]) -> list[Candidate]:
    """Returns the candidates of the window, the most useful first."""
    exchanges = parse_exchanges(messages)
    in_turns = [*find_owner_facts(exchanges), *find_causes(exchanges)]
    found = mark_overturned([*in_turns, *find_signals(messages)], exchanges)
    kept: list[Candidate] = []
    for candidate in sorted(
        found, key=lambda c: (not c.is_overturned, len(stems_of(c.text)), c.event_at), reverse=True
    ):
        alike = (other.text for other in kept if likeness(candidate.text, other.text) >= ALIKE)
        if all(_are_limited_apart(candidate.text, other) for other in alike):
            kept.append(candidate)
    by_id = {message["message_id"]: message for message in messages}
    segment_of = {
        messages[row]["message_id"]: number for number, rows in enumerate(segments) for row in rows
    }
    kept.sort(key=lambda c: (-c.usefulness, c.event_at, c.text))
    return [_complete(candidate, by_id, segment_of) for candidate in kept[:MOST_CANDIDATES]]


def mark_overturned(
    candidates: Sequence[Candidate], exchanges: Sequence[Exchange]
) -> list[Candidate]:
    """Returns the candidates, marked if a later sentence of their author takes them back or names
    another value.

    An option is also taken back by a later choice about the same subject, a problem by the
    assistant's word that it is settled.
    """
    said = [
        ("owner", e.message["event_at"], text)
        for e in exchanges
        if e.message
        for text in e.owner_sentences
    ]
    said += [
        ("assistant", r.message["event_at"], s.text)
        for e in exchanges
        for r in e.replies
        for s in r.sentences
    ]
    turns = [
        (before, e.message, e.said)
        for before, e in pairwise(exchanges)
        if e.message and before.replies
    ]
    choices = [
        (turn["event_at"], before.replies[-1].message["text"])
        for before, turn, text in turns
        if PICK.match(text)
    ]

    def is_overturned(c: Candidate) -> bool:
        later = [(author, text) for author, at, text in said if at > c.event_at]
        done = [text for author, text in later if author == "assistant" and _IS_DONE.search(text)]
        is_settled = bool(_IS_OPEN.search(c.text)) and any(
            _is_about(c.quote, text) for text in done
        )
        is_option = len(c.lines) > 1
        is_reopened = is_option and any(
            at > c.event_at and _is_about(c.quote, text, SAME_CHOICE) for at, text in choices
        )
        return (
            is_settled
            or is_reopened
            or any(author == c.author and _replaces(c.quote, text) for author, text in later)
        )

    return [replace(c, is_overturned=True) if is_overturned(c) else c for c in candidates]


def _replaces(said: str, later: str) -> bool:
    """Returns whether the later sentence takes back what was said, or names another value of its
    subject.

    Statements that are limited to different things leave each other as they are.
    """
    if later.endswith("?") or _are_limited_apart(said, later):
        return False
    if (
        (stated := _SUBJECT.match(said))
        and _SUBJECT.match(later)
        and _is_about(stated["subject"], later, least=1)
    ):
        return not stems_of(stated["value"]) <= stems_of(later)
    return bool(_TAKES_BACK.search(later)) and _is_about(said, later)


def _are_limited_apart(one: str, other: str) -> bool:
    limits, others = (set(_LIMIT.findall(text.lower())) for text in (one, other))
    return bool(limits and others) and limits.isdisjoint(others)


def _is_about(said: str, later: str, least: float = SAME_SUBJECT) -> bool:
    return shared(said, later) >= least and len(stems_of(said) & stems_of(later)) >= FEWEST_SHARED


def _complete(c: Candidate, by_id: dict[str, Row], segment_of: dict[str, int]) -> Candidate:
    """Returns the candidate with its quote, items and segment."""
    texts = [by_id[message_id]["text"] for message_id in c.message_ids]
    quote = quote_from(texts, c.quote)
    return replace(
        c, segment=segment_of[c.message_ids[0]], quote=quote, **items_of(c.text, texts, quote)
    )
