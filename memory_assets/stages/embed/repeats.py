"""Finds memories that repeat one another, with a measure independent of merging.

Takes a frame of memories, returns pairs: two memories of one scope whose sets of words overlap by four fifths, with equal
numbers and the same polarity. It uses no vectors, claims or merge rules, so the share of repeats measures how well those work.
Only rare words are indexed, so memories without a common rare word are never compared.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl

SAME = Fraction(4, 5)
"""Jaccard overlap from which two sets of words are one statement."""

MOST_SHARE = 0.02
"""Repeats per allowed memory above which merging fails."""

ALLOWED = ("active", "stale", "archived", "cold")
"""States of allowed memories that were not replaced."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_NO = frozenset(
    """no not never none nobody nothing neither nor without cannot can't don't doesn't didn't isn't aren't wasn't weren't won't
    wouldn't shouldn't mustn't haven't hasn't""".split()
)
_PAIR_SCHEMA = {"id": pl.String, "repeats_id": pl.String, "overlap": pl.Float64}


@dataclass(frozen=True)
class Repeats:
    """The repeating pairs, and the number of memories compared."""

    pairs: pl.DataFrame
    """id, repeats_id and overlap, in order of the ids."""
    allowed: int

    @property
    def share(self) -> float:
        """Pairs per allowed memory."""
        return self.pairs.height / self.allowed if self.allowed else 0.0


@dataclass(frozen=True)
class _Fingerprint:
    """The compared features of one memory."""

    id: str
    words: frozenset[str]
    numbers: tuple[str, ...]
    is_negated: bool


def find_repeats(memories: pl.DataFrame) -> Repeats:
    """Returns the repeats among the allowed facts."""
    facts = memories.filter(pl.col("state").is_in(ALLOWED) & (pl.col("kind") == "fact")).sort("id")
    scopes: dict[tuple[str, ...], list[_Fingerprint]] = defaultdict(list)
    for row in facts.select("id", "text", "scope", "project", "person").iter_rows(named=True):
        scopes[_scope_of(row)].append(_read(row["id"], row["text"]))
    found = sorted(pair for said in scopes.values() for pair in _pairs(said))
    return Repeats(pl.DataFrame(found, schema=_PAIR_SCHEMA, orient="row"), facts.height)


def _scope_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Returns the scope of the memory: a project, a person in all projects, or everyone."""
    return {"project": ("project", row["project"]), "person": ("person", row["person"])}.get(row["scope"], ("everyone",))


def _read(id: str, text: str) -> _Fingerprint:
    words = [word.lower() for word in _WORD.findall(text.replace("’", "'"))]
    return _Fingerprint(id, frozenset(words), tuple(sorted(_NUMBER.findall(text))), sum(word in _NO for word in words) % 2 == 1)


def _pairs(said: list[_Fingerprint]) -> Iterator[tuple[str, str, float]]:
    """Yields the pairs of one scope.

    Two sets that overlap by the share must have a word in common among the rarest `n - share * n + 1` of either (the prefix
    filter of set-similarity joins), so only memories that meet there are compared.
    """
    frequency = Counter(word for one in said for word in one.words)
    met: dict[str, list[_Fingerprint]] = defaultdict(list)
    for one in said:
        rarest = sorted(one.words, key=lambda word: (frequency[word], word))
        prefix = rarest[: len(rarest) - math.ceil(SAME * len(rarest)) + 1]
        others = {other.id: other for word in prefix for other in met[word]}
        for other in others.values():
            is_alike = one.numbers == other.numbers and one.is_negated == other.is_negated
            if is_alike and len(one.words & other.words) >= SAME * len(one.words | other.words):
                first, second = sorted((one.id, other.id))
                yield first, second, round(len(one.words & other.words) / len(one.words | other.words), 4)
        for word in prefix:
            met[word].append(one)
