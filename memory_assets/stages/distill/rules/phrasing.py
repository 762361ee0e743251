"""Turns words that the owner typed into a sentence that is clear on its own.

The result is a wish in the third person, a rule as it was typed, or a short quotation. Words that depend on context are quoted
behind their explanation.
"""

import re

from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import FactKind
from memory_assets.text.sentences import plain
from memory_assets.text.words import specifics_in, stems_of

SELF_CONTAINED = 5
"""Stems from which words are clear on their own."""

A_RULE = 4
"""Stems from which a rule that has a name in it needs no "The owner wants" before it."""

BRIEF_CHARS = 170
"""Longest quotation behind an explanation."""

_CONTRACTIONS = re.compile(
    r"(?i)\b((?:do|does|did|is|are|was|were|have|has|had|wo|ca|could|should|would)n|(?:i(?=m))|(?:that|what|there)(?=s)"
    r"|they(?=re)|i(?=ve\b))(t|m|s|re|ve)\b"
)
_TAG = re.compile(r"(?<=\w{3})[, ]+(?:so )?(?:that'?s (?:\w+ ){1,3})?(?:right|correct|ok(?:ay)?|or|no)\s*\?$", re.I)
"""A tag question, such as "right?"."""

_WISH = re.compile(
    r"(?is)^(?:i think )?(?:i|we)(?:(?P<not> (?:really )?(?:do not|don't|wouldn't|would not))|'d| would)?(?: really| just| also"
    r"| actually)? (?P<verb>want|like|love|need|prefer|wish|hate)\b(?P<rest> .+)$"
)
_FINE = re.compile(
    r"(?i)^(?:i'm|i am|i'd|we're|i'd be) (?:actually |totally )?(?P<rest>(?:fine|ok(?:ay)?|happy|good) (?:with|\w+ing)\b.+)$"
)
_REPLIES = re.compile(r"^(?:no|nope|nah|not|but|it|they|that|this|just)\b", re.I)
_FIRST_PERSON = re.compile(r"(?<![\w'])(?:i|i'\w+|we|we're|we'll|me|my|our|us)(?![\w'])", re.I)
_THIRD = {"like": "wants", "wish": "wishes"}
"""Verbs whose third person is not the verb with an "s"."""

_SAYS: dict[FactKind, str] = {"rule": "wants", "preference": "wants", "correction": "corrected", "decision": "decided"}


def strip_filler(words: str) -> str:
    """Returns the words without filler at the start and tag question at the end, and with missing apostrophes."""
    return strip_tag_question(cues.FILLER.sub("", plain(with_apostrophes(words))))


def strip_tag_question(words: str) -> str:
    """Returns the words without a tag question such as "right?"."""
    return _TAG.sub("", words)


def with_apostrophes(words: str) -> str:
    """Returns the words with missing apostrophes added, so that "dont" is recognised as a negation."""
    return _CONTRACTIONS.sub(lambda found: f"{found[1]}'{found[2]}", words)


def is_self_contained(words: str) -> bool:
    """Returns whether the words name their subject."""
    return len(stems_of(words)) >= SELF_CONTAINED


def phrase(words: str, kind: FactKind, room: int) -> str:
    """Returns the owner's words as a sentence of at most `room` characters."""
    said = _cut(words, room - len("The owner corrected: “”."))
    is_statement = not cues.QUESTION.search(said)
    if is_statement and (wish := _wish(said)):
        return wish
    is_rule = kind in ("rule", "correction") and is_statement and specifics_in(said) >= 1
    if is_rule and len(stems_of(said)) >= A_RULE and not _FIRST_PERSON.search(said) and not _REPLIES.match(said):
        bare = said.strip().rstrip(".!,;: ")
        return bare[:1].upper() + bare[1:] + "."
    return f"The owner {_SAYS.get(kind, 'said')}: “{said.rstrip('.')}”"


def explain(explanation: str, words: str, kind: FactKind | None = None) -> str:
    """Returns the explanation as the fact, with the owner's words behind it."""
    brief = _cut(words, BRIEF_CHARS).rstrip(".")
    says = "" if kind is None else "asked" if brief.endswith("?") else _SAYS.get(kind, "")
    return f"{explanation.rstrip(' :')} (the owner{says and f' {says}'}: “{brief}”)"


def _wish(said: str) -> str:
    """Returns a wish in the third person; empty if the rest of it is in the first person."""
    if (found := _WISH.match(said)) and not _FIRST_PERSON.search(found["rest"]):
        verb = found["verb"].lower()
        says = f"does not {verb}" if found["not"] else _THIRD.get(verb, f"{verb}s")
        return f"The owner {says}{found['rest'].rstrip('.,; ')}."
    if (found := _FINE.match(said)) and not _FIRST_PERSON.search(found["rest"]):
        return f"The owner is {found['rest'].rstrip('.,; ')}."
    return ""


def _cut(words: str, room: int) -> str:
    return words if len(words) <= room else words[:room].rsplit(" ", 1)[0].rstrip(",;") + "…"
