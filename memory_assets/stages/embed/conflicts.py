"""Decides whether two statements about one subject contradict each other, and how.

Invalidating facts by similarity hits unrelated ones, so a conflict is read from the claims; in
doubt there is none:

    replaced      the newer one says that what the older one asserts was replaced by something else,
                  is gone, or has another value from now on (`corrections`)
    reversed      the newer one returns to what the older one says was replaced or is gone
    opposite      the same words, one with and one without a "not" (or enabled and disabled,
                  required and optional)
    other value   the same words around another value, in a place that holds one value at a time: a
                  port, a limit, a
                  version something runs on, an owner, one of several tools that exclude each other

Flags, paths, positions in a list, measurements, momentary states and statements about the past
conflict with nothing. Who said it, and which of the two holds, is decided in `memories`.
"""

from collections.abc import Callable

from memory_assets.english.changes import withdraws
from memory_assets.english.claims import Claim
from memory_assets.english.opposition import differ_in_order, opposition
from memory_assets.english.word_forms import root
from memory_assets.stages.embed.claims import same_claim
from memory_assets.stages.embed.compared_statements import ComparedStatement, read_statement
from memory_assets.stages.embed.corrections import UNKNOWN, adds, corrects, states_news
from memory_assets.stages.embed.other_values import differ_in_a_value
from memory_assets.stages.embed.replacements import GENERAL, replaces, reverses, roots_of

REPLACED = "replaced"
REVERSED = "reversed"
OPPOSITE = "opposite"
OTHER_VALUE = "other value"
STATED = frozenset({REPLACED, REVERSED})
"""The newer one itself states the change; it need be neither near the older one in meaning nor
filed alike.
"""

CONSIDERED_FROM = 0.5
"""Cosine from which two statements are compared by their words."""

_NEARLY_ALL = 0.8
"""Share of common words of two statements that say the opposite of each other."""

Likeness = Callable[[str, str], float]

_OPPOSED = tuple(frozenset(map(root, pair.split())) for pair in ("before after", "on off"))


def supersedes(newer: str, older: str, project: str, likeness: Likeness | None = None) -> bool:
    """Returns whether a sentence says that an earlier sentence no longer holds; `likeness` returns
    the cosine of two texts.
    """
    new = read_statement(newer)
    if not new.changes and new.words.isdisjoint(read_statement(older).core):
        return False
    if find_conflict(newer, older, project):
        return True
    # A statement that would not correct even one with its own words needs no vectors.
    if likeness is None or not _is_corrected(new, newer, older, 1.0):
        return False
    return _is_corrected(new, newer, older, likeness(newer, older))


def find_conflict(newer: str, older: str, project: str = "") -> str | None:
    """Returns how the newer statement conflicts with the older one, or None; both are about the
    `project`.
    """
    new = read_statement(newer)
    old = read_statement(older)
    stated = _stated_conflict(new, old, GENERAL | roots_of(project))
    if stated:
        return stated
    is_withdrawn = bool(old.asserted and old.core) and old.core <= new.words
    if (is_withdrawn and withdraws(newer)) or _is_corrected(new, newer, older, UNKNOWN):
        return REPLACED
    return _settled_conflict(new, old, newer)


def _settled_conflict(new: ComparedStatement, old: ComparedStatement, newer: str) -> str | None:
    """Returns the conflict of two settled statements."""
    if not (new.is_settled and old.is_settled):
        return None
    if _are_opposite(new, old):
        return OPPOSITE
    if adds(new) or not differ_in_a_value(new, old):
        return None
    return REPLACED if states_news(newer) else OTHER_VALUE


def _is_corrected(new: ComparedStatement, newer: str, older: str, similarity: float) -> bool:
    """Returns whether the newer statement corrects the older one and does not say the same; one
    that names both sides of a change corrects only what is about these.
    """
    names_both = any(change.gone and change.came for change in new.changes)
    is_corrected = not names_both and corrects(newer, older, similarity)
    return is_corrected and (states_news(newer) or not same_claim(newer, older, similarity))


def _stated_conflict(
    new: ComparedStatement, old: ComparedStatement, about_all: frozenset[str]
) -> str | None:
    """Returns the conflict that the newer statement itself states, if it states a change."""
    if {change.came for change in new.changes} & {change.came for change in old.changes} - {""}:
        return None
    for change in new.changes:
        if any(reverses(change, other, about_all) for other in old.changes):
            return REVERSED
    for change in new.changes:
        if change.gone and any(replaces(change, part, about_all) for part in old.asserted):
            return REPLACED
    return None


def _are_opposite(newer: ComparedStatement, older: ComparedStatement) -> bool:
    """Returns whether both say the same about the same subject, and an odd number of things turns
    the one into the other.
    """
    if not _name_the_same(newer.claim, older.claim):
        return False
    words = newer.words
    old_words = older.words
    if words == old_words and differ_in_order(newer.claim, older.claim):
        return True
    flips = [pair for pair in _OPPOSED if _is_flipped(pair, words, old_words)]
    turned = [*opposition(newer.claim, older.claim, of_states=True), *flips]
    if len(turned) % 2 == 0:
        return False
    both = words & old_words
    opposites = frozenset[str]().union(*(pair for pair in turned if not pair <= both))
    rest = words - (opposites - old_words)
    old_rest = old_words - (opposites - words)
    common_count = len(rest & old_rest)
    return common_count > 0 and common_count >= _NEARLY_ALL * len(rest | old_rest)


def _name_the_same(a: Claim, b: Claim) -> bool:
    is_named = a.names <= b.names | b.words and b.names <= a.names | a.words
    return a.specifics == b.specifics and is_named


def _is_flipped(pair: frozenset[str], words: frozenset[str], others: frozenset[str]) -> bool:
    """Returns whether each statement has one word of the pair that the other one lacks."""
    return len(pair & (words - others)) == 1 == len(pair & (others - words))
