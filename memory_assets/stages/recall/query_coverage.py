"""Measures how much of a question each text covers.

Each term of the question weighs as much as it is rare, little where it is a common word of
conversation, nothing where it names a project or person, as that says where to look and not what
for. A text may cover a term by another name of the same thing (k8s, kubernetes), or, where no text
has the term, by a known one with nearly the same spelling. Takes the question and the postings of a
corpus; knows nothing of vectors and ranks.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from memory_assets.english.aliases import LONGEST_ALIAS, names_of, words_in
from memory_assets.schema.protocols import Texts
from memory_assets.stages.recall.wording import TALK
from memory_assets.text.terms import idf, query_terms, text_terms

TALK_WEIGHT = 0.2
CONTEXT_WEIGHT = 0.3
OTHER_NAME = 0.9
MISSPELT = 0.8
SHORTEST_MISSPELT = 5
"""Shorter words have too many neighbours."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Expansion = tuple[tuple[str, ...], float]
"""Terms that together say the same, and how much of the query term they cover."""


@dataclass(frozen=True)
class QueryTerm:
    """A term that an answer must cover."""

    term: str
    weight: float
    expansions: tuple[Expansion, ...]
    """The term itself first."""
    is_covered: bool
    """Whether any text covers it."""
    is_context: bool = False

    def occurs_in(self, texts: Texts) -> bool:
        """Returns whether the texts have all terms of one of the expansions."""
        return any(_have_all(texts, terms) for terms, _ in self.expansions)

    @property
    def is_exact(self) -> bool:
        """Whether it is a number, a version or a path, where a near miss is another thing."""
        return (
            self.is_covered
            and not self.is_context
            and len(self.term) > 2
            and any(ch.isdigit() for ch in self.term)
        )


def terms_of(
    question: str,
    texts: Texts,
    *,
    context: str = "",
    names: Collection[str] = (),
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> tuple[QueryTerm, ...]:
    """Returns the terms of the question; `names` are the projects and persons that there are.

    `context` are words of the conversation that a vague question refers to; they weigh less, and
    those that no text has are left out.
    """
    nameless = {term for name in names for term in text_terms(name)}

    def share(term: str) -> float:
        return 0.0 if term in nameless else TALK_WEIGHT if term in talk_terms() else 1.0

    others = _other_names(question, aliases)
    own = [_term(term, others.get(term, ()), texts, share(term)) for term in query_terms(question)]
    asked = {term.term for term in own}
    around = [
        _term(term, (), texts, CONTEXT_WEIGHT * share(term))
        for term in query_terms(context)
        if term not in asked
    ]
    return (*own, *(replace(term, is_context=True) for term in around if term.is_covered))


def coverage(terms: Sequence[QueryTerm], texts: Texts, rows: np.ndarray) -> np.ndarray:
    """Returns how much of the terms each of these rows covers, by weight: from 0 to 1, float32."""
    covered, whole = np.zeros(len(rows), dtype=np.float32), sum(term.weight for term in terms)
    for term in terms:
        if term.weight and term.is_covered:
            covered += np.float32(term.weight / whole) * _covered(term, texts, rows)
    return covered


def covers_any(terms: Sequence[QueryTerm], texts: Texts, rows: np.ndarray) -> np.ndarray:
    """Returns which of these rows cover any of the terms in full."""
    return np.any([_covered(term, texts, rows) >= MISSPELT for term in terms], axis=0)


def uncovered_share(terms: Sequence[QueryTerm]) -> float:
    """Returns the share of the terms, by weight, that no text covers."""
    whole = sum(term.weight for term in terms)
    return sum(term.weight for term in terms if not term.is_covered) / whole if whole else 0.0


def _term(term: str, others: Sequence[tuple[str, ...]], texts: Texts, share: float) -> QueryTerm:
    count = len(texts.postings(term)[0])
    expansions: list[Expansion] = [((term,), 1.0), *((terms, OTHER_NAME) for terms in others)]
    is_covered = count > 0 or any(_have_all(texts, terms) for terms in others)
    if not is_covered and share:
        near = [((form,), MISSPELT) for form in _spelt_nearly(term, texts)]
        expansions, is_covered = expansions + near, bool(near)
    return QueryTerm(term, idf(len(texts), count) * share, tuple(expansions), is_covered)


def _have_all(texts: Texts, terms: Sequence[str]) -> bool:
    return all(len(texts.postings(term)[0]) for term in terms)


def _covered(query: QueryTerm, texts: Texts, rows: np.ndarray) -> np.ndarray:
    """Returns how much of the term each row covers."""
    best = np.zeros(len(rows), dtype=np.float32)
    for terms, share in query.expansions:
        found = np.zeros(len(rows), dtype=np.float32)
        for term in terms:
            found += np.float32(share / len(terms)) * _is_in(texts.postings(term)[0], rows)
        np.maximum(best, found, out=best)
    return best


def _is_in(ascending: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Returns which rows are among the ascending ones."""
    if not len(ascending):
        return np.zeros(len(rows), dtype=bool)
    places = np.minimum(np.searchsorted(ascending, rows), len(ascending) - 1)
    return ascending[places] == rows


def _other_names(
    question: str, aliases: Mapping[str, Sequence[str]] | None
) -> dict[str, list[tuple[str, ...]]]:
    """Returns, for each term of a name in the question, the terms of each other name."""
    words, found = words_in(question), dict[str, list[tuple[str, ...]]]()
    for length in range(min(LONGEST_ALIAS, len(words)), 0, -1):
        for at in range(len(words) - length + 1):
            name = " ".join(words[at : at + length])
            names = next(
                (
                    group
                    for form in (name, name.removesuffix("s"))
                    if len(group := names_of(form, aliases)) > 1
                ),
                (),
            )
            others = [tuple(query_terms(other)) for other in names if other != name]
            for term in query_terms(name) if others else ():
                found.setdefault(term, []).extend(
                    other for other in others if other and other != (term,)
                )
    return found


def _spelt_nearly(term: str, texts: Texts) -> list[str]:
    """Returns the terms that some text has and that one typing error makes of this one."""
    if len(term) < SHORTEST_MISSPELT or not (term.isascii() and term.isalpha()):
        return []
    splits = [(term[:at], term[at:]) for at in range(len(term) + 1)]
    forms = {head + tail[1:] for head, tail in splits if tail}
    forms |= {head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1}
    forms |= {
        head + letter + tail[cut:] for head, tail in splits for letter in _LETTERS for cut in (0, 1)
    }
    return texts.known(sorted(forms - {term}))


@cache
def talk_terms() -> frozenset[str]:
    """Returns the terms of common words of conversation."""
    return frozenset(term for word in TALK for term in text_terms(word))
