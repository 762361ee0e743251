"""Turns the text of a memory into what holds now: cuts reports of what was done, and rewords what
the owner chose or wants as a rule.

    pkg/ holds the API; the old folder was removed.                  pkg/ holds the API.
    The owner chose squash merges.                                   Use squash merges.
    The owner wants replicate to stream.                             Replicate should stream.

Takes a text in the third person, as a model writes it. The result is empty if the whole text only
reports what was done.
"""

import re

from memory_assets.text.patterns import patterns_beside, texts_beside
from memory_assets.text.sentences import capitalised, split_sentences
from memory_assets.text.words import stems_of

_PATTERNS = patterns_beside(__file__)
_REPORTS = _PATTERNS["reports"]
"""A clause that reports what was done once, which does not matter for the next task."""

_EVENT = _PATTERNS["event"]
"""A clause about a single event; it is only kept as the reason for another clause."""

_HOLDS = _PATTERNS["holds"]
"""Words of a clause that is not only a report, whatever else it says."""

_CLAUSE = re.compile(r"(?<=[^\s;]);\s+")
_TAIL = _PATTERNS["tail"]
"""A remark at the end of a clause about how it came about."""

_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")
_AFTER_COLON = re.compile(r"^(?P<what>[^:]{10,}): (?P<rest>.+)$")

_RULES = patterns_beside(__file__, "rules")
_INSTEAD = texts_beside(__file__, "instead")
"""Texts that turn a report of what the owner said into a rule, by the names in `_RULES`."""


def what_holds(text: str) -> str:
    """Returns the text without reports; a sentence about what the owner wants becomes a rule."""
    clauses = [_clauses(_as_rule(sentence)) for sentence in split_sentences(text)]
    return " ".join(filter(None, clauses))


def _as_rule(sentence: str) -> str:
    for name, pattern in _RULES.items():
        if pattern.match(sentence):
            return capitalised(pattern.sub(_INSTEAD.get(name, ""), sentence, count=1))
    return sentence


def _clauses(sentence: str) -> str:
    """Returns the clauses of the sentence that still hold; empty if they are only events."""
    content = sentence.rstrip(".!")
    stop = sentence.removeprefix(content)
    parts = [_TAIL.sub("", _without_report(part)) for part in _CLAUSE.split(content)]
    clauses = [part for part in parts if stems_of(part) and not _is_report(part)]
    return "" if all(map(_EVENT.search, clauses)) else capitalised("; ".join(clauses)) + stop


def _without_report(part: str) -> str:
    """Returns the clause without a report before or after its colon."""
    match = _AFTER_COLON.match(part)
    if not match or not _is_report(match["rest"]):
        return part
    return "" if _is_report(match["what"]) else match["what"]


def _is_report(part: str) -> bool:
    words = _IN_BRACKETS.sub("", part)
    return bool(_REPORTS.search(words)) and not _HOLDS.search(words)
