"""Finds lessons: the owner's corrections and rules that apply to later sessions, verbatim.

Takes a day's messages and windows, including those of short sessions; returns the table `lessons`. A lesson says what to do
instead of what ("use uv, not pip"), what never to do, or what always to do. Questions, statements about things ("it never
worked") and instructions for one task ("review this, change nothing") are not lessons.
"""

import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from memory_assets.schema.frames import frame_of, hash_of
from memory_assets.schema.records import READ_STATUSES
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import Candidate
from memory_assets.stages.distill.rules.exchanges import parse_exchanges
from memory_assets.stages.distill.rules.owner_says import find_owner_facts, is_question
from memory_assets.stages.distill.rules.phrasing import strip_filler
from memory_assets.stages.distill.rules.rules import mark_overturned
from memory_assets.stages.distill.write_gate import judge
from memory_assets.text.sentences import split_sentences

KINDS = ("correction", "rule", "preference")
LONGEST = 200
_NO = re.compile(r"^(?:(?:no|nope|nah|wrong|stop|please)\b[,.!]*\s+)+(?=\w)", re.IGNORECASE)
_WHAT = r"[^,;.!?]{1,30}?"
_REST = r"[^,;.!?]{1,30}(?![^,;.!?])"
"""Names of tools are short; longer texts are narration."""

_INSTEAD = (
    re.compile(rf"(?i)\buse (?P<wanted>{_WHAT}),? (?:and )?(?:not|never|instead of|rather than) (?P<unwanted>{_REST})"),
    re.compile(rf"(?i)\bprefer (?P<wanted>{_WHAT}) (?:over|to|instead of|rather than) (?P<unwanted>{_REST})"),
    re.compile(
        rf"(?i)\b(?:not|never|(?:do not|don't|stop|never) us(?:e|ing)) (?P<unwanted>{_WHAT})[,;.]+ (?:but |just )?"
        rf"use (?P<wanted>{_REST})"
    ),
    re.compile(rf"(?i)\binstead of (?P<unwanted>{_WHAT}),? use (?P<wanted>{_REST})"),
)
_NOT_NARRATED = r"(?!like|want|need|know|think|see|have|care|get|understand|happen|\w+[^s]s\b)"
"""Excludes statements ("it never gets past 27") and opinions ("and don't like it")."""

_FORBIDS = re.compile(
    rf"(?i)(?:^|[,;:] |\b(?:please|and|so|but) )(?:never|do not|don't|stop \w+ing|no more) {_NOT_NARRATED}\w+|\b(?:must|should"
    rf"|may) (?:never|not) {_NOT_NARRATED}\w+|\b(?:mustn't|shouldn't) {_NOT_NARRATED}\w+"
)
_ALWAYS = re.compile(r"(?:^|[,;:] |\b(?:please|and|so|but|must|should) )always \w+|\bfrom now on\b", re.IGNORECASE)


def find_lessons(messages: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Returns the lessons of the day's windows, each sentence once per window."""
    by_window = {window_id: own.sort("ordinal").to_dicts() for (window_id,), own in messages.group_by("window_id")}
    found: dict[str, dict[str, Any]] = {}
    for window in windows.filter(pl.col("status").is_in(READ_STATUSES)).sort("window_id").iter_rows(named=True):
        about = {name: window[name] for name in ("day", "session_id", "window_id", "path", "project", "person")}
        for one in _corrections(by_window.get(window["window_id"], [])):
            source = {"quote": one.quote, "said_at": one.event_at, "message_id": one.message_ids[0], "line": one.lines[0]}
            for lesson in parse_lessons(one.quote):
                id = f"les_{hash_of(window['window_id'], lesson['text'])[:12]}"
                found.setdefault(id, {"lesson_id": id, **lesson, **source, **about})
    return frame_of("lessons", found.values()).sort("said_at", "lesson_id")


def parse_lessons(quote: str) -> Iterator[dict[str, str]]:
    """Yields the lessons in the words: text, what is wanted and what is unwanted."""
    if cues.ONE_OFF.match(quote):
        return
    for sentence in split_sentences(strip_filler(quote)):
        said = _NO.sub("", sentence).strip().rstrip(".!,; ")
        if is_question(sentence) or not said or len(said) > LONGEST:
            continue
        contrast = next((match for pattern in _INSTEAD if (match := pattern.search(said))), None)
        if contrast or _FORBIDS.search(said) or _ALWAYS.search(said):
            named = contrast.groupdict() if contrast else {"wanted": "", "unwanted": ""}
            yield {"text": f"{said[:1].upper()}{said[1:]}.", **{name: words.strip().lower() for name, words in named.items()}}


def _corrections(messages: list[dict[str, Any]]) -> Iterator[Candidate]:
    """Yields the owner's corrections that are valid at the end of the window and that the write gate allows."""
    exchanges = parse_exchanges(messages)
    candidates = [one for one in mark_overturned(find_owner_facts(exchanges), exchanges) if one.kind in KINDS]
    results = judge(candidates, most_allowed=len(candidates))
    yield from (result.candidate for result in results if result.verdict == "allow" and not result.candidate.is_overturned)
