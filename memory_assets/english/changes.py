"""Reads which name a sentence says was replaced or given up, and by what.

"We moved from Jenkins to Buildkite", "uses Redis, not Memcached", "uv instead of pip": both names
are in one clause, next to words of change. "Jenkins is gone", "we no longer use Jenkins" and "we
moved back to Jenkins" name only one. Questions, conditions, ideas, plans and denials change
nothing. Whether the old name was ever asserted is decided in `stages/embed/conflicts`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from memory_assets.text.patterns import patterns_beside, words_beside

_PATTERNS = patterns_beside(__file__)
AT = _PATTERNS["at"].pattern
WAYS = _PATTERNS["ways"].pattern
"""Where, and with what, things are done; the name follows behind `AT`."""

CUES = _PATTERNS["cues"].pattern
"""Words without which no text states a change of state."""

_MOVES = tuple(patterns_beside(__file__, "moves").values())
_CHOICES = tuple(patterns_beside(__file__, "choices").values())
_DEPARTURES = tuple(patterns_beside(__file__, "departures").values())
_RETURNS = tuple(patterns_beside(__file__, "returns").values())
_UNDONE = _PATTERNS["undone"]
"""In front of words of change: they deny it, or make it a plan, a condition, a story, hearsay or
somebody else's.
"""

_NOT_NOW = _PATTERNS["not_now"]
"""Says of a change that it lies ahead, is the time of something else, or does not last."""

_COMMON_NOUN = re.compile(r"(?i:the|an?|our)\s+[a-z]+$")
_BEGINS = re.compile(r"[;:—–]\s|,\s+(?:(?:so|and|but)\s|(?=no longer\b))")
_ENDS = _PATTERNS["ends"]
"""Where a reason or another statement begins, in front of a change and behind it."""

_IDEA = _PATTERNS["idea"]
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=[\"“`A-Z(—-])|\n+|\s—\s")
_LEADING = re.compile(r"^(?:the|a|an|our|version|port)\s+|[`'\"“”]", re.IGNORECASE)
_TRAILING = _PATTERNS["trailing"]
_EMPTY = words_beside(__file__)["_empty"]
"""Words that name nothing: "not only", "rather than that"."""


_ADVERB = re.compile(r"[a-z]{4,}ly")


@dataclass(frozen=True)
class Change:
    """The old and the new name, in lower case, and the words that say so; a name that is not said
    is empty.
    """

    gone: str
    came: str
    clause: str


@lru_cache(maxsize=16_384)
def read_changes(text: str) -> tuple[Change, ...]:
    """Returns the changes of names that the text states as facts or rules, in order."""
    moves = [change for change in read_state_changes(text) if change.gone and change.came]
    choices = []
    for clause in clauses(text):
        for match in chain.from_iterable(pattern.finditer(clause) for pattern in _CHOICES):
            names = (_name(match["gone"]), _name(match["came"]))
            if all(names) and names[0] != names[1]:
                choices.append(Change(*names, clause))
    return tuple(dict.fromkeys([*moves, *choices]))


@lru_cache(maxsize=16_384)
def read_state_changes(text: str) -> tuple[Change, ...]:
    """Returns the changes that the text states as done or under way, in order; one of the names can
    be missing.
    """
    found: list[Change] = []
    for clause in clauses(text):
        moves = list(_changes_in(clause, _MOVES))
        found += moves or [*_changes_in(clause, _DEPARTURES), *_changes_in(clause, _RETURNS)]
    return tuple(dict.fromkeys(found))


def _changes_in(clause: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[Change]:
    clause = _PATTERNS["not_any_more"].sub(r"no longer \g<what>", clause)
    for match in (match for pattern in patterns for match in pattern.finditer(clause)):
        phrases = match.groupdict()
        gone, came = (_name(phrases.get(side, "")) for side in ("gone", "came"))
        is_done = not (_UNDONE.search(clause[: match.start()]) or _NOT_NOW.search(clause))
        is_named = (
            bool(gone and came)
            if len(phrases) > 1
            else not any(map(_COMMON_NOUN.match, phrases.values()))
        )
        if is_done and is_named and gone != came:
            yield Change(gone, came, _about(clause, match))


def _about(clause: str, match: re.Match[str]) -> str:
    """Returns the part of the clause that says what changed: no reasons and no other statements
    beside it.
    """
    start = max(
        (
            end
            for end in (found.end() for found in _BEGINS.finditer(clause))
            if end <= match.start()
        ),
        default=0,
    )
    ends = _ENDS.search(clause, match.end())
    return clause[start : ends.start() if ends else None]


def clauses(text: str) -> tuple[str, ...]:
    """Returns the statements of the text: no questions, conditions or ideas."""
    return tuple(clause for clause in _SENTENCE.split(text) if clause and not _IDEA.search(clause))


def _name(phrase: str) -> str:
    """Returns the name in lower case without article and quotes; empty if it begins with an empty
    word, or is an adverb.
    """
    name = " ".join(
        _LEADING.sub("", _TRAILING.sub("", phrase.strip())).lower().rstrip(".,:;-").split()
    )
    return "" if not name or name.split()[0] in _EMPTY or _ADVERB.fullmatch(name) else name
