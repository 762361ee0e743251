"""Makes lessons: what the owner's corrections and rules ask of every later session, in their own words.

Takes a day's messages and windows, short sessions included, whoever observes them; gives the table `lessons`. A lesson says
what to do instead of what ("use uv, not pip"), what never to do, or what always to do. Questions, what is said about things
instead of to the agent ("it never worked"), and orders within an errand ("review this, change nothing") teach nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.frames import hash_of
from memory_assets.stages.distill.day import judge_candidates
from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import Candidate
from memory_assets.stages.distill.rules.exchanges import read_exchanges
from memory_assets.stages.distill.rules.overturned import mark_overturned
from memory_assets.stages.distill.rules.owner_says import find_owner_facts, is_question
from memory_assets.stages.distill.rules.phrasing import without_nod
from memory_assets.text.sentences import split_sentences

KINDS = ("correction", "rule", "preference")
LONGEST = 200
READ = ("observed", "skipped_short")
"""Windows whose corrections are read: a session too short to distil may still correct something."""

_NO = re.compile(r"^(?:(?:no|nope|nah|wrong|stop|please)\b[,.!]*\s+)+(?=\w)", re.IGNORECASE)
_WHAT = r"[^,;.!?]{1,30}?"
_REST = r"[^,;.!?]{1,30}(?![^,;.!?])"
"""Names of tools and things are short; what is longer is a story."""

_INSTEAD = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\buse (?P<wanted>{_WHAT}),? (?:and )?(?:not|never|instead of|rather than) (?P<unwanted>{_REST})",
        rf"\bprefer (?P<wanted>{_WHAT}) (?:over|to|instead of|rather than) (?P<unwanted>{_REST})",
        rf"\b(?:not|never|(?:do not|don't|stop|never) us(?:e|ing)) (?P<unwanted>{_WHAT})[,;.]+ (?:but |just )?"
        rf"use (?P<wanted>{_REST})",
        rf"\binstead of (?P<unwanted>{_WHAT}),? use (?P<wanted>{_REST})",
    )
)
_TELLS_OF = r"(?!like|want|need|know|think|see|have|care|get|understand|happen|\w+[^s]s\b)"
"""What follows "never" where somebody tells of things ("it never gets past 27") or of their taste ("and don't like it")."""

_FORBIDS = re.compile(
    rf"(?:^|[,;:] |\b(?:please|and|so|but) )(?:never|do not|don't|stop \w+ing|no more) {_TELLS_OF}\w+"
    rf"|\b(?:must|should|may) (?:never|not) {_TELLS_OF}\w+|\b(?:mustn't|shouldn't) {_TELLS_OF}\w+",
    re.IGNORECASE,
)
_ALWAYS = re.compile(r"(?:^|[,;:] |\b(?:please|and|so|but|must|should) )always \w+|\bfrom now on\b", re.IGNORECASE)


@dataclass(frozen=True)
class Taught:
    """What one sentence teaches."""

    text: str
    wanted: str = ""
    unwanted: str = ""


def find_lessons(messages: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Returns the lessons of the day's windows, each sentence once a window."""
    by_window = {window_id: own.sort("ordinal").to_dicts() for (window_id,), own in messages.group_by("window_id")}
    found: dict[str, dict[str, Any]] = {}
    for window in windows.filter(pl.col("status").is_in(READ)).sort("window_id").iter_rows(named=True):
        for candidate in _corrections(by_window.get(window["window_id"], [])):
            for taught in read_lessons(candidate.quote):
                row = _row(taught, candidate, window)
                found.setdefault(row["lesson_id"], row)
    return schemas.frame_of("lessons", found.values()).sort("said_at", "lesson_id")


def read_lessons(quote: str) -> Iterator[Taught]:
    """Yields what the words teach."""
    if cues.ONE_OFF.match(quote):
        return
    for sentence in split_sentences(without_nod(quote)):
        said = _NO.sub("", sentence).strip().rstrip(".!,; ")
        if is_question(sentence) or not said or len(said) > LONGEST:
            continue
        contrast = next((match for pattern in _INSTEAD if (match := pattern.search(said))), None)
        if contrast or _FORBIDS.search(said) or _ALWAYS.search(said):
            parts = {name: words.strip().lower() for name, words in contrast.groupdict().items()} if contrast else {}
            yield Taught(f"{said[:1].upper()}{said[1:]}.", **parts)


def _corrections(messages: list[dict[str, Any]]) -> Iterator[Candidate]:
    """Yields what the owner laid down, held to the end of the window and let in by the write gate."""
    exchanges = read_exchanges(messages)
    candidates = [one for one in mark_overturned(find_owner_facts(exchanges), exchanges) if one.kind in KINDS]
    judged = judge_candidates(candidates, most_allowed=len(candidates))
    yield from (entry.candidate for entry in judged if entry.verdict == "allow" and not entry.candidate.is_overturned)


def _row(taught: Taught, candidate: Candidate, window: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "lesson_id": f"les_{hash_of(window['window_id'], taught.text)[:12]}",
        "day": window["day"],
        "text": taught.text,
        "wanted": taught.wanted,
        "unwanted": taught.unwanted,
        "quote": candidate.quote,
        "said_at": candidate.event_at,
        "message_id": candidate.message_ids[0],
        "line": candidate.lines[0],
        "session_id": window["session_id"],
        "window_id": window["window_id"],
        "path": window["path"],
        "project": window["project"],
        "person": window["person"],
    }
