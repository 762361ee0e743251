"""Splits a window into segments, one per topic, without a model.

Takes the messages of a window in order; returns lists of row numbers, each message in exactly one.
A segment starts at a turn of the owner that follows a long silence, announces a new topic, comes
after finished work, or shares few words with the segment so far. Ten to fifty messages are usual;
longer stretches without a turn are split.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.text.words import stems_of

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
    r"(?i)^\W*(?:(?:ok(?:ay)?|great|good|thanks?|so|and|yes)\W+)*(?:now|next|another|also"
    r"|separately|new|back to|moving on|one "
    r"more|let's (?:move|switch|look|work|talk)|can you now)\b"
)
_FINISHED = re.compile(
    r"(?i)\b(?:committed|pushed|merged|landed|done|opened (?:the |a )?pr|all (?:tests|green))\b"
)


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
    signals = (
        is_different,
        bool(_ANNOUNCES.match(row["text"])),
        bool(_FINISHED.search(rows[number - 1]["text"][:600])),
    )
    return size >= USUAL_MOST or is_late or sum(signals) > 1
