"""Splits a window into segments, one per topic.

Takes the messages of a window in order; returns lists of row numbers, each message in exactly one. A segment starts at a turn
of the owner that follows a long silence, announces a new topic, comes after finished work, or shares few words with the segment
so far. Ten to fifty messages are usual; longer stretches without a turn are split.
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
NEEDED = 1.0

_ANNOUNCES = re.compile(
    r"(?i)^\W*(?:(?:ok(?:ay)?|cool|great|perfect|nice|good|thanks?|alright|so|and|yes)\W+)*(?:now|next|another (?:thing"
    r"|question|one)|one more|also|separately|new (?:topic|task|issue|feature)|back to|moving on|different (?:topic|question)"
    r"|let'?s (?:move|switch|look at|work on|talk about)|the next|can you (?:now|also|look at|take a look)|i(?:'d"
    r"| would)? (?:also )?(?:like|want|need) (?:you )?to|change (?:of|in) plan|step back)\b"
)
_FINISHED = re.compile(
    r"(?i)\b(?:committed|pushed|merged|opened (?:the |a )?(?:draft )?pr|pr (?:is )?(?:open|created)|done\b|all (?:tests|green)"
    r"|landed)\b"
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
    return size >= USUAL_MOST or is_late or _novelty(row["text"], rows[number - 1]["text"], words) >= NEEDED


def _novelty(turn: str, before: str, words: set[str]) -> float:
    """Returns the score for a new topic; two of three signals are enough."""
    stems = stems_of(turn[:READ_CHARS])
    is_different = len(stems) >= 4 and len(stems & words) / len(stems) < LITTLE_IN_COMMON
    return 0.6 * bool(_ANNOUNCES.match(turn)) + 0.4 * bool(_FINISHED.search(before[:600])) + 0.6 * is_different
