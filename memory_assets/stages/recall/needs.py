"""What a question needs to be said before a text answers it, and how much of that each text says.

Each term of the question is a need; it weighs as much as the term is rare, little where it is mere talk, nothing where it names
a project or person, as that tells where to look and not what for. A text may meet a need in other words: by another name of
the same thing (k8s, kubernetes), or, where no text holds the term, by the known one next to it in spelling. Takes the question
and the postings of a corpus; knows nothing of vectors and ranks.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from memory_assets.schema.protocols import Texts
from memory_assets.stages.recall.wording import TALK
from memory_assets.text.aliases import LONGEST_ALIAS, names_of, words_in
from memory_assets.text.bm25 import idf
from memory_assets.text.terms import query_terms, text_terms

TALK_WEIGHT = 0.2
CONTEXT_WEIGHT = 0.3
OTHER_NAME = 0.9
MISSPELT = 0.8
SHORTEST_MISSPELT = 5
"""Shorter words have too many neighbours."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Way = tuple[tuple[str, ...], float]
"""Terms that say it together, and how much of the need they meet."""


@dataclass(frozen=True)
class Need:
    """Something that an answer must speak of."""

    term: str
    weight: float
    ways: tuple[Way, ...]
    """The term itself first."""
    is_met: bool
    """Whether any text speaks of it."""
    is_context: bool = False

    def spoken_of(self, texts: Texts) -> tuple[str, ...]:
        """Returns the term where the texts speak of it, in any way."""
        is_there = any(all(len(texts.postings(term)[0]) for term in terms) for terms, _ in self.ways)
        return (self.term,) if is_there else ()

    @property
    def is_exact(self) -> bool:
        """Whether it is a number, a version, a path: something of which a near miss is another thing."""
        return self.is_met and not self.is_context and len(self.term) > 2 and any(ch.isdigit() for ch in self.term)


def needs_of(
    question: str,
    texts: Texts,
    *,
    context: str = "",
    names: Collection[str] = (),
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Need, ...]:
    """Returns what the question needs; `names` are the projects and persons that there are.

    `context` are words of the conversation that a vague question leans on; they count less, and none of them must be met.
    """
    nameless = {term for name in names for term in text_terms(name)}

    def share(term: str) -> float:
        return 0.0 if term in nameless else TALK_WEIGHT if term in _talk() else 1.0

    ways = _other_names(question, aliases)
    own = [_need(term, ways.get(term, ()), texts, share(term)) for term in query_terms(question)]
    said = {need.term for need in own}
    around = [_need(term, (), texts, CONTEXT_WEIGHT * share(term)) for term in query_terms(context) if term not in said]
    return (*own, *(replace(need, is_context=True) for need in around if need.is_met))


def coverage(needs: Sequence[Need], texts: Texts) -> np.ndarray:
    """Returns how much of the needs each text meets, by weight: from 0 to 1, float32, shape (rows,)."""
    covered, whole = np.zeros(len(texts), dtype=np.float32), sum(need.weight for need in needs)
    if not whole:
        return covered
    for need in needs:
        if need.weight and need.is_met:
            covered += np.float32(need.weight / whole) * _met(need, texts)
    return covered


def speaks_of(needs: Sequence[Need], texts: Texts) -> np.ndarray:
    """Returns which texts meet any of the needs in full, bool, shape (rows,)."""
    met = np.zeros(len(texts), dtype=bool)
    for need in needs:
        met |= _met(need, texts) >= MISSPELT
    return met


def unmet(needs: Sequence[Need]) -> float:
    """Returns the share of the needs, by weight, of which no text speaks."""
    whole = sum(need.weight for need in needs)
    return sum(need.weight for need in needs if not need.is_met) / whole if whole else 0.0


def _need(term: str, others: Sequence[tuple[str, ...]], texts: Texts, share: float) -> Need:
    count = len(texts.postings(term)[0])
    ways: list[Way] = [((term,), 1.0), *((terms, OTHER_NAME) for terms in others)]
    is_met = count > 0 or any(all(len(texts.postings(one)[0]) for one in terms) for terms in others)
    if not is_met and share:
        ways += [((near,), MISSPELT) for near in _spelt_nearly(term, texts)]
        is_met = len(ways) > 1 + len(others)
    return Need(term, idf(len(texts), count) * share, tuple(ways), is_met)


def _met(need: Need, texts: Texts) -> np.ndarray:
    """Returns how much of the need each text meets."""
    best = np.zeros(len(texts), dtype=np.float32)
    for terms, share in need.ways:
        said = np.zeros(len(texts), dtype=np.float32)
        for term in terms:
            said[texts.postings(term)[0]] += np.float32(share / len(terms))
        np.maximum(best, said, out=best)
    return best


def _other_names(question: str, aliases: Mapping[str, Sequence[str]] | None) -> dict[str, list[tuple[str, ...]]]:
    """Returns, for each term of a name in the question, the terms of each other name."""
    words, found = words_in(question), dict[str, list[tuple[str, ...]]]()
    for length in range(min(LONGEST_ALIAS, len(words)), 0, -1):
        for at in range(len(words) - length + 1):
            name = " ".join(words[at : at + length])
            names = next((group for form in (name, name.removesuffix("s")) if len(group := names_of(form, aliases)) > 1), ())
            others = [tuple(query_terms(other)) for other in names if other != name]
            for term in query_terms(name) if others else ():
                found.setdefault(term, []).extend(other for other in others if other and other != (term,))
    return found


def _spelt_nearly(term: str, texts: Texts) -> Iterator[str]:
    """Yields the terms that some text holds and that one slip of the fingers makes of this one."""
    if len(term) < SHORTEST_MISSPELT or not (term.isascii() and term.isalpha()):
        return
    splits = [(term[:at], term[at:]) for at in range(len(term) + 1)]
    forms = {head + tail[1:] for head, tail in splits if tail}
    forms |= {head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1}
    forms |= {head + letter + tail[1:] for head, tail in splits if tail for letter in _LETTERS}
    forms |= {head + letter + tail for head, tail in splits for letter in _LETTERS}
    yield from (form for form in sorted(forms - {term}) if len(texts.postings(form)[0]))


@cache
def _talk() -> frozenset[str]:
    return frozenset(term for word in TALK for term in text_terms(word))
