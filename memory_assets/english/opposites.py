"""Pairs of words that exclude each other, and prefixes that turn a word into its opposite."""

from collections import defaultdict
from collections.abc import Callable, Mapping

from memory_assets.text.patterns import data_beside

_NEGATING = ("un", "in", "im", "ir", "non", "non-", "dis", "de", "mis")
"""Prefixes that negate. A word with one is compared only with the same word without it."""

SHORTEST = 3
"""Letters of a word that a prefix negates: "to" and "into" are no opposites."""

_PAIRS = data_beside(__file__)
"""`states`: of one thing only one can be said; `sides`: both can, of two moments or sides of it."""


def opposites_by(
    form: Callable[[str], str], *, of_states: bool = False
) -> dict[str, frozenset[str]]:
    """Returns the opposites of each word.

    `form` brings every word into one form, such as its stem. `of_states` leaves out pairs that can
    both be true of one thing, such as left and right.
    """
    opposites: dict[str, set[str]] = defaultdict(set)
    pairs = _PAIRS["states"] if of_states else f"{_PAIRS['states']},{_PAIRS['sides']}"
    for pair in pairs.split(","):
        word, opposite = map(form, pair.split())
        opposites[word].add(opposite)
        opposites[opposite].add(word)
    return {word: frozenset(others) for word, others in opposites.items()}


def opposites_of(word: str, table: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Returns the opposites of the word in the table, and the word with and without prefixes."""
    forms = {prefix + word for prefix in _NEGATING}
    forms |= {word.removeprefix(prefix) for prefix in _NEGATING} - {word}
    is_long = len(word) >= SHORTEST
    negated = {form for form in forms if is_long and len(form) >= SHORTEST}
    return table.get(word, frozenset()) | negated
