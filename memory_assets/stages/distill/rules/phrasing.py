"""Makes a sentence that stands alone of words that the owner typed.

Takes a stretch of a turn and what it is; gives a sentence about the owner: their wish in the third person, a rule as
it stands, or a short quotation. A stretch that leans on what was said before it is told by its explanation, with the
owner's words behind it.
"""

import re

from memory_assets.stages.distill.rules import cues
from memory_assets.stages.distill.rules.candidates import FactKind
from memory_assets.text.sentences import plain
from memory_assets.text.words import specifics_in, stems_of

SELF_CONTAINED = 5
"""Words with this many content words say what they are about."""

A_RULE = 4
"""A rule with this many content words, a name among them, needs no "the owner wants" before it."""

BRIEF_CHARS = 170
"""Behind an explanation the owner's words are a reminder, not the fact."""

_CONTRACTIONS = re.compile(
    r"\b((?:do|does|did|is|are|was|were|have|has|had|wo|ca|could|should|would)n|(?:i(?=m))|(?:that|what|there)(?=s)"
    r"|they(?=re)|i(?=ve\b))(t|m|s|re|ve)\b",
    re.I,
)
_TAG = re.compile(r"(?<=\w{3})[, ]+(?:so )?(?:that'?s (?:\w+ ){1,3})?(?:right|correct|ok(?:ay)?|or|no)\s*\?$", re.I)
"""What makes a question of a statement."""

_WISH = re.compile(
    r"^(?:i think )?(?:i|we)(?:(?P<not> (?:really )?(?:do not|don't|wouldn't|would not))|'d| would)?"
    r"(?: really| just| also| actually)? (?P<verb>want|like|love|need|prefer|wish|hate)\b(?P<rest> .+)$",
    re.I | re.S,
)
_FINE = re.compile(
    r"^(?:i'm|i am|i'd|we're|i'd be) (?:actually |totally )?(?P<rest>(?:fine|ok(?:ay)?|happy|good) (?:with|\w+ing)\b.+)$",
    re.I,
)
_ANSWERS = re.compile(r"^(?:no|nope|nah|not|but|it|they|that|this|just)\b", re.I)
_STILL_I = re.compile(r"(?<![\w'])(?:i|i'\w+|we|we're|we'll|me|my|our|us)(?![\w'])", re.I)
_THIRD = {
    "want": "wants",
    "like": "wants",
    "love": "loves",
    "need": "needs",
    "prefer": "prefers",
    "wish": "wishes",
    "hate": "hates",
}
_SAYS: dict[FactKind, str] = {
    "rule": "The owner wants",
    "preference": "The owner wants",
    "correction": "The owner corrected",
    "decision": "The owner decided",
}


def without_nod(words: str) -> str:
    """Returns the words without what people begin to type with, and with the apostrophes they leave out."""
    return without_tag(cues.FILLER.sub("", plain(with_apostrophes(words))))


def without_tag(words: str) -> str:
    """Returns the words without a "right?" that makes a question of a statement."""
    return _TAG.sub("", words)


def with_apostrophes(words: str) -> str:
    """Returns the words with the apostrophes that people leave out when they type; "dont" must read as a denial."""
    return _CONTRACTIONS.sub(lambda found: f"{found[1]}'{found[2]}", words)


def stands_alone(words: str) -> bool:
    """Says whether the words name what they are about."""
    return len(stems_of(words)) >= SELF_CONTAINED


def phrase(words: str, kind: FactKind, room: int) -> str:
    """Returns the owner's words as a sentence in at most so many characters."""
    said = _cut(words, room - len("The owner corrected: “”."))
    if wish := _wish(said):
        return wish
    is_plain = kind in ("rule", "correction") and not cues.QUESTION.search(said) and specifics_in(said) >= 1
    if is_plain and len(stems_of(said)) >= A_RULE and not _STILL_I.search(said) and not _ANSWERS.match(said):
        return _sentence(said)
    return f"{_SAYS.get(kind, 'The owner said')}: “{said.rstrip('.')}”"


def explain(explanation: str, words: str, kind: FactKind | None = None) -> str:
    """Returns what the words came to as the fact, the words themselves behind it."""
    brief = _cut(words, BRIEF_CHARS).rstrip(".")
    says = "The owner" if kind is None else "The owner asked" if brief.endswith("?") else _SAYS.get(kind, "The owner")
    return f"{explanation.rstrip(' :')} (t{says[1:]}: “{brief}”)"


def _wish(said: str) -> str:
    """Returns a wish in the third person, where nothing else in it is in the first."""
    if cues.QUESTION.search(said):
        return ""
    if (found := _WISH.match(said)) and not _STILL_I.search(found["rest"]):
        verb = found["verb"].lower()
        says = f"does not {verb}" if found["not"] else _THIRD[verb]
        return f"The owner {says}{found['rest'].rstrip('.,; ')}."
    if (found := _FINE.match(said)) and not _STILL_I.search(found["rest"]):
        return f"The owner is {found['rest'].rstrip('.,; ')}."
    return ""


def _sentence(words: str) -> str:
    bare = words.strip().rstrip(".!,;: ")
    return bare[:1].upper() + bare[1:] + "."


def _cut(words: str, room: int) -> str:
    return words if len(words) <= room else words[:room].rsplit(" ", 1)[0].rstrip(",;") + "…"
