"""Finds lessons: the owner's corrections, rules and preferences that apply to later sessions,
verbatim.

Takes a day's messages and windows, including those of short sessions; returns the table `lessons`.
A lesson says what to do instead of something else ("use uv, not pip"), or what to do always or
never. Questions, statements about things ("it never worked") and instructions for one task ("review
this, change nothing") are not lessons.
"""

import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from memory_assets.english.standing import ALL as GENERAL
from memory_assets.schema.frames import frame_of, hash_of
from memory_assets.schema.records import READ_STATUSES
from memory_assets.stages.distill.rules.candidates import OWNERS_KINDS, Candidate
from memory_assets.stages.distill.rules.exchanges import parse_exchanges
from memory_assets.stages.distill.rules.owner_says import find_owner_facts
from memory_assets.stages.distill.rules.rules import mark_overturned
from memory_assets.stages.distill.write_gate import judge

_WISH = re.compile(
    rf"(?i)[^“]*“(?!.*(?:{GENERAL}|n't\b| over\b))i(?:'d| would)? (?:want|like|love|need"
    r"|prefer|rather)\b"
)
"""A wish in the first person that is for the moment only: it excludes nothing, and does not say
that it holds in general.
"""

_COPIED = "day session_id window_id path project person".split()
"""Columns that are copied from the window's row."""


def find_lessons(messages: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Returns the lessons of the day's windows, each sentence once per window."""
    by_window = {
        window_id: window_messages.sort("ordinal").to_dicts()
        for (window_id,), window_messages in messages.group_by("window_id")
    }
    lessons: dict[str, dict[str, Any]] = {}
    is_read = pl.col("status").is_in(READ_STATUSES)
    for window in windows.filter(is_read).sort("window_id").iter_rows(named=True):
        for correction in _corrections(by_window.get(window["window_id"], [])):
            lesson = {
                **{name: window[name] for name in _COPIED},
                "text": correction.text,
                "lesson_id": f"les_{hash_of(window['window_id'], correction.text)[:12]}",
                "quote": correction.quote,
                "said_at": correction.event_at,
                "message_id": correction.message_ids[0],
                "line": correction.lines[0],
            }
            lessons.setdefault(lesson["lesson_id"], lesson)
    return frame_of("lessons", lessons.values()).sort("said_at", "lesson_id")


def _corrections(messages: list[dict[str, Any]]) -> Iterator[Candidate]:
    """Yields the owner's corrections that the window does not take back and the gate allows."""
    exchanges = parse_exchanges(messages)
    corrections = [
        candidate
        for candidate in mark_overturned(find_owner_facts(exchanges), exchanges)
        if candidate.kind in OWNERS_KINDS
    ]
    allowed = (
        result.candidate
        for result in judge(corrections, most_allowed=len(corrections))
        if result.verdict == "allow"
    )
    yield from (candidate for candidate in allowed if not _WISH.match(candidate.text))
