"""Finds triggers: future days that the owner's messages or facts name, with facts to recall then.

Takes a day's messages and observations, and the capture times of the archived ranges; returns the
table `triggers`. The facts to recall are near the message, and have words in common with the
sentence that names the day. A day that was over when its message was captured is stored as `past`
and never becomes due.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.english import word_forms
from memory_assets.schema.frames import frame_of, hash_of
from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.dates.date_forms import Order
from memory_assets.stages.distill.dates.dates import FoundDate, find_dates
from memory_assets.text.sentences import sentence_spans

MOST_MEMORIES = 5
MOST_SHARED = 0.5
"""Share of the day's facts that have a word from which on it says nothing about a subject."""

FEWEST_FACTS = 3
"""A word of fewer facts is not frequent."""

NEAR_LINES = 40
"""Most records between the message and a related fact."""

LONGEST_QUOTE = 240
_COPIED = "day author message_id line session_id path project person".split()
_STOPS = ".!?\n"
_REMINDERS = "remind reminder remember forget due deadline date day week month today tomorrow"
_REMINDING = frozenset(map(word_forms.root, _REMINDERS.split()))
"""Words of reminders that say nothing about the subject."""


def find_triggers(
    messages: pl.DataFrame,
    observations: pl.DataFrame,
    windows: pl.DataFrame,
    captured: Mapping[str, datetime],
    zone: ZoneInfo,
    order: Order | None = None,
) -> pl.DataFrame:
    """Returns the day's triggers.

    `captured` is the capture time of each archived range, `order` the owner's order of day and
    month if their zone does not determine it.
    """
    origins = windows.select("window_id", "project", "person", "path")
    joined = messages.join(origins, on="window_id", maintain_order="left")
    by_id = {row["message_id"]: row for row in joined.iter_rows(named=True)}
    facts = observations.filter(gate="allow", kind="fact").to_dicts()
    frequent_words = _frequent_words(facts)
    triggers: dict[tuple[str, Any], dict[str, Any]] = {}
    for message, date, text in _find_in(by_id, facts, zone, order):
        captured_at = captured.get(message["resource_id"], message["event_at"])
        is_past = date.on < captured_at.astimezone(zone).date()
        quote = quote_of(text, date)
        subject = _subject_of(quote, text, date) - frequent_words
        facts_about_it = [fact for fact in facts if subject & _words(fact["text"])]
        row = {
            **{name: message[name] for name in _COPIED},
            "trigger_id": f"trg_{hash_of(message['message_id'], date.on)[:12]}",
            "trigger_on": date.on,
            "expression": date.expression,
            "quote": quote,
            "said_at": message["event_at"],
            "zone": zone.key,
            "captured_at": captured_at,
            "state": "past" if is_past else "due",
            "memory_ids": _nearest(message, facts_about_it),
        }
        triggers.setdefault((row["session_id"], row["trigger_on"]), row)
    return frame_of("triggers", triggers.values()).sort("trigger_on", "trigger_id")


def _find_in(
    messages: Mapping[str, Row], facts: Sequence[Row], zone: ZoneInfo, order: Order | None
) -> Iterator[tuple[Row, FoundDate, str]]:
    """Yields a message, a day and the text that names it.

    The owner's messages come first, then facts; of facts only absolute days are found. Messages
    with guessed times are skipped.
    """
    for message in messages.values():
        if message["author"] == "owner" and message["kind"] == "text":
            for date in _dates_of(message, message, zone, order):
                yield message, date, message["text"]
    for fact in facts:
        sources = filter(None, map(messages.get, fact["message_ids"]))
        message = next(sources, None)
        if message is not None:
            for date in _dates_of(message, fact, zone, order):
                if date.is_absolute:
                    yield message, date, fact["text"]


def _dates_of(
    message: Row, source: Row, zone: ZoneInfo, order: Order | None
) -> tuple[FoundDate, ...]:
    if message["is_time_guessed"]:
        return ()
    return find_dates(source["text"], source["event_at"], zone, order)


def quote_of(text: str, date: FoundDate) -> str:
    """Returns the sentence that names the day, shortened around the expression."""
    starts = [text.rfind(stop, 0, date.start) + 1 for stop in _STOPS]
    ends = [text.find(stop, date.end) for stop in _STOPS]
    start = max(*starts, date.start - LONGEST_QUOTE // 2)
    end = min((end for end in ends if end >= 0), default=len(text))
    return " ".join(text[start : min(end + 1, start + LONGEST_QUOTE)].split())


def _subject_of(quote: str, text: str, date: FoundDate) -> frozenset[str]:
    """Returns the words of the sentence that names the day; of one without any, such as "Remind me
    on Monday.", those of the sentence beside it.
    """
    spans = sentence_spans(text)
    earlier = [text[start:end] for start, end in spans if end <= date.start]
    later = [text[start:end] for start, end in spans if start >= date.end]
    sentences = [quote.replace(date.expression, " "), *earlier[-1:], *later[:1]]
    return next(filter(None, map(_words, sentences)), frozenset())


def _frequent_words(facts: Sequence[Row]) -> frozenset[str]:
    """Returns the words that most of the facts have."""
    counts = Counter(word for fact in facts for word in _words(fact["text"]))
    limit = max(MOST_SHARED * len(facts), FEWEST_FACTS)
    return frozenset(word for word, count in counts.items() if count >= limit)


def _words(text: str) -> frozenset[str]:
    """Returns the families of the content words of the text, without words of reminders.

    Synonyms are in one family.
    """
    forms = (word_forms.form_of(token) for token in word_forms.tokens_of(text))
    return frozenset(
        word_forms.family_of(form)
        for form in forms
        if form and form not in word_forms.LIGHT_ROOTS and form not in _REMINDING
    )


def _nearest(message: Row, facts: Sequence[Row]) -> list[str]:
    """Returns the ids of the facts of the same window that are nearest to the message.

    Facts with the message as evidence come first.
    """

    def distance(fact: Row) -> int:
        if message["message_id"] in fact["message_ids"]:
            return -1
        distances = (abs(line - message["line"]) for line in fact["lines"])
        return min(distances, default=NEAR_LINES + 1)

    of_window = (fact for fact in facts if fact["window_id"] == message["window_id"])
    distances = sorted((distance(fact), fact["id"]) for fact in of_window)
    return [id for lines, id in distances if lines <= NEAR_LINES][:MOST_MEMORIES]
