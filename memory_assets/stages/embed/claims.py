"""Reads what a sentence claims, and decides whether two sentences make the same claim.

Similarity alone cannot decide: MiniLM ranks near-misses above paraphrases (5432 against 5433:
0.955; never against always force-push: 0.970; a true paraphrase: 0.849 or 0.599), so cosine only
finds candidates. Two claims are the same if they share most of their words, and agree in

- values: the newer one has every number, identifier, name and command of the older one, and no
  other number or flag,
- polarity: none denies, replaces, or has the opposite of, what the other one says,
- mood and time: an order, a guess, a report, a question, and a state of the moment are five claims,
- conditions: neither has a condition or a limit ("only", "unless") that the other one lacks,
- roles: what is before, after, from or by something, and who does it to whom.

Words are shared with synonyms and relatives ("fail", "failure"). The nearer the two are, the fewer
words have to be shared, but no word may stand in the place of another: "The upload failed because
the disk was full" and "The download failed because the disk was full".
"""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import product

from memory_assets.english.claims import Claim, read_claim
from memory_assets.english.opposition import differ_in_roles, opposition
from memory_assets.english.word_forms import LIGHT_ROOTS, root

NEAREST = 0.9
NEAR = 0.85
REWORDED = 0.75
FARTHEST = 0.5
"""Cosines from which the least share of words suffices; from which a word of content may be
unshared; from which few words suffice; and of any candidate."""

LEAST_COMMON = 0.6
ALL_COMMON = 0.95
"""Least share of common words, by weight, in one of the two: of the nearest and of the farthest
candidates.
"""

LEAST_OF_BOTH = 0.7
LEAST_OF_DETAILED = 0.5
"""Least share in both together, and where only the newer one has more detail."""

LIGHT_WEIGHT = 0.3
VALUE_WEIGHT = 2.0
LEAST_WEIGHT = 1.9
"""Of a word of general meaning, of a value, and of all common words together; a word weighs 1."""

HALF = 0.5
"""Share of the words outside of code that are common, too."""

MOST_EXCHANGED = 0.15
"""Share of words that may stand in another word's place, none of them among the first ones."""

FIRST = 3
"""Words at the beginning, which name the subject."""

LONG = 8
"""Content words from which a claim is long: a number, a condition or a word of only one of the two
is then a detail.
"""


def same_claim(newer: str, older: str, similarity: float) -> str | None:
    """Returns why the two merge, or None; the newer wording must contain every value of the older
    one.
    """
    a = read_claim(newer)
    b = read_claim(older)
    if newer == older or (a.normal and a.normal == b.normal):
        return "same words"
    if not _may_be_same(a, b, _least_common(similarity)):
        return None
    ours = _missing(a, b)
    theirs = _missing(b, a)
    is_shared = _share_words(a, b, ours, theirs, similarity)
    if not is_shared or any(differ(a, b) for differ in _DIFFERENCES):
        return None
    if a.words == b.words:
        return "same words in another order"
    if ours | theirs <= LIGHT_ROOTS:
        return "same words but for general ones"
    return "same claim in other words" if ours and theirs else "same claim, one with more detail"


def _may_be_same(a: Claim, b: Claim, least: float) -> bool:
    """Returns whether the costlier comparisons are worth it; a value can be in the other claim in
    another form.
    """
    common = frozenset(a.families.values()) & frozenset(b.families.values())
    fewest = least * min(len(a.families), len(b.families)) / 2
    return bool(a.spoken and b.spoken) and len(common) >= fewest


def _least_common(similarity: float) -> float:
    far = min(max((NEAREST - similarity) / (NEAREST - FARTHEST), 0), 1)
    return LEAST_COMMON + far * (ALL_COMMON - LEAST_COMMON)


def _missing(claim: Claim, other: Claim) -> frozenset[str]:
    """Returns the words that the other claim lacks."""
    others = frozenset(other.families.values())
    missing = (word for word, family in claim.families.items() if family not in others)
    return frozenset(word for word in missing if not _has(other, word))


def _has(claim: Claim, value: str) -> bool:
    """Returns whether the claim has the value: itself, in a path, or in parts."""
    if value in claim.families or _has_word(claim, value):
        return True
    paths = (specific for specific in claim.specifics if "/" in specific)
    if any(f"/{value}/" in f"/{path}/" for path in paths):
        return True
    parts = [part for part in re.split(r"[/=]", value) if part]
    return len(parts) > 1 and all(_has_word(claim, part) for part in parts)


def _has_word(claim: Claim, word: str) -> bool:
    return word in claim.specifics or root(word) in claim.families


def _share_words(
    a: Claim, b: Claim, ours: frozenset[str], theirs: frozenset[str], similarity: float
) -> bool:
    """Returns whether the two have enough words in common for their similarity, and none that
    stands in another's place.
    """
    size = _weight(a.words)
    missing = _weight(ours)
    other_size = _weight(b.words)
    other_missing = _weight(theirs)
    least_shared = min(missing / size, other_missing / other_size)
    is_light = size - missing < LEAST_WEIGHT + (similarity < REWORDED)
    if is_light or 1 - least_shared < _least_common(similarity):
        return False
    our_content = ours - LIGHT_ROOTS
    their_content = theirs - LIGHT_ROOTS
    if not (our_content or their_content):
        return True
    of_both = 1 - (missing + other_missing) / (size + other_size)
    least = LEAST_OF_BOTH if their_content else LEAST_OF_DETAILED
    return of_both >= least and _share_content(a, b, our_content, their_content, similarity)


def _share_content(
    a: Claim, b: Claim, ours: frozenset[str], theirs: frozenset[str], similarity: float
) -> bool:
    """Returns the same for the words without those of general meaning."""
    if similarity < NEAR or a.opening in ours or b.opening in theirs:
        return False
    spoken = _spoken_families(a)
    other_spoken = _spoken_families(b)
    if len(spoken & other_spoken) < HALF * min(len(spoken), len(other_spoken)):
        return False
    return _exchanged(a, b, ours | theirs) <= MOST_EXCHANGED


def _spoken_families(claim: Claim) -> set[str]:
    return {claim.families.get(word, word) for word in claim.spoken}


def _weight(words: Iterable[str]) -> float:
    return sum(
        LIGHT_WEIGHT if word in LIGHT_ROOTS else 1 if word.isalpha() else VALUE_WEIGHT
        for word in words
    )


def _exchanged(a: Claim, b: Claim, unshared: frozenset[str]) -> float:
    """Returns the share of unshared words that stand in the place of another one, in one
    construction; 1 for the subject.
    """
    least = 2 if min(len(a.families), len(b.families)) >= LONG else 1
    families = [a.families[word] for word in a.content]
    other_families = [b.families[word] for word in b.content]
    matcher = SequenceMatcher(None, families, other_families, autojunk=False)
    count = 0
    for what, start, end, other_start, other_end in matcher.get_opcodes():
        sides = (a.content[start:end], b.content[other_start:other_end])
        unshared_count = sum(not unshared.isdisjoint(side) for side in sides)
        if what == "replace" and _is_contrast(*sides) and unshared_count >= least:
            if start < FIRST:
                return 1.0
            count += 1
    return count / min(len(a.spoken), len(b.spoken))


def _is_contrast(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    is_general = LIGHT_ROOTS.issuperset(first) or LIGHT_ROOTS.issuperset(second)
    return max(len(first), len(second)) <= 2 and not is_general


def _differ_in_values(a: Claim, b: Claim) -> bool:
    """Returns whether the newer claim lacks a value, or has another number (unless as a detail),
    command or flag.
    """
    numbers = {value for value in a.specifics if any(map(str.isdigit, value))}
    is_detail = min(len(a.words), len(b.words)) >= LONG or _missing(b, a) <= LIGHT_ROOTS
    if not all(_has(a, value) for value in b.specifics | b.names):
        return True
    if not (is_detail or numbers <= b.specifics) or _differ_in_commands(a, b):
        return True
    flags = _flags(a)
    other_flags = _flags(b)
    return flags != other_flags and bool(flags and other_flags)


def _differ_in_commands(a: Claim, b: Claim) -> bool:
    """Returns whether both have the same program with other arguments."""
    pairs = product(a.commands, b.commands)
    return any(x != y and x.split()[0] == y.split()[0] for x, y in pairs)


def _flags(claim: Claim) -> set[str]:
    return {word for word in claim.content if word.startswith("-")}


def _differ_in_polarity(a: Claim, b: Claim) -> bool:
    """Returns whether the one denies or replaces what the other one asserts."""
    return bool(opposition(a, b)) or any(name in b.normal for name in a.replaced - b.replaced)


def _differ_in_mood(a: Claim, b: Claim) -> bool:
    """Returns whether the two are of different moods, or no plain statements and of different
    words.
    """
    is_long = min(len(a.words), len(b.words)) >= LONG
    has_detail = a.mood in ("", "guess") or (is_long and a.mood == "moment")
    return a.mood != b.mood or (a.words != b.words and not has_detail)


def _differ_in_time(a: Claim, b: Claim) -> bool:
    """Returns whether one is about the past and the other about the present: was and is, used and
    uses, report and order.
    """
    if _only_reports(a, b) or _only_reports(b, a):
        return True
    if None not in (a.is_past, b.is_past):
        return a.is_past != b.is_past
    return not (a.finished.isdisjoint(b.present) and b.finished.isdisjoint(a.present))


def _only_reports(claim: Claim, other: Claim) -> bool:
    """Returns whether the one is a report, and nothing in the other is in the past."""
    return claim.is_report and not (other.finished or other.is_past or other.is_passive)


def _differ_in_conditions(a: Claim, b: Claim) -> bool:
    """Returns whether one has a condition or a limit that the other one lacks, unless as a detail
    of the newer one.
    """
    is_long = min(len(a.words), len(b.words)) >= LONG
    pairs = [(b, a)] if is_long else [(a, b), (b, a)]
    return any(_lacks_condition(claim, other) for claim, other in pairs)


def _lacks_condition(claim: Claim, other: Claim) -> bool:
    """Returns whether the other claim lacks most of a condition of this one, or its limit."""
    missing = claim.conditions & _missing(claim, other)
    if 2 * len(missing) > len(claim.conditions):
        return True
    return claim.is_limited and not (other.is_limited or other.conditions)


_DIFFERENCES = (
    _differ_in_values,
    _differ_in_polarity,
    _differ_in_mood,
    _differ_in_time,
    _differ_in_conditions,
    differ_in_roles,
)
