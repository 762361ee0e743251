"""Finds facts that may say the opposite of the sentences that they rest on.

A model may find the right sentence and reverse it: "read-only" becomes "read-write", "never"
becomes "always", "uv, not pip" becomes "pip, not uv". Only near-equal wordings are compared: each
clause of the fact with the clauses of the sentences that have nearly all of its words. Words cannot
tell whether other wordings agree: "fails if the key is missing" and "works if it is not missing"
say the same. So a clause that denies something in its condition is not compared. Questions are not
compared either. The fact is doubtful if a clause has comparable sentences and all of them say the
opposite.
"""

import re
from collections.abc import Iterable, Sequence

from memory_assets.english.claims import DENIAL, Claim, read_claim
from memory_assets.english.opposition import differ_in_order, differ_in_roles, opposed_pairs
from memory_assets.english.word_forms import form_of, root, tokens_of
from memory_assets.text.words import STOP

ALIGNED, FEWEST = 0.75, 3
"""Least share of the longer one's words, and least number of words, that a clause and a sentence
have in common if they are compared.
"""

_GENERAL = frozenset(map(root, STOP))
_SWITCHED = re.compile(
    r"(?i)\b(?:is|are|be|turn(?:s|ed)?|switch(?:es|ed)?|stays?|default) (on|off)\b(?! the| a\b)"
)
_CONDITION = re.compile(r"(?i)\b(?:if|when)\b")
_EXCEPTION = re.compile(r"(?i)\b(?:unless|until|except)\b")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+|\\n")
_RELATIVE = re.compile(r"(\w+),? which ")
_PART = re.compile(r"[;:]\s|,\s(?:and|but|so)\s|\s(?:and|but|because|since)\s|\s[–—]\s")


def is_contradicted(fact: str, sources: Iterable[str]) -> bool:
    """Returns whether the sources say the opposite of a clause of the fact."""
    forms = _forms(fact)
    texts = (text for source in sources for text in _parts(source))
    sentences = [read_claim(text) for text in texts if not forms.isdisjoint(_forms(text))]
    return any(_is_opposed(read_claim(clause), sentences) for clause in _parts(fact))


def _forms(text: str) -> set[str]:
    return set(filter(None, map(form_of, tokens_of(text))))


def _parts(text: str) -> list[str]:
    """Returns the sentences that are no questions, and their clauses.

    Texts without function words are left out: they are headings or lists. So are clauses that deny
    something in a condition.
    """
    switched = _SWITCHED.sub(r"switched-\1", text)
    statements = [
        sentence
        for sentence in _SENTENCE_END.split(_RELATIVE.sub(r"\1; \1 ", switched))
        if sentence.strip() and not sentence.rstrip().endswith("?")
    ]
    parts = {part for sentence in statements for part in (sentence, *_PART.split(sentence))}
    return sorted(part for part in parts if _is_plain(part))


def _is_plain(part: str) -> bool:
    """Returns whether the part is a statement: no list of words, and not true in a case only."""
    condition = _CONDITION.search(part)
    is_denying = condition and DENIAL.search(part, condition.start())
    is_list = STOP.isdisjoint(part.lower().split())
    return not (is_denying or is_list or _EXCEPTION.search(part))


def _is_opposed(clause: Claim, sentences: Sequence[Claim]) -> bool:
    """Returns whether there are comparable sentences, and all say the opposite of the clause."""
    comparable = [sentence for sentence in sentences if _is_comparable(clause, sentence)]
    return bool(comparable) and all(_is_opposite(clause, sentence) for sentence in comparable)


def _is_comparable(a: Claim, b: Claim) -> bool:
    """Returns whether the two have enough words in common; opposite words count as common.

    Short statements must have all words in common, one of them by an opposite.
    """
    opposite_count = len(set(opposed_pairs(a, b)))
    shared_count = len((a.words & b.words) - _GENERAL) + opposite_count
    size = max(len(a.words - _GENERAL), len(b.words - _GENERAL))
    has_enough = shared_count >= FEWEST or (shared_count == size and opposite_count > 0)
    return shared_count >= ALIGNED * size and has_enough


def _is_opposite(a: Claim, b: Claim) -> bool:
    """Returns whether two comparable statements are opposites: names or words are exchanged, or a
    denial in only one of them, or an odd number of opposite words, turns the one into the other.
    """
    is_exchanged = differ_in_roles(a, b) or differ_in_order(a, b)
    if is_exchanged or any(name in b.normal for name in a.replaced - b.replaced):
        return True
    return _is_denied(a, b) != (len(set(opposed_pairs(a, b))) % 2 == 1)


def _is_denied(a: Claim, b: Claim) -> bool:
    """Returns whether only one of the two denies, and the other has half of what it denies."""
    if _denies(a) == _denies(b):
        return False
    denied = a.denied if a.is_negated else b.denied
    return 2 * len(denied & a.words & b.words) >= len(denied) > 0


def _denies(claim: Claim) -> bool:
    return claim.is_negated or bool(claim.replaced)
