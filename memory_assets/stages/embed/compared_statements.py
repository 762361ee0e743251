"""Reads a statement for the search for conflicts: what it asserts now, and about which subject."""

import re
from dataclasses import dataclass
from functools import lru_cache

from memory_assets.english.changes import Change, clauses, read_changes, read_state_changes
from memory_assets.english.claims import (
    Claim,
    is_momentary,
    is_past,
    read_claim,
    without_introduction,
)
from memory_assets.english.word_forms import LIGHT, LIGHT_ROOTS, form_of, root, tokens_of
from memory_assets.text.words import word_set

TAKING = frozenset(
    map(
        root,
        LIGHT - {"another", "other"}
        | word_set("""run choose switch move migrate replace now second minute hour day re ve ll
    still raise lower change rename currently"""),
    )
)
"""Words of using and changing, which are not the subject."""

HAPPENED = re.compile(r"(?i)\b(?:took|ran|went|saw|made|did|became)\b")
"""Verbs of a single event."""

_NORM = re.compile(r"(?i)\b(?:every|each|all|must|should|needs?|at (?:least|most))\b")
_PLAIN_FILLING = word_set("the our a an now always please must should currently")
_SEVERAL = re.compile(
    r"(?i)\b(?:also|or|either|both|such as|another|some|sometimes|(?:^|\s)an?\s+\w+\s+(?:is|are))\b"
)
_PLANNED = re.compile(r"(?i)\b(?:probably|will|going to|i can)\b")
VALUE = re.compile(r"^v?\d[\w.:]*%?$|^[a-z]{2}-[a-z]+-\d$|^\d+(?:ms|s|m|h|d|kb|mb|gb)$")
"""A number, with or without its unit, or a region."""

_OF_ORDER = word_set("on off before after")
"""Words without content that turn a statement round."""


@dataclass(frozen=True)
class ComparedStatement:
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
def read_statement(text: str) -> ComparedStatement:
    """Returns the features of the statement."""
    asserted = tuple(filter(_asserts, clauses(text)))
    changes = tuple(dict.fromkeys((*read_changes(text), *read_state_changes(text))))
    present_text = " ".join(asserted) or text
    claim = read_claim(present_text)
    tokens = tokens_of(without_introduction(present_text).lower().replace("’", "'"))
    words = claim.words | set(map(root, _OF_ORDER.intersection(tokens)))
    passing = _SEVERAL.search(present_text) or HAPPENED.search(present_text)
    return ComparedStatement(
        claim=claim,
        changes=changes,
        asserted=asserted,
        plain=tuple(token for token in tokens if token not in _PLAIN_FILLING),
        forms={token: form_of(token) for token in tokens},
        words=words - LIGHT_ROOTS,
        core=words - TAKING,
        is_settled=bool(asserted) and not passing and not is_momentary(present_text),
        is_norm=_NORM.search(present_text) is not None,
    )


def _asserts(clause: str) -> bool:
    """Returns whether the clause states or demands something: no question, wish, guess, plan or
    report of one's own work.
    """
    return not (is_past(clause) or _PLANNED.search(clause) or read_claim(clause).mood)
