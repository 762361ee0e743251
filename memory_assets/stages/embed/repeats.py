"""Finds memories that repeat one another, with a measure that shares nothing with merging.

A frame of memories comes in, pairs come out: two memories of one scope whose sets of words overlap by four fifths, with equal
numbers and the same polarity. Vectors, claims and the merge rules are not consulted, so the share of repeats says how well
those work. Rare words are indexed, so memories that share none of theirs are never compared.
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
"""Jaccard overlap from which two sets of words are taken for one statement."""

MOST_SHARE = 0.02
"""More repeats than this for each allowed memory, and merging does not do its work."""

ALLOWED = ("active", "stale", "archived", "cold")
"""States of what the gate let in and nothing replaced."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_NO = frozenset(
    """no not never none nobody nothing neither nor without cannot can't don't doesn't didn't isn't aren't wasn't weren't won't
    wouldn't shouldn't mustn't haven't hasn't""".split()
)
_PAIR_SCHEMA = {"id": pl.String, "repeats_id": pl.String, "overlap": pl.Float64}


@dataclass(frozen=True)
class Repeats:
    """The pairs that repeat one another, and among how many memories they were found."""

    pairs: pl.DataFrame
    """id, repeats_id and overlap, in order of the ids."""
    allowed: int

    @property
    def share(self) -> float:
        """Pairs for each allowed memory."""
        return self.pairs.height / self.allowed if self.allowed else 0.0


@dataclass(frozen=True)
class _Said:
    """What the measure sees of one memory."""

    id: str
    words: frozenset[str]
    numbers: tuple[str, ...]
    is_negated: bool


def find_repeats(memories: pl.DataFrame) -> Repeats:
    """Returns the repeats among the allowed facts."""
    facts = memories.filter(pl.col("state").is_in(ALLOWED) & (pl.col("kind") == "fact")).sort("id")
    scopes: dict[tuple[str, ...], list[_Said]] = defaultdict(list)
    for row in facts.select("id", "text", "scope", "project", "person").iter_rows(named=True):
        scopes[_scope_of(row)].append(_read(row["id"], row["text"]))
    found = sorted(pair for said in scopes.values() for pair in _pairs(said))
    return Repeats(pl.DataFrame(found, schema=_PAIR_SCHEMA, orient="row"), facts.height)


def _scope_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Returns whom the memory concerns: a project, a person wherever they work, or everyone."""
    return {"project": ("project", row["project"]), "person": ("person", row["person"])}.get(row["scope"], ("everyone",))


def _read(id: str, text: str) -> _Said:
    words = [word.lower() for word in _WORD.findall(text.replace("’", "'"))]
    return _Said(id, frozenset(words), tuple(sorted(_NUMBER.findall(text))), sum(word in _NO for word in words) % 2 == 1)


def _pairs(said: list[_Said]) -> Iterator[tuple[str, str, float]]:
    """Yields the pairs of one scope.

    Two sets that overlap by the share must have a word in common among the rarest `n - share * n + 1` of either (the prefix
    filter of set-similarity joins), so only memories that meet there are compared.
    """
    frequency = Counter(word for one in said for word in one.words)
    met: dict[str, list[_Said]] = defaultdict(list)
    for one in said:
        rarest = sorted(one.words, key=lambda word: (frequency[word], word))
        prefix = rarest[: len(rarest) - math.ceil(SAME * len(rarest)) + 1]
        others = {other.id: other for word in prefix for other in met[word]}
        for other in others.values():
            if _is_repeat(one, other):
                first, second = sorted((one.id, other.id))
                yield first, second, round(len(one.words & other.words) / len(one.words | other.words), 4)
        for word in prefix:
            met[word].append(one)


def _is_repeat(one: _Said, other: _Said) -> bool:
    same_kind = one.numbers == other.numbers and one.is_negated == other.is_negated
    return same_kind and len(one.words & other.words) >= SAME * len(one.words | other.words)
