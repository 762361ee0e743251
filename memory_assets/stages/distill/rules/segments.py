"""Splits a window into segments, one per topic, and writes the narrative of each without a model.

Takes the messages of a window in order; returns lists of row numbers, each message in exactly one. A segment starts at a turn
of the owner that follows a long silence, announces a new topic, comes after finished work, or shares few words with the segment
so far. Ten to fifty messages are usual; longer stretches without a turn are split. A narrative is the first request of the
owner and the last result.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from memory_assets.stages.distill.items import items_of, quote_from
from memory_assets.stages.distill.rules.assistant_says import is_statement
from memory_assets.stages.distill.rules.candidates import START_CONFIDENCE, Candidate, candidate_of
from memory_assets.stages.distill.rules.exchanges import Exchange, Row, parse_exchanges
from memory_assets.stages.distill.rules.grammar import strip_opening
from memory_assets.text.words import shortened, specifics_in, stems_of

LONG_SILENCE = timedelta(minutes=30)
"""After a break of this length a turn usually starts a new topic."""

SHORTEST = 8
"""Fewer messages are no segment of their own."""

USUAL_MOST = 50
"""From this size on any turn of the owner starts a segment (A21: segments of 10 to 50 messages)."""

LONGEST = 100
"""A stretch without a turn is split here, at the next text of the assistant."""

LITTLE_IN_COMMON = 0.12
"""Share of a turn's stems that the segment so far has too; below it the topic is new."""

READ_CHARS = 3_000

_ANNOUNCES = re.compile(
    r"(?i)^\W*(?:(?:ok(?:ay)?|great|good|thanks?|so|and|yes)\W+)*(?:now|next|another|also|separately|new|back to|moving on|one "
    r"more|let's (?:move|switch|look|work|talk)|can you now)\b"
)
_FINISHED = re.compile(r"(?i)\b(?:committed|pushed|merged|landed|done|opened (?:the |a )?pr|all (?:tests|green))\b")

ASKED_CHARS = 160
OUTCOME_CHARS = 240

SAYS_WHAT = 4
"""Turns with fewer words ("yes", "continue") name no subject."""

EMPTY = "Work without words."


def find_segments(rows: Sequence[Row]) -> list[list[int]]:
    """Returns the row numbers of each segment of the window, in order."""
    starts = [0] if rows else []
    words: set[str] = set()
    for number, row in enumerate(rows):
        size = number - starts[-1]
        if size and _starts_segment(rows, number, size, words):
            starts.append(number)
            words = set()
        if row["kind"] == "text" and row["author"] in ("owner", "assistant"):
            words |= stems_of(row["text"][:READ_CHARS])
    return [list(range(start, end)) for start, end in pairwise([*starts, len(rows)])]


def _starts_segment(rows: Sequence[Row], number: int, size: int, words: set[str]) -> bool:
    """Returns whether the row starts a new segment."""
    row = rows[number]
    if not row["is_user_turn"]:
        return size >= LONGEST and row["author"] == "assistant" and row["kind"] == "text"
    is_late = row["event_at"] - rows[number - 1]["event_at"] >= LONG_SILENCE
    if size < SHORTEST:
        return is_late and size >= SHORTEST // 2
    stems = stems_of(row["text"][:READ_CHARS])
    is_different = len(stems) >= 4 and len(stems & words) / len(stems) < LITTLE_IN_COMMON
    signals = (is_different, bool(_ANNOUNCES.match(row["text"])), bool(_FINISHED.search(rows[number - 1]["text"][:600])))
    return size >= USUAL_MOST or is_late or sum(signals) > 1


def narrate(messages: Sequence[Row]) -> str:
    """Returns the narrative of the segment."""
    exchanges = parse_exchanges(messages)
    turns = [e.said for e in exchanges if e.said]
    asked = next((said for said in turns if len(said.split()) >= SAYS_WHAT), next(iter(turns), ""))
    request = f"The owner: “{shortened(strip_opening(asked), ASKED_CHARS)}”" if asked else ""
    return " ".join(filter(None, (request, shortened(_outcome(exchanges), OUTCOME_CHARS)))) or EMPTY


def narrative_candidate(own: Sequence[Row], narrative: str, segment: int) -> Candidate:
    """Returns the narrative of a segment as a candidate; `own` are the messages of the segment."""
    spoken = [row for row in own if row["kind"] == "text" and row["author"] in ("owner", "assistant")] or list(own)
    asked = next((row for row in spoken if row["is_user_turn"]), spoken[0])
    evidence = [asked] if asked is spoken[-1] else [asked, spoken[-1]]
    items = items_of(narrative, [row["text"] for row in own], narrative)
    quote = quote_from([evidence[-1]["text"]], narrative)
    found = candidate_of("narrative", 0.5, narrative, quote, *evidence, author="assistant")
    guessed = {"strength": "inferred", "confidence": START_CONFIDENCE["inferred"], "priority": "low"}
    return replace(found, segment=segment, event_at=max(row["event_at"] for row in own), **guessed, **items)


def _outcome(exchanges: Sequence[Exchange]) -> str:
    """Returns the most specific statement of the last reply that has one."""
    for reply in (reply for exchange in reversed(exchanges) for reply in reversed(exchange.replies)):
        if stated := [sentence.text for sentence in reply.sentences if is_statement(sentence.text)]:
            return max(stated, key=specifics_in)
    return ""
