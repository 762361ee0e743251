"""Finds where one topic of a window ends and the next begins.

Takes the messages of one window in order; gives lists of row numbers, every message in exactly one. A topic begins
with a turn of the owner that follows a long silence, says that something new begins, comes after work was handed in,
or shares few words with what came before. Ten to fifty messages are usual; a stretch without any turn is cut where it
grows too long.
"""

import re
from datetime import timedelta
from itertools import pairwise

import polars as pl

from memory_assets.text.words import stems_of

LONG_SILENCE = timedelta(minutes=30)
"""After a break of this length people come back for something else."""

SHORTEST = 8
"""Fewer messages are an exchange, not a topic."""

USUAL_MOST = 50
"""From here on any turn of the owner begins a new segment (A21: segments of 10 to 50 messages)."""

LONGEST = 100
"""A stretch without a turn is cut here, at the next words of the assistant."""

LITTLE_IN_COMMON = 0.12
"""Share of a turn's content words that the segment so far has too; below it the turn is about something else."""

READ_CHARS = 3_000
NEEDED = 1.0

_BEGINS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|cool|great|perfect|nice|good|thanks?|alright|so|and|yes)\W+)*(?:now|next|another (?:thing"
    r"|question|one)|one more|also|separately|new (?:topic|task|issue|feature)|back to|moving on|different (?:topic"
    r"|question)"
    r"|let'?s (?:move|switch|look at|work on|talk about)|the next|can you (?:now|also|look at|take a look)|i(?:'d"
    r"| would)? (?:also )?(?:like|want|need) (?:you )?to|change (?:of|in) plan|step back)\b",
    re.I,
)
_HANDED_IN = re.compile(
    r"\b(?:committed|pushed|merged|opened (?:the |a )?(?:draft )?pr|pr (?:is )?(?:open|created)|done\b|all (?:tests"
    r"|green)|landed)\b",
    re.I,
)


def find_segments(messages: pl.DataFrame) -> list[list[int]]:
    """Returns the row numbers of each segment of the window, in order."""
    rows = messages.select("is_user_turn", "author", "kind", "event_at", "text").to_dicts()
    starts = [0] if rows else []
    words: set[str] = set()
    for number, row in enumerate(rows):
        size = number - starts[-1]
        if size and _begins(rows, number, size, words):
            starts.append(number)
            words = set()
        if row["kind"] == "text" and row["author"] in ("owner", "assistant"):
            words |= stems_of(row["text"][:READ_CHARS])
    return [list(range(start, end)) for start, end in pairwise([*starts, len(rows)])]


def _begins(rows: list[dict], number: int, size: int, words: set[str]) -> bool:
    """Says whether a new segment begins with the row."""
    row = rows[number]
    if not row["is_user_turn"]:
        return size >= LONGEST and row["author"] == "assistant" and row["kind"] == "text"
    is_late = row["event_at"] - rows[number - 1]["event_at"] >= LONG_SILENCE
    if size < SHORTEST:
        return is_late and size >= SHORTEST // 2
    if size >= USUAL_MOST or is_late:
        return True
    return _newness(row["text"], rows[number - 1]["text"], words) >= NEEDED


def _newness(turn: str, before: str, words: set[str]) -> float:
    """Returns how much speaks for a new topic; two signs of three are enough."""
    stems = stems_of(turn[:READ_CHARS])
    score = 0.6 * bool(_BEGINS.match(turn)) + 0.4 * bool(_HANDED_IN.search(before[:600]))
    if len(stems) >= 4 and len(stems & words) / len(stems) < LITTLE_IN_COMMON:
        score += 0.6
    return score
