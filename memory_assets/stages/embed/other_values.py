"""Decides whether two statements are the same words around different values, in a place that holds
one value at a time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_assets.english.word_forms import root
from memory_assets.stages.embed.compared_statements import VALUE, ComparedStatement
from memory_assets.text.words import word_set

_LONGEST_NAME = 3
"""Words of a value that is a name."""

_ALTERNATIVES = tuple(
    frozenset(map(root, group.split()))
    for group in (
        "uv pip poetry conda",
        "npm pnpm yarn bun",
        "pytest unittest",
        "squash rebase merge",
        "main master trunk",
        "postgres mysql sqlite redis memcached",
        "jenkins buildkite",
        "light dark",
        "past present",
        "http https",
        "monday tuesday wednesday thursday friday saturday sunday",
        "english german french",
    )
)
"""Exclusive choices: choosing one of a group rejects the others."""

_EPISODE = word_set("coverage total count size duration score result status")
"""Belongs to one piece of work, or is measured again each time."""

_LISTED = word_set("step item phase option adr issue pr line chapter section part row task case")
"""Words before a number that is only an index."""

_CHOICE = re.compile(r"\b(?:uses?|prefers?|with|by|in|on|is|are)$")
_ONE_NAME_BEFORE = re.compile(
    r"\b(?:called|named|defaults to|\w+(?:ed|en|t) (?:by|with|via|at|on|in|to))$"
    r"|^(?:[\w-]+ )*(?:service|database|provider|language|host|owner|maintainer) is$"
)
_ONE_NAME_AFTER = re.compile(r"^(?:owns|leads|maintains|is (?:the|our)\b)")
_RUNS_ON = re.compile(r"\b(?:runs?|needs?|requires?|targets?|uses?|is|at)(?: on)?(?: [\w-]+)?$")
_INDEFINITE = word_set("a an another some one")
_AT_BEGINNING = word_set("needed required is are")


_COMPARISONS = word_set("above below")


@dataclass(frozen=True)
class _Place:
    """A value in a statement, and the words around it."""

    head: tuple[str, ...]
    value: tuple[str, ...]
    tail: tuple[str, ...]
    form: str
    """What the value counts as."""


def differ_in_a_value(newer: ComparedStatement, older: ComparedStatement) -> bool:
    """Returns whether the two are the same words around different values, in a place for one
    value.
    """
    place = _find_place(newer, older)
    old_place = _find_place(older, newer)
    if place is None or old_place is None or not newer.core & older.core:
        return False
    words = {*newer.plain, *older.plain}
    is_compared = bool(_COMPARISONS & set(newer.plain) ^ _COMPARISONS & set(older.plain))
    is_measured = not newer.is_norm and not _EPISODE.isdisjoint(words)
    if is_compared or is_measured or _is_index(place) or _is_index(old_place):
        return False
    return _holds_one(place, old_place)


def _find_place(statement: ComparedStatement, other: ComparedStatement) -> _Place | None:
    """Returns where the statement has words that the other one lacks, if they follow one another
    and are no more than a name has.
    """
    missing = statement.core - other.core
    words = statement.plain
    at = [n for n, word in enumerate(words) if statement.forms.get(word, "") in missing]
    if not at or not at[-1] - at[0] == len(at) - 1 < _LONGEST_NAME:
        return None
    value = words[at[0] : at[-1] + 1]
    start = words.index(value[0])
    end = words.index(value[-1]) + 1
    form = " ".join(statement.forms[word] for word in value)
    return _Place(words[:start], value, words[end:], form)


def _is_index(place: _Place) -> bool:
    return bool(place.head) and place.head[-1] in _LISTED


def _holds_one(place: _Place, old_place: _Place) -> bool:
    """Returns whether only one of the two values can stand in its place."""
    places = (place, old_place)
    choices = {root(place.value[0]), root(old_place.value[0])}
    if any(choices <= group for group in _ALTERNATIVES):
        return any(_CHOICE.search(" ".join(one_place.head)) for one_place in places)
    if VALUE.match(place.form) and VALUE.match(old_place.form):
        is_version = "." in place.form and "." in old_place.form
        return any(_takes_one_value(p.head, p.tail, is_version) for p in places)
    is_same = (place.head, place.tail) == (old_place.head, old_place.tail)
    return is_same and _takes_one_name(place.head, place.tail)


def _takes_one_value(head: Sequence[str], tail: Sequence[str], is_version: bool) -> bool:
    """Returns whether one number can stand between the two: of one thing, not of one of several.

    Several versions of one thing exist side by side, but a thing runs on one of them.
    """
    if is_version:
        return _RUNS_ON.search(" ".join(head)) is not None
    if not head:
        return not _AT_BEGINNING.isdisjoint(tail[:4])
    return len(head) > 1 and head[0] not in _INDEFINITE


def _takes_one_name(head: Sequence[str], tail: Sequence[str]) -> bool:
    """Returns whether only one name can stand between the two: "is hosted on", "owns"."""
    if not head:
        return _ONE_NAME_AFTER.match(" ".join(tail)) is not None
    return not tail and _ONE_NAME_BEFORE.search(" ".join(head)) is not None
