"""Whether two texts say the same, by the words, numbers and denials in them.

Written for measuring, with rules and word lists of its own: what measures a thing does not share its eyes.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

ALIKE = 0.40
"""Agreement of stems from which two texts say the same."""

ALIKE_WITH_TERMS, TERMS = 0.15, 0.60
"""Agreement that suffices when so large a share of the label's key terms is named."""

NEARLY_EQUAL = 0.75
"""From here on texts are worded alike, so that a difference in how often they deny is a difference in what they say."""

MOST_CHARS = 300
"""A longer fact is several facts and matches nothing."""

_EMPTY_WORDS = frozenset(
    """
    a an the and or but if then else of to in on at for from with without by as is are was were be been being it its this
    that these those there here he she they we you i me my our your their his her them us do does did done not no yes so
    than too very can could should would will shall may might must have has had into over under out up down off about after
    before when while which who whom what why how all any each every both more most other some such only own same just also
    per via
    """.split()
)
_WORD = re.compile(r"[A-Za-z0-9_./:@#-]{2,}")
_ENDINGS = ("ing", "ies", "ed", "es", "s")
_SHORTEST_STEM = 4
_DENIAL = re.compile(
    r"\b(?:not|never|no longer|cannot|without|don't|doesn't|didn't|isn't|aren't|won't|can't|shouldn't|avoid|no)\b|n't\b", re.I
)
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


@lru_cache(maxsize=50_000)
def content_words(text: str) -> frozenset[str]:
    """Returns the stems of the words that carry meaning."""
    words = (word.strip(".:-/") for word in _WORD.findall(text.lower()))
    return frozenset(_stem(word) for word in words if len(word) >= 2 and word not in _EMPTY_WORDS)


def _stem(word: str) -> str:
    if word.isalpha():
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
                return word[: -len(ending)]
    return word


def agreement(a: Collection[str], b: Collection[str]) -> float:
    """Returns the harmonic mean of the shares of words that each has in common with the other."""
    both = len(set(a) & set(b))
    return 2 * both / (len(a) + len(b)) if both else 0.0


def likeness(text: str, label: str, key_terms: Sequence[str] = ()) -> float:
    """Returns how alike a text and a label are; 0 where they do not say the same."""
    if not text or len(text) > MOST_CHARS:
        return 0.0
    alike = agreement(content_words(text), content_words(label))
    if alike < ALIKE and not (alike >= ALIKE_WITH_TERMS and share_of_terms(key_terms, text) >= TERMS):
        return 0.0
    if _differ_in_denial(text, label, alike) or _differ_in_numbers(text, label):
        return 0.0
    return alike + 0.01  # a match by key terms alone stays above nothing


def share_of_terms(terms: Sequence[str], text: str) -> float:
    """Returns the share of the terms that the text names."""
    lower = text.lower()
    return sum(term.lower() in lower for term in terms) / len(terms) if terms else 0.0


def _differ_in_denial(text: str, label: str, alike: float) -> bool:
    denials, wanted = len(_DENIAL.findall(text)), len(_DENIAL.findall(label))
    if alike >= NEARLY_EQUAL:
        return denials != wanted
    return bool(denials) != bool(wanted)


def _differ_in_numbers(text: str, label: str) -> bool:
    wanted, said = set(_NUMBER.findall(label)), set(_NUMBER.findall(text))
    return bool(wanted and said and not wanted & said)
