"""Reads from a sentence which name was replaced or given up, and which name replaced it.

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
from memory_assets.text.words import squeezed

_PATTERNS = patterns_beside(__file__)
AT = _PATTERNS["at"].pattern
"""A preposition in front of a name, such as "to"; `stages/embed/conflicts` uses it with `WAYS`."""

WAYS = _PATTERNS["ways"].pattern
"""Verbs that say where or with what something is done, up to the preposition `AT`."""

CUES = _PATTERNS["cues"].pattern
"""A text that states a change of state has one of these words; `stages/embed/merge` looks for them.
"""

# Patterns of moves and choices have the groups `gone` and `came`; of departures, only `gone`; of
# returns, only `came`.
_MOVES = tuple(patterns_beside(__file__, "moves").values())
_CHOICES = tuple(patterns_beside(__file__, "choices").values())
_DEPARTURES = tuple(patterns_beside(__file__, "departures").values())
_RETURNS = tuple(patterns_beside(__file__, "returns").values())
_UNDONE = _PATTERNS["undone"]
"""Words in front of a change that deny it, or make it a plan, a condition, hearsay, or something
that somebody else did.
"""

_NOT_NOW = _PATTERNS["not_now"]
"""Words by which a change lies ahead, is only the time of something else, or does not last."""

_COMMON_NOUN = re.compile(r"(?i:the|an?|our)\s+[a-z]+$")
"""An article and a word in lower case, such as "the server": it can be any server."""

_STATEMENT_BEFORE = re.compile(r"[;:—–]\s|,\s+(?:(?:so|and|but)\s|(?=no longer\b))")
"""The end of another statement in front of a change."""

_REASON_BEHIND = _PATTERNS["ends"]
"""The beginning of a reason, or of another statement, behind a change."""

_WITHDRAWN = _PATTERNS["withdrawn"]
_CHANGED = _PATTERNS["changed"]
_NOW = re.compile(r"(?i)\bnow\b")
_IDEA = _PATTERNS["idea"]
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+(?=[-—\"“`A-Z(])|\n+|\s—\s")
_ARTICLE_OR_QUOTE = re.compile(r"^(?:the|a|an|our|version|port)\s+|[`'\"“”]", re.IGNORECASE)
"""An article at the beginning, or a quote anywhere."""

_UNIT_AT_END = _PATTERNS["trailing"]
_EMPTY = words_beside(__file__)["_empty"]
"""Words that name nothing: "not only", "rather than that"."""

_ADVERB = re.compile(r"[a-z]{4,}ly")


@dataclass(frozen=True)
class Change:
    """The old and the new name, in lower case, and the words that say so.

    A name that the words do not mention is empty.
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
    """Returns the changes that the text states as done or under way, in order.

    One of the two names can be missing.
    """
    changes: list[Change] = []
    for clause in clauses(text):
        moves = list(_changes_in(clause, _MOVES))
        changes += moves or [*_changes_in(clause, _DEPARTURES), *_changes_in(clause, _RETURNS)]
    return tuple(dict.fromkeys(changes))


def withdraws(text: str) -> bool:
    """Returns whether the text says that a rule or a help that it names no longer holds."""
    return any(map(_WITHDRAWN.search, clauses(text)))


def states_change(text: str) -> bool:
    """Returns whether the text says that something holds from a day on, or no longer, whatever the
    names.
    """
    is_replaced = _NOW.search(text) is not None and bool(read_changes(text))
    return (
        is_replaced
        or bool(read_state_changes(text))
        or any(
            (_WITHDRAWN.search(clause) or _CHANGED.search(clause)) and not _NOT_NOW.search(clause)
            for clause in clauses(text)
        )
    )


def _changes_in(clause: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[Change]:
    clause = _PATTERNS["not_any_more"].sub(r"no longer \g<what>", clause)
    for match in chain.from_iterable(pattern.finditer(clause) for pattern in patterns):
        phrases = match.groupdict()
        old_name = _name(phrases.get("gone", ""))
        new_name = _name(phrases.get("came", ""))
        is_done = not (_UNDONE.search(clause[: match.start()]) or _NOT_NOW.search(clause))
        if len(phrases) > 1:  # a move must name both
            is_named = bool(old_name and new_name)
        else:  # "the server is gone" does not say which one
            is_named = not any(_COMMON_NOUN.match(phrase) for phrase in phrases.values())
        if is_done and is_named and old_name != new_name:
            yield Change(old_name, new_name, _about(clause, match))


def _about(clause: str, match: re.Match[str]) -> str:
    """Returns the part of the clause that says what changed: no reasons, no other statements."""
    starts = [statement.end() for statement in _STATEMENT_BEFORE.finditer(clause)]
    start = max((place for place in starts if place <= match.start()), default=0)
    ending = _REASON_BEHIND.search(clause, match.end())
    return clause[start : ending.start() if ending else None]


def clauses(text: str) -> tuple[str, ...]:
    """Returns the statements of the text: no questions, conditions or ideas."""
    sentences = _SENTENCE_END.split(text)
    return tuple(clause for clause in sentences if clause and not _IDEA.search(clause))


def _name(phrase: str) -> str:
    """Returns the name in lower case without article, quotes and unit.

    Returns an empty text if the phrase begins with a word that names nothing, or is an adverb.
    """
    bare_phrase = _ARTICLE_OR_QUOTE.sub("", _UNIT_AT_END.sub("", phrase.strip()))
    name = squeezed(bare_phrase.lower().rstrip(".,:;-"))
    return "" if not name or name.split()[0] in _EMPTY or _ADVERB.fullmatch(name) else name
