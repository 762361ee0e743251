"""Decides whether a stated change is about what an older statement asserts.

The change names what is gone, what came, or both. It replaces an older sentence if that one names
what is gone as in use, about the same subject; it reverses an older change that it takes back.
"""

import re

from memory_assets.english.aliases import names_of
from memory_assets.english.changes import AT, WAYS, Change
from memory_assets.english.claims import Claim, read_claim
from memory_assets.english.word_forms import root, tokens_of
from memory_assets.stages.embed.compared_statements import HAPPENED, TAKING, VALUE
from memory_assets.stages.embed.project import concept_words
from memory_assets.text.patterns import words_beside

_HALF = 0.5
"""Share of the words of an older sentence's subject that the change has."""

_ARTICLE = r"(?:(?:the|a|an|our|port|version)\s+)*"
_PLACE = r"\b(?:in|on|as|with|to|via|by|at|after|every|from|us\w+|is|are|prefers?|runs?|needs?)\s+"
_USE = (
    rf"\b(?:use[sd]?\s+|using\s+|(?:is|are)\s+(?:(?:on|in|at)\s+)?|{WAYS}{AT}|"
    r"(?:mov|switch|migrat)\w*\s[^.;!?]{0,60}?\bto\s+)(?:the\s+)?"
)
_SERVES = r"\s+(?:(?:is|are)\s+(?:our|the|where)|runs|hosts|builds|stores|serves)\b"
_DOMAIN = r"\.(?:io|com|org|net|dev|app)"
_DETAIL = re.compile(r"[,;(]|\s[—–]\s")
GENERAL = TAKING | frozenset(map(root, words_beside(__file__)["general"]))
"""Words that name no subject of their own in a statement about what is used."""


def reverses(change: Change, other: Change, about_all: frozenset[str]) -> bool:
    """Returns whether the change brings back what the other one says is gone, of the same
    subject.
    """
    if not other.gone or not re.fullmatch(_spellings(other.gone), change.came):
        return False
    if change.gone and other.came and change.gone != other.came:
        return False
    subject = _subject(read_claim(change.clause), change) - about_all
    about = _subject(read_claim(other.clause), other) - about_all
    return not (subject and about) or bool(subject & about)


def replaces(change: Change, older: str, about_all: frozenset[str]) -> bool:
    """Returns whether the older sentence asserts the replaced name about the subject of the change.

    A statement without a subject of its own is about everything; `about_all` are words that name no
    subject.
    """
    main = _main_part(older, change.gone)
    if not main or HAPPENED.search(main):
        return False
    if change.came and _holds(older, change.came):
        return False
    asserted = read_claim(main)
    if asserted.is_negated:
        return False
    unspecific = roots_of(concept_words(change.gone)) | about_all
    changed = read_claim(change.clause)
    about = _subject(asserted, change) - unspecific
    subject = _subject(changed, change) - unspecific
    if not about or not subject:
        return not subject and _relies_on(main, change.gone)
    names = _names_of_subject(main, asserted, change, about) - about_all
    is_same = len(about & subject) >= _HALF * len(about)
    return is_same and names <= changed.specifics | changed.names | changed.words


def _names_of_subject(
    main: str, asserted: Claim, change: Change, about: frozenset[str]
) -> frozenset[str]:
    """Returns the names beside the replaced one, and the first word: a statement begins with its
    subject. An exact value that another one replaces needs no names beside it.
    """
    roots = map(root, main.lower().split())
    opening = next((word for word in roots if word in asserted.words), "")
    beside = {n for n in asserted.specifics | asserted.names if not _is_part(n, change)}
    names = frozenset(beside) | ({opening} & about)
    return names & {opening} if VALUE.match(change.gone) and change.came else names


def _subject(claim: Claim, change: Change) -> frozenset[str]:
    return claim.words - roots_of(change.gone) - roots_of(change.came)


def _is_part(name: str, change: Change) -> bool:
    first = name.split()[0]  # "60 seconds" goes with "60"
    return first in change.gone.split() or first in change.came.split()


def roots_of(text: str) -> frozenset[str]:
    """Returns the roots of the words of a text."""
    return frozenset(root(token.lower()) for token in tokens_of(text))


def _relies_on(text: str, name: str) -> bool:
    """Returns whether the text says that the name is in use, so that a general change applies to
    it.
    """
    spelled = rf"[`'\"]?{_spellings(name)}"
    in_use = rf"{_USE}{spelled}|^{spelled}{_SERVES}"
    return re.search(in_use, text, re.IGNORECASE) is not None


def _holds(text: str, name: str) -> re.Match[str] | None:
    """Returns where the name is the subject of the text, or stands where something in use is
    named.
    """
    return re.search(rf"(?:^|{_PLACE}){_ARTICLE}[`'\"]?{_spellings(name)}", text, re.IGNORECASE)


def _main_part(text: str, name: str) -> str:
    """Returns the text up to the first detail behind the name; empty if the text does not hold the
    name.
    """
    held = _holds(text, name)
    detail = _DETAIL.search(text, held.end()) if held else None
    return text[: detail.start() if detail else None] if held else ""


def _spellings(name: str) -> str:
    """Returns a pattern of the name, its other names, and both with and without a domain: Fly and
    Fly.io.
    """
    names = {re.sub(rf"{_DOMAIN}$", "", name), *names_of(name)}
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return rf"(?:{words})(?:{_DOMAIN})?(?![\w/-]|\.\w)"
