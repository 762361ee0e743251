"""Finds facts that may say the opposite of the sentences that they rest on.

A model may find the right sentence and reverse it: "read-only" becomes "read-write", "never"
becomes "always", "uv, not pip" becomes "pip, not uv". Only near-equal wordings are compared: each
clause of the fact with the clauses of the sentences that have nearly all of its words. Words cannot
tell whether other wordings agree: "fails if the key is missing" and "works if it is not missing"
say the same. So a clause that denies something in its condition is not compared. Questions are not
compared either.

Compared are denials, opposite words, and which name is on which side of "before" or "instead of".
The fact is doubtful if a clause has comparable sentences and all of them say the opposite.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from memory_assets.english.opposites import opposites_by, opposites_of
from memory_assets.english.word_forms import root
from memory_assets.text.patterns import patterns_beside
from memory_assets.text.words import STOP, stems_of, word_set

ALIGNED, FEWEST = 0.75, 3
"""Least share of the longer one's words, and least number of words, that a clause and a sentence
have in common if they are compared.
"""

DENIED_WORDS = 4
"""Content words after a denial, within its clause, that it denies."""

DENIED_SHARE = 0.5
"""Share of the denied words of one statement that another must have, without denying anything, to
be its opposite.
"""

_PATTERNS = patterns_beside(__file__)
_HOW_OFTEN = re.compile(r"(?i)\b(?:always|never)\b")
_CLAUSE_END = _PATTERNS["clause_end"]
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+|\\n")
_RELATIVE = re.compile(r"(\w+),? which ")
_PART = re.compile(r";\s|,\s(?:and|but|so)\s|\s(?:and|but|because|since)\s|\s[–—]\s")
_WORD = re.compile(r"[A-Za-z0-9_./:@#-]{2,}")

_opposites = partial(opposites_of, table=opposites_by(root))

_SIDE_WORDS = 3
"""Content words next to a relation that count as its left or right side."""

_EMPTY_VERBS = word_set("use used uses using run runs running take takes keep go goes")
_PARTICLES = word_set("always ever instead rather cannot never don doesn isn aren won can")


@dataclass(frozen=True, slots=True)
class _Statement:
    """The words of a clause or a sentence, and which of them it denies."""

    words: frozenset[str]
    denied: frozenset[str]
    sides: frozenset[tuple[str, str, str]]
    """(left, relation, right) of stems."""
    how_often: str
    """`always`, `never` or empty."""


def is_contradicted(fact: str, sources: Iterable[str]) -> bool:
    """Returns whether the sources say the opposite of a clause of the fact."""
    clauses = [_read(part) for part in _parts(fact)]
    words = frozenset[str]().union(*(clause.words for clause in clauses))
    sentences = [
        _read(text)
        for source in sources
        for text in _parts(source)
        if len(_widened(_words(text)) & words) >= 2
    ]
    return any(_is_opposed(clause, sentences) for clause in clauses)


def _parts(text: str) -> list[str]:
    """Returns the sentences that are no questions, and their clauses.

    Texts without function words are left out: they are headings or lists. So are clauses that deny
    something in a condition.
    """
    statements = [
        sentence
        for sentence in _SENTENCE_END.split(_RELATIVE.sub(r"\1; \1 ", text))
        if sentence.strip() and not sentence.rstrip().endswith("?")
    ]
    parts = {part for sentence in statements for part in (sentence, *_PART.split(sentence))}
    return sorted(part for part in parts if _is_plain(part))


def _is_plain(part: str) -> bool:
    """Returns whether the part is a statement: no list of words, and not true in a case only."""
    condition = _PATTERNS["condition"].search(part)
    is_denying = condition and _PATTERNS["denial"].search(part, condition.start())
    is_exception = _PATTERNS["exception"].search(part)
    return not (is_denying or is_exception or STOP.isdisjoint(part.lower().split()))


def _is_opposed(clause: _Statement, sentences: Sequence[_Statement]) -> bool:
    """Returns whether there are comparable sentences, and all say the opposite of the clause."""
    comparable = [statement for statement in sentences if _is_comparable(clause, statement)]
    return bool(comparable) and all(_is_opposite(clause, statement) for statement in comparable)


def _is_comparable(a: _Statement, b: _Statement) -> bool:
    """Returns whether the two have enough words in common; opposite words count as common.

    Short statements must have all words in common, one of them by an opposite.
    """
    opposite_count = len(_reversed_words(a, b))
    shared_count = len(a.words & b.words) + opposite_count
    size = max(len(a.words), len(b.words))
    has_enough = shared_count >= FEWEST or (shared_count == size and opposite_count > 0)
    return shared_count >= ALIGNED * size and has_enough


def _reversed_words(a: _Statement, b: _Statement) -> list[str]:
    """Returns the words of `a` whose opposites `b` has."""
    others = b.words - a.words
    return [word for word in a.words - b.words if not others.isdisjoint(_opposites(word))]


def _is_opposite(a: _Statement, b: _Statement) -> bool:
    """Returns whether two comparable statements are opposites.

    They are if one says "always" and the other "never", or if the sides of a relation are
    exchanged. Else a denial in only one of them, or an odd number of opposite words, makes them
    opposites; both together do not.
    """
    if {a.how_often, b.how_often} == {"always", "never"}:
        return True
    sides = (side for side in a.sides - b.sides if side[0] != side[2])
    if any((object, relation, subject) in b.sides for subject, relation, object in sides):
        return True
    is_denied = False
    if bool(a.denied) != bool(b.denied):
        denied = a.denied | b.denied
        shared = denied & _widened(a.words) & _widened(b.words)
        is_denied = len(shared) >= DENIED_SHARE * len(denied)
    return is_denied != (len(_reversed_words(a, b)) % 2 == 1)


@lru_cache(maxsize=20_000)
def _widened(words: frozenset[str]) -> frozenset[str]:
    """Returns the words with their opposites."""
    return words.union(*map(_opposites, words))


@lru_cache(maxsize=20_000)
def _read(text: str) -> _Statement:
    bare = _PATTERNS["switched"].sub(r"switched-\1", _PATTERNS["denies_nothing"].sub(" ", text))
    denials = _PATTERNS["denial"].finditer(bare)
    denied = frozenset[str]().union(*(_first_words(bare[denial.end() :]) for denial in denials))
    often = {denial.lower() for denial in _HOW_OFTEN.findall(bare)}
    how_often = often.pop() if len(often) == 1 else ""
    return _Statement(_words(bare), denied, frozenset(_sides(bare)), how_often)


def _words(text: str) -> frozenset[str]:
    return frozenset(_content(text))


def _content(text: str) -> list[str]:
    words = (word.strip(".:-/") for word in _WORD.findall(text.lower()))
    return [
        root(word)
        for word in words
        if word not in _PARTICLES and (stems_of(word) or word in _OPPOSABLE)
    ]


_OPPOSABLE = word_set("first last more less fewer")
"""Function words that have an opposite, so that they count as content words here."""


def _first_words(text: str) -> frozenset[str]:
    clause = _CLAUSE_END.split(text[:80], maxsplit=1)[0]
    return frozenset(_content_without_verbs(clause)[:DENIED_WORDS])


def _sides(text: str) -> Iterable[tuple[str, str, str]]:
    """Yields (left word, relation, right word); "b after a" becomes "a before b"."""
    for relation in _PATTERNS["relation"].finditer(text):
        text_before = re.split(r"[;:()]", text[: relation.start()])[-1]
        text_after = _CLAUSE_END.split(text[relation.end() :], maxsplit=1)[0]
        for subject in _content_without_verbs(text_before)[-_SIDE_WORDS:]:
            for object in _content_without_verbs(text_after)[:_SIDE_WORDS]:
                yield _side(subject, relation.lastgroup or "", object)


def _side(subject: str, kind: str, object: str) -> tuple[str, str, str]:
    if kind == "after":
        return object, "before", subject
    if kind == "by":
        return object, "needs", subject
    return subject, kind, object


def _content_without_verbs(text: str) -> list[str]:
    return [word for word in _content(text) if word not in _EMPTY_VERBS]
