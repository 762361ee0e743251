"""Turns a memory into what holds now: reports of what was done are cut, and what the owner chose or
wants becomes the rule.

    pkg/ holds the API; the old folder was removed.                  pkg/ holds the API.
    The owner chose squash merges.                                   Use squash merges.
    The owner wants replicate to stream.                             Replicate should stream.

Takes a text in the third person, as a model words it; returns what remains, empty if all of it only
reports.
"""

import re

from memory_assets.text.patterns import patterns_beside, texts_beside
from memory_assets.text.sentences import capitalised, split_sentences
from memory_assets.text.words import stems_of

_PATTERNS = patterns_beside(__file__)
_REPORTS = _PATTERNS["reports"]
"""Says what was done, once; it holds nothing for the next task."""

_EVENT = _PATTERNS["event"]
"""Happened once; it stays as the reason for what follows it."""

_HOLDS = _PATTERNS["holds"]
"""A clause with such words is no mere report, whatever else it tells."""

_CLAUSE = re.compile(r"(?<=[^\s;]);\s+")
_TAIL = _PATTERNS["tail"]
"""A remark at the end of a clause on how it came about."""

_BESIDE = re.compile(r"\s*\([^()]*\)")
_AFTER_COLON = re.compile(r"^(?P<what>[^:]{10,}): (?P<rest>.+)$")

_RULES = patterns_beside(__file__, "rules")
_INSTEAD = texts_beside(__file__, "instead")
"""What the owner said in the third person, and how it is said as a rule."""


def what_holds(text: str) -> str:
    """Returns the text without reports of what was done, and as a rule where it says what the owner
    wants.
    """
    clauses = [_clauses(_as_rule(sentence)) for sentence in split_sentences(text)]
    return " ".join(filter(None, clauses))


def _as_rule(sentence: str) -> str:
    for name, pattern in _RULES.items():
        if pattern.match(sentence):
            return capitalised(pattern.sub(_INSTEAD.get(name, ""), sentence, count=1))
    return sentence


def _clauses(sentence: str) -> str:
    """Returns the clauses of the sentence that hold, with its stop."""
    stop = sentence[len(sentence.rstrip(".!")) :]
    parts = [_TAIL.sub("", _without_report(part)) for part in _CLAUSE.split(sentence.rstrip(".!"))]
    clauses = [part for part in parts if stems_of(part) and not _is_report(part)]
    return "" if all(map(_EVENT.search, clauses)) else capitalised("; ".join(clauses)) + stop


def _without_report(part: str) -> str:
    """Returns the clause without a report before or behind its colon."""
    match = _AFTER_COLON.match(part)
    if not match or not _is_report(match["rest"]):
        return part
    return "" if _is_report(match["what"]) else match["what"]


def _is_report(part: str) -> bool:
    words = _BESIDE.sub("", part)
    return bool(_REPORTS.search(words)) and not _HOLDS.search(words)
