"""Finds memories that repeat one another, with a measure independent of merging.

Takes a frame of memories. Returns pairs of memories of one scope whose sets of words overlap by
four fifths, with equal numbers, and both negated or neither. It uses no vectors, claims or merge
rules, so that the share of repeats measures how well these work.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import polars as pl

from memory_assets.schema.records import VALID_STATES
from memory_assets.text.words import word_set

SAME = Fraction(4, 5)
"""Least Jaccard overlap of two sets of words that are the same statement."""

MOST_SHARE = 0.02
"""Most repeats per allowed memory while merging works well enough."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_NO = word_set("""no not never none nobody nothing neither nor without cannot can't don't doesn't
    didn't isn't aren't wasn't weren't won't wouldn't shouldn't mustn't haven't hasn't""")
_PAIR_SCHEMA = {"id": pl.String, "repeats_id": pl.String, "overlap": pl.Float64}


@dataclass(frozen=True)
class Repeats:
    """The repeating pairs, and the number of memories compared."""

    pairs: pl.DataFrame
    """Columns id, repeats_id and overlap, in order of the ids."""
    allowed: int

    @property
    def share(self) -> float:
        """Pairs per allowed memory."""
        return self.pairs.height / self.allowed if self.allowed else 0.0


def find_repeats(memories: pl.DataFrame) -> Repeats:
    """Returns the repeats among the allowed facts."""
    facts = memories.filter(pl.col("state").is_in(VALID_STATES), kind="fact").sort("id")
    comparable: dict[tuple[Any, ...], dict[str, frozenset[str]]] = defaultdict(dict)
    columns = facts.select("id", "text", "scope", "project", "person")
    for row in columns.iter_rows(named=True):
        words = [word.lower() for word in _WORD.findall(row["text"].replace("’", "'"))]
        is_negated = sum(word in _NO for word in words) % 2 == 1
        numbers = tuple(sorted(_NUMBER.findall(row["text"])))
        comparable[_scope_of(row), numbers, is_negated][row["id"]] = frozenset(words)
    pairs = sorted(chain.from_iterable(map(_pairs, comparable.values())))
    return Repeats(pl.DataFrame(pairs, schema=_PAIR_SCHEMA, orient="row"), facts.height)


def _scope_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Returns the scope of the memory: a project, a person in all projects, or everyone."""
    scope = row["scope"]
    return (scope, row[scope]) if scope in ("project", "person") else ("everyone",)


def _pairs(words_of: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str, float]]:
    """Yields the repeating pairs among memories, given as id → words.

    Two sets of words that overlap by `SAME` have a common word among the rarest `n - SAME * n + 1`
    words of each, where n is its number of words (the prefix filter of set-similarity joins). So
    only memories with such a common word are compared.
    """
    frequency = Counter(chain.from_iterable(words_of.values()))
    ids_by_word: dict[str, list[str]] = defaultdict(list)
    for id, words in words_of.items():
        rarest = sorted(words, key=lambda word: (frequency[word], word))
        prefix = rarest[: len(rarest) - math.ceil(SAME * len(rarest)) + 1]
        for earlier_id in {earlier_id for word in prefix for earlier_id in ids_by_word[word]}:
            earlier_words = words_of[earlier_id]
            overlap = Fraction(len(words & earlier_words), len(words | earlier_words))
            if overlap >= SAME:
                yield min(id, earlier_id), max(id, earlier_id), round(float(overlap), 4)
        for word in prefix:
            ids_by_word[word].append(id)
