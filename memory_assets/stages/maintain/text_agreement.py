"""Compares two texts by their words, numbers and denials.

Written for measuring, with rules and word lists of its own: the code that is measured must not be
used to measure it.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from memory_assets.text.patterns import patterns_beside

ALIKE = 0.40
"""Least agreement of the stems of two texts that say the same."""

ALIKE_WITH_TERMS, TERMS = 0.15, 0.60
"""Least agreement, and least share of the label's key terms, of a text that names these terms."""

DENIED_WORDS = 4
"""Content words after a denial, within its clause, that count as denied. Later words of a longer
clause are about other things.
"""

DENIED_CHARS = 80
"""Characters after a denial in which the end of its clause is searched."""

CONTRADICTED = 0.5
"""Least share of the denied words of a text that another text must assert to contradict it."""

REWORDED = 0.6
"""Least agreement of two wordings of one sentence. A denial in only one of them reverses its
meaning.
"""

MOST_CHARS = 300
"""Longest fact that is compared; a longer text is several facts."""

_EMPTY_WORDS = frozenset(
    """
    a an the and or but if then else of to in on at for from with without by as is are was were be
    been being it its this that these those there here he she they we you i me my our your their his
    her them us do does did done not no yes so than too very can could should would will shall may
    might must have has had into over under out up down off about after before when while which who
    whom what why how all any each every both more most other some such only own same just also per
    via
    """.split()
)
_WORD = re.compile(r"[A-Za-z0-9_./:@#-]{2,}")
_ENDINGS = ("ing", "ies", "ed", "es", "s")
_SHORTEST_STEM = 4
_PATTERNS = patterns_beside(__file__)
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


@lru_cache(maxsize=50_000)
def content_words(text: str) -> frozenset[str]:
    """Returns the stems of the content words of a text."""
    words = (word.strip(".:-/") for word in _WORD.findall(text.lower()))
    return frozenset(_stem(word) for word in words if len(word) >= 2 and word not in _EMPTY_WORDS)


def _stem(word: str) -> str:
    if word.isalpha():
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
                return word[: -len(ending)]
    return word


def agreement(a: Collection[str], b: Collection[str]) -> float:
    """Returns the harmonic mean of the shares of their words that two sets have in common."""
    both = len(set(a) & set(b))
    return 2 * both / (len(a) + len(b)) if both else 0.0


def likeness(text: str, label: str, key_terms: Sequence[str] = ()) -> float:
    """Returns how alike a text and a label are; 0 if they do not say the same."""
    if not text or len(text) > MOST_CHARS:
        return 0.0
    alike = agreement(content_words(text), content_words(label))
    if alike < ALIKE_WITH_TERMS:
        return 0.0
    if alike < ALIKE and share_of_terms(key_terms, text) < TERMS:
        return 0.0
    if contradict(text, label) or _differ_in_numbers(text, label):
        return 0.0
    return alike + 0.01  # the sum is positive for every match


def share_of_terms(terms: Sequence[str], text: str) -> float:
    """Returns the share of the terms that the text names."""
    lower = text.lower()
    return sum(term.lower() in lower for term in terms) / len(terms) if terms else 0.0


def contradict(first: str, second: str) -> bool:
    """Returns whether one of two texts denies what the other asserts in nearly the same words.

    Texts whose wordings differ more are not compared: "rejected, no longer right after a rebase"
    and "rejected: after a rebase it is not correct any more" say the same.
    """
    if agreement(content_words(first), content_words(second)) < REWORDED:
        return False
    first_denied, first_asserted = _by_denial(first)
    second_denied, second_asserted = _by_denial(second)
    return _is_contradicted(first_denied, second_denied, second_asserted) or _is_contradicted(
        second_denied, first_denied, first_asserted
    )


def _is_contradicted(
    denied: frozenset[str], others_denied: frozenset[str], others_asserted: frozenset[str]
) -> bool:
    """Returns whether another text asserts enough of the denied words, and more than it denies."""
    asserted_count = len(denied & others_asserted)
    is_enough = asserted_count >= CONTRADICTED * len(denied)
    return is_enough and asserted_count > len(denied & others_denied)


@lru_cache(maxsize=50_000)
def _by_denial(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the stems right after the denials of a text, and its other stems."""
    text = _PATTERNS["denies_nothing"].sub(" ", text)
    denials = _PATTERNS["denial"].finditer(text)
    denied = frozenset[str]().union(*(_denied_by(text[denial.end() :]) for denial in denials))
    return denied, content_words(text) - denied


def _denied_by(text: str) -> frozenset[str]:
    """Returns the stems of the first content words of the first clause."""
    clause = _PATTERNS["clause_end"].split(text[:DENIED_CHARS], maxsplit=1)[0]
    words = list(filter(None, map(content_words, _WORD.findall(clause))))
    return frozenset[str]().union(*words[:DENIED_WORDS])


def _differ_in_numbers(text: str, label: str) -> bool:
    """Returns whether both have numbers, and none in common."""
    label_numbers = set(_NUMBER.findall(label))
    numbers = set(_NUMBER.findall(text))
    return bool(numbers and label_numbers) and numbers.isdisjoint(label_numbers)
