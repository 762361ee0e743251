"""Compares two texts by their words, numbers and denials.

Written for measuring, with rules and word lists of its own: the code that is measured must not be
used to measure it.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from memory_assets.text.patterns import patterns_beside

ALIKE = 0.40
"""Agreement of stems from which two texts say the same."""

ALIKE_WITH_TERMS, TERMS = 0.15, 0.60
"""Agreement that suffices when so large a share of the label's key terms is named."""

DENIED_WORDS = 4
"""Content words after a denial, within its clause, that count as denied: a longer clause goes on to
other things.
"""

DENIED_CHARS = 80
"""Characters after a denial in which the end of its clause is searched."""

CONTRADICTED = 0.5
"""Share of one text's denied words that the other states plainly, from which the two contradict
each other.
"""

REWORDED = 0.6
"""Agreement from which two texts are wordings of one sentence, so that a denial in only one of them
reverses its meaning.
"""

MOST_CHARS = 300
"""A longer fact is several facts and matches nothing."""

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
    """Returns the stems of the content words."""
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
    if alike < ALIKE and not (
        alike >= ALIKE_WITH_TERMS and share_of_terms(key_terms, text) >= TERMS
    ):
        return 0.0
    if contradict(text, label) or _differ_in_numbers(text, label):
        return 0.0
    return alike + 0.01  # a match by key terms alone stays above nothing


def share_of_terms(terms: Sequence[str], text: str) -> float:
    """Returns the share of the terms that the text names."""
    lower = text.lower()
    return sum(term.lower() in lower for term in terms) / len(terms) if terms else 0.0


def contradict(one: str, other: str) -> bool:
    """Returns whether a text denies what the other says plainly in nearly the same words; two that
    deny the same words agree.

    Texts that share less of their wording are not compared: "rejected, no longer right after a
    rebase" and "rejected: after a rebase it is not correct any more" say the same.
    """
    if agreement(content_words(one), content_words(other)) < REWORDED:
        return False
    (denied_one, plain_one), (denied_other, plain_other) = _by_denial(one), _by_denial(other)
    return _is_denied(denied_one, denied_other, plain_other) or _is_denied(
        denied_other, denied_one, plain_one
    )


def _is_denied(denied: frozenset[str], also_denied: frozenset[str], plain: frozenset[str]) -> bool:
    """Returns whether the other text states plainly most of the denied words that it has, and
    enough of all of them.
    """
    stated = len(denied & plain)
    return stated > len(denied & also_denied) and stated >= CONTRADICTED * len(denied)


@lru_cache(maxsize=50_000)
def _by_denial(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the stems right after the denials of a text, and its other stems."""
    text = _PATTERNS["denies_nothing"].sub(" ", text)
    denied = frozenset[str]().union(
        *(_denied_behind(text[found.end() :]) for found in _PATTERNS["denial"].finditer(text))
    )
    return denied, content_words(text) - denied


def _denied_behind(text: str) -> frozenset[str]:
    """Returns the stems of the first content words of the first clause."""
    clause = _PATTERNS["clause_end"].split(text[:DENIED_CHARS], maxsplit=1)[0]
    words = list(filter(None, map(content_words, _WORD.findall(clause))))
    return frozenset[str]().union(*words[:DENIED_WORDS])


def _differ_in_numbers(text: str, label: str) -> bool:
    wanted, found = set(_NUMBER.findall(label)), set(_NUMBER.findall(text))
    return bool(wanted and found and wanted.isdisjoint(found))
