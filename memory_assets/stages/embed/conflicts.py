"""Decides whether two statements about one subject contradict each other, and how.

Invalidating facts by similarity hits unrelated ones, so a conflict is read from the claims; in
doubt there is none:

    replaced      the newer one says that what the older one asserts was replaced by something else,
                  or is gone
    reversed      the newer one returns to what the older one says was replaced or is gone
    opposite      the same words, one with and one without a "not" (or enabled and disabled,
                  required and optional)
    other value   the same words around another value, in a place that holds one value at a time: a
                  port, a limit, a
                  version something runs on, an owner, one of several tools that exclude each other

Flags, paths, positions in a list, measurements, momentary states and statements about the past
conflict with nothing. Who said it, and which of the two holds, is decided in `memories`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory_assets.english.aliases import names_of
from memory_assets.english.changes import (
    AT,
    WAYS,
    Change,
    clauses,
    read_changes,
    read_state_changes,
    withdraws,
)
from memory_assets.english.word_forms import LIGHT, LIGHT_ROOTS, form_of, root, tokens_of
from memory_assets.stages.embed.claims import (
    Claim,
    is_momentary,
    is_past,
    opposition,
    read_claim,
    without_introduction,
)
from memory_assets.stages.embed.project import concept_words
from memory_assets.text.words import word_set

REPLACED, REVERSED, OPPOSITE, OTHER_VALUE = "replaced", "reversed", "opposite", "other value"
STATED = frozenset({REPLACED, REVERSED})
"""The newer one itself states the change; it need be neither near the older one in meaning nor
filed alike.
"""

CONSIDERED_FROM = 0.5
"""Cosine from which two statements are compared by their words."""

_HALF, _NEARLY_ALL = 0.5, 0.8
"""Shares of common words: with the subject of a change, and between two statements that contradict
each other.
"""

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

_OPPOSED = tuple(frozenset(map(root, pair.split())) for pair in ("before after", "on off"))
_TAKING = frozenset(
    map(
        root,
        LIGHT - {"another", "other"}
        | word_set("""run choose switch move migrate replace now second minute hour day re ve ll
    still raise lower change rename currently"""),
    )
)
"""Words of using and changing, which are not the subject."""

_HAPPENED = re.compile(r"(?i)\b(?:took|ran|went|saw|made|did|became)\b")
_EPISODE = word_set("coverage total count size duration score result status")
"""Belongs to one piece of work, or is measured again each time."""

_NORM = re.compile(r"(?i)\b(?:every|each|all|must|should|needs?|at (?:least|most))\b")
_LISTED = word_set("step item phase option adr issue pr line chapter section part row task case")
"""Words before a number that is only an index."""

_PLAIN_FILLING = word_set("the our a an now always please must should currently")
_SEVERAL = re.compile(
    r"(?i)\b(?:also|or|either|both|such as|another|some|sometimes|(?:^|\s)an?\s+\w+\s+(?:is|are))\b"
)
_PLANNED = re.compile(r"(?i)\b(?:probably|will|going to|i can)\b")
_CHOICE = re.compile(r"\b(?:uses?|prefers?|with|by|in|on|is|are)$")
_ONE_NAME_BEFORE = re.compile(
    r"\b(?:called|named|defaults to|\w+(?:ed|en|t) (?:by|with|via|at|on|in|to))$"
    r"|^(?:[\w-]+ )*(?:service|database|provider|language|host|owner|maintainer) is$"
)
_ONE_NAME_AFTER = re.compile(r"^(?:owns|leads|maintains|is (?:the|our)\b)")
_ARTICLE = r"(?:(?:the|a|an|our|port|version)\s+)*"
_PLACE = r"\b(?:in|on|as|with|to|via|by|at|after|every|from|us\w+|is|are|prefers?|runs?|needs?)\s+"
_USE = (
    rf"\b(?:use[sd]?\s+|using\s+|(?:is|are)\s+(?:(?:on|in|at)\s+)?|{WAYS}{AT}|"
    r"(?:mov|switch|migrat)\w*\s[^.;!?]{0,60}?\bto\s+)(?:the\s+)?"
)
_SERVES = r"\s+(?:(?:is|are)\s+(?:our|the|where)|runs|hosts|builds|stores|serves)\b"
_DOMAIN = r"\.(?:io|com|org|net|dev|app)"
_DETAIL = re.compile(r"[,;(]|\s[—–]\s")
_GENERAL = _TAKING | frozenset(
    map(
        root,
        word_set("""app service site system project everything whole setup team account server
    cluster instance subscription workspace deploy host listen port week month year today yesterday
    finally gone retire drop stop rid back off monday friday"""),
    )
)
"""Words that name no subject of their own in a statement about what is used."""

_RUNS_ON = re.compile(r"\b(?:runs?|needs?|requires?|targets?|uses?|is|at)(?: on)?(?: [\w-]+)?$")
_INDEFINITE = word_set("a an another some one")
_AT_BEGINNING = word_set("needed required is are")
_VALUE = re.compile(r"^v?\d[\w.:]*%?$|^[a-z]{2}-[a-z]+-\d$|^\d+(?:ms|s|m|h|d|kb|mb|gb)$")


@dataclass(frozen=True)
class _Features:
    """The compared features of one statement."""

    claim: Claim
    changes: tuple[Change, ...]
    asserted: tuple[str, ...]
    """Its sentences about the present: no questions, guesses and plans, with which a turn may
    begin.
    """
    plain: tuple[str, ...]
    """Its words in order, lower case, without articles and filler words."""
    forms: dict[str, str]
    """What each of these words counts as."""
    words: frozenset[str]
    """Roots of its words, without those of general meaning."""
    core: frozenset[str]
    """Roots of its subject: no words of using and changing."""
    is_settled: bool
    """It is about the present, and no question, guess, plan, momentary state or one of several."""
    is_norm: bool


@lru_cache(maxsize=65_536)
def _read(text: str) -> _Features:
    asserted = tuple(filter(_asserts, clauses(text)))
    changes = tuple(dict.fromkeys((*read_changes(text), *read_state_changes(text))))
    text = " ".join(asserted) or text
    claim, tokens = (
        read_claim(text),
        tokens_of(without_introduction(text).lower().replace("’", "'")),
    )
    words = claim.words | {
        root(token) for token in tokens if token in ("on", "off", "before", "after")
    }
    return _Features(
        claim=claim,
        changes=changes,
        asserted=asserted,
        plain=tuple(token for token in tokens if token not in _PLAIN_FILLING),
        forms={token: form_of(token) for token in tokens},
        words=words - LIGHT_ROOTS,
        core=words - _TAKING,
        is_settled=bool(asserted)
        and not (_SEVERAL.search(text) or is_momentary(text) or _HAPPENED.search(text)),
        is_norm=_NORM.search(text) is not None,
    )


def _asserts(clause: str) -> bool:
    """Returns whether the clause states or demands something: no question, wish, guess, plan or
    report of one's own work.
    """
    return not (is_past(clause) or _PLANNED.search(clause) or read_claim(clause).mood)


def find_conflict(newer: str, older: str, project: str = "") -> str | None:
    """Returns how the newer statement conflicts with the older one, or None; both are about the
    `project`.
    """
    a, b = _read(newer), _read(older)
    about_all = _GENERAL | _roots(project)
    if any(_reverses(change, other, about_all) for change in a.changes for other in b.changes):
        return REVERSED
    if any(
        _replaces(change, sentence, about_all)
        for change in a.changes
        if change.gone
        for sentence in b.asserted
    ):
        return REPLACED
    if withdraws(newer) and b.asserted and b.core and b.core <= a.words:
        return REPLACED
    if not (a.is_settled and b.is_settled):
        return None
    if _are_opposite(a, b):
        return OPPOSITE
    return OTHER_VALUE if _differ_in_a_value(a, b) else None


def _reverses(change: Change, other: Change, about_all: frozenset[str]) -> bool:
    """Returns whether the change brings back what the other one says is gone, of the same
    subject.
    """
    is_back = bool(other.gone) and re.fullmatch(_spellings(other.gone), change.came) is not None
    if not is_back or (change.gone and other.came and change.gone != other.came):
        return False
    subject, about = (_subject(read_claim(one.clause), one) - about_all for one in (change, other))
    return not (subject and about) or bool(subject & about)


def _replaces(change: Change, older: str, about_all: frozenset[str]) -> bool:
    """Returns whether the older sentence asserts the replaced name about the subject of the change.

    A statement without a subject of its own is about everything; `about_all` are words that name no
    subject.
    """
    main = _main_part(older, change.gone)
    asserted, said = read_claim(main), read_claim(change.clause)
    if (
        not main
        or _HAPPENED.search(main)
        or asserted.is_negated
        or (change.came and _holds(older, change.came))
    ):
        return False
    concepts = _roots(concept_words(change.gone))
    about, subject = (_subject(claim, change) - concepts - about_all for claim in (asserted, said))
    if not about or not subject:
        return not subject and _relies_on(main, change.gone)
    opening = next((word for word in map(root, main.lower().split()) if word in asserted.words), "")
    names = {
        name for name in asserted.specifics | asserted.names if not _is_part(name, change)
    } - about_all
    names |= {opening} & about  # a statement begins with its subject
    if _VALUE.match(change.gone) and change.came:
        names &= {opening}  # an exact value says enough beside the subject
    is_same = names <= said.specifics | said.names | said.words
    return is_same and len(about & subject) >= _HALF * len(about)


def _subject(claim: Claim, change: Change) -> frozenset[str]:
    return claim.words - _roots(change.gone) - _roots(change.came)


def _is_part(name: str, change: Change) -> bool:
    first = name.split()[0]  # "60 seconds" goes with "60"
    return first in change.gone.split() or first in change.came.split()


def _roots(text: str) -> frozenset[str]:
    return frozenset(root(token.lower()) for token in tokens_of(text))


def _relies_on(text: str, name: str) -> bool:
    """Returns whether the text says that the name is in use, so that a general change applies to
    it.
    """
    spelled = rf"[`'\"]?{_spellings(name)}"
    return re.search(rf"{_USE}{spelled}|^{spelled}{_SERVES}", text, re.IGNORECASE) is not None


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


def _are_opposite(newer: _Features, older: _Features) -> bool:
    """Returns whether both say the same about the same subject, and an odd number of things turns
    the one into the other.
    """
    a, b = newer.claim, older.claim
    if (
        a.specifics != b.specifics
        or not a.names <= b.names | b.words
        or not b.names <= a.names | a.words
    ):
        return False
    said, before = newer.words, older.words
    if said == before and _before(a) and _before(b) and _before(a).isdisjoint(_before(b)):
        return True
    flips = [
        pair for pair in _OPPOSED if len(pair & (said - before)) == 1 == len(pair & (before - said))
    ]
    found = [*opposition(a, b, of_states=True), *flips]
    if len(found) % 2 == 0:
        return False
    opposite = frozenset().union(*(pair for pair in found if not pair <= said & before))
    said, before = said - (opposite - before), before - (opposite - said)
    return bool(said & before) and len(said & before) >= _NEARLY_ALL * len(said | before)


def _before(claim: Claim) -> frozenset[str]:
    return frozenset(word for way, word in claim.behind if way == "befor")


def _differ_in_a_value(newer: _Features, older: _Features) -> bool:
    """Returns whether the two are the same words around different values, in a place for one
    value.
    """
    a, b = newer.plain, older.plain
    values = [_only_in(newer, older), _only_in(older, newer)]
    if not (values[0] and values[1] and newer.core & older.core) or {"above", "below"} & {*a} ^ {
        "above",
        "below",
    } & {*b}:
        return False
    places = [
        (one[: one.index(value[0])], one[one.index(value[-1]) + 1 :])
        for one, value in zip((a, b), values, strict=True)
    ]
    if any((head and head[-1] in _LISTED) for head, _ in places) or (
        not newer.is_norm and {*a, *b} & _EPISODE
    ):
        return False
    one, other = (
        " ".join(features.forms[word] for word in value)
        for features, value in zip((newer, older), values, strict=True)
    )
    if any({root(values[0][0]), root(values[1][0])} <= group for group in _ALTERNATIVES):
        return any(_CHOICE.search(" ".join(head)) for head, _ in places)
    if _VALUE.match(one) and _VALUE.match(other):
        is_version = "." in one and "." in other
        return any(_takes_one_value(head, tail, is_version) for head, tail in places)
    return places[0] == places[1] and _takes_one_name(*places[0])


def _only_in(one: _Features, other: _Features) -> tuple[str, ...]:
    """Returns the words that only the one has, if they follow one another and are no more than a
    name has.
    """
    at = [n for n, word in enumerate(one.plain) if one.forms.get(word, "") in one.core - other.core]
    return (
        one.plain[at[0] : at[-1] + 1]
        if at and at[-1] - at[0] == len(at) - 1 < _LONGEST_NAME
        else ()
    )


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
