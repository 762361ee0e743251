"""Decides what of one claim is opposed to another: opposite words, denials, exchanged roles."""

from collections.abc import Iterator, Mapping

from memory_assets.english.claims import Claim
from memory_assets.english.opposites import opposites_by, opposites_of
from memory_assets.english.word_forms import root

_ACROSS = {"befor": "after", "after": "befor", "from": "to", "to": "from"}

OPPOSITES = opposites_by(root)
_STATES = opposites_by(root, of_states=True)


def opposition(a: Claim, b: Claim, *, of_states: bool = False) -> list[frozenset[str]]:
    """Returns what in the one is the opposite of the other: pairs of opposite words, and words that
    one of them denies.
    """
    table = _STATES if of_states else OPPOSITES
    pairs = [
        pair
        for pair in opposed_pairs(a, b, table)
        if pair.isdisjoint(a.denied) == pair.isdisjoint(b.denied)
    ]
    for claim, other in ((a, b), (b, a)):
        asserted = other.words - other.denied
        pairs += [words for words in claim.denials if 2 * len(words & asserted) > len(words)]
    return pairs


def opposed_pairs(
    a: Claim, b: Claim, table: Mapping[str, frozenset[str]] = OPPOSITES
) -> Iterator[frozenset[str]]:
    """Yields a word of the one with its opposite in the other, both or none at the beginning."""
    only_b = b.words - a.words
    for word in a.words - b.words:
        for opposite in opposites_of(word, table) & only_b:
            if (word == a.opening) == (opposite == b.opening):
                yield frozenset({word, opposite})


def differ_in_roles(a: Claim, b: Claim) -> bool:
    """Returns whether the same words stand on the other sides of a word.

    Different words follow the same word of direction, one word follows "before" and "after", or
    subject and object are exchanged.
    """
    if any((_ACROSS.get(way), word) in b.behind for way, word in a.behind - b.behind):
        return True
    reversed_triples = {triple[::-1] for triple in _triples(b)}
    if a.is_passive == b.is_passive and not reversed_triples.isdisjoint(_triples(a)):
        return True
    ways = {way for way, _ in a.behind} & {way for way, _ in b.behind} - {"to"}
    return any(a.words_behind(way).isdisjoint(b.words_behind(way)) for way in ways)


def _triples(claim: Claim) -> frozenset[tuple[str, ...]]:
    """Returns the words that follow one another, three by three, without repeated ones."""
    words = [word for word in claim.content if claim.content.count(word) == 1]
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def differ_in_order(a: Claim, b: Claim) -> bool:
    """Returns whether both say what comes before something, and each something else."""
    earlier = a.words_behind("befor")
    others = b.words_behind("befor")
    return bool(earlier and others) and earlier.isdisjoint(others)
