"""Reads what a sentence claims, and which name it says was replaced, and by what.

"We moved from Jenkins to Buildkite", "uses Redis, not Memcached", "uv instead of pip": both names are in one clause, next to
words of change. Questions, conditions and ideas change nothing. Whether the old name was ever asserted is decided in
`conflicts`.

Whether two sentences make the same claim, similarity alone cannot decide: MiniLM ranks near-misses above paraphrases (5432
against 5433: 0.955; never against always force-push: 0.970; a true paraphrase: 0.849 or 0.599), so cosine only finds
candidates. Two claims are the same if their numbers with units, identifiers and versions agree, both are negated or neither is,
they use no opposite words, the same words follow a word of direction ("instead of", "depends on"), they name the same things,
and both are about the present or both about the past.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from memory_assets.text.words import stem, word_set

_TOKEN = r"[\w./:@#+-]*\w[\w/:@#+-]*(?:\.[\w/:@#+-]+)*"
_UNIT = r"(?:(?<=\d)\s?(?:ms|s|sec|seconds?|minutes?|min|h|hours?|days?|weeks?|[kmg]b|km|m|%)(?!\w))?"
_NAME = rf"(?:(?:the|a|an|our|version|port)\s+)?[`'\"“]?({_TOKEN}(?:\s+(?-i:[A-Z][\w-]*|\d[\w.]*\w|\d))?)[`'\"”]?{_UNIT}"
_WITHIN = r"[^.;!?]{0,60}?"
_IN = r"(?:(?:on|in|with|by|at|after|every|within|via|using|under)\s+)?"
_TAKE = (
    r"\b(?:use[sd]?|using|prefers?|runs?|run on|choose|take|wants?|is|are|goes|go|on|in|with|to|at|after|every|within)\s+"
    r"(?:now\s+)?"
)
_MOVED = r"\b(?:mov|switch|migrat|chang|renam|upgrad|downgrad|port|convert|bump)\w*"

_INSTEAD = r"(?:instead of|rather than|in place of)\s+"
_IT = r"(?:it\s+|we\s+|they\s+|that\s+|this\s+)?"
_GONE, _CAME = rf"(?P<gone>{_NAME})", rf"(?P<came>{_NAME})"

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_MOVED}\b{_WITHIN}\bfrom\s+{_GONE}\s+(?:over\s+|on)?to\s+{_CAME}",
        rf"\breplac(?:ed?|es|ing)\s+{_GONE}\s+(?:with|by)\s+{_CAME}",
        rf"{_GONE}\s+(?:was|were|is|has been|have been|got)\s+replaced\s+(?:with|by)\s+{_CAME}",
        rf"{_TAKE}{_CAME},?\s+{_INSTEAD}{_IN}{_GONE}",
        rf"\b(?:use[sd]?|using|choose|take)\s+{_CAME}\s+(?-i:[a-z])[^.;,!?]{{0,40}}?,?\s+{_INSTEAD}{_IN}{_GONE}",
        rf"{_TAKE}{_CAME},?\s+(?:and\s+)?(?:not|never)\s+{_IN}{_GONE}",
        rf"\bprefers?\s+{_CAME}\s+(?:over|to)\s+{_GONE}",
        rf"\bno longer\s+(?:(?:use[sd]?|using|needs?|runs?)\s+)?{_IN}{_GONE}[;,:]?\s+(?:[—–-]\s+)?(?:but\s+|and\s+)?"
        rf"{_IT}(?:now\s+)?(?:use[sd]?|runs?|is|are|lives?)\s+(?:now\s+)?{_IN}{_CAME}",
        rf"\b(?:dropp?(?:ed)?|retired?|abandoned|ditched)\s+{_GONE}\s+(?:for|in favou?r of)\s+{_CAME}",
        rf"\bmoved\s+(?:away\s+from|off)\s+{_GONE}\s+(?:on)?to\s+{_CAME}",
        rf"\b(?:is|are|runs?|uses?|lives?)\s+(?:now\s+)?{_IN}{_CAME}\s*[,(]\s*"
        rf"{_IT}(?:was|were|used to be|formerly|previously)\s+{_IN}{_GONE}",
    )
)
_IDEA = re.compile(
    r"(?i)\?|\b(?:if|whether|could|would|might|may|maybe|perhaps|consider|wonder|should we|shall we|could we|propose|suggest|"
    r"option|alternativ\w+|for example|e\.g\.|imagine|plan(?:s|ned)? to|later|someday)\b"
)
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=[\"“`A-Z(—-])|\n+|\s—\s")
_LEADING = re.compile(r"^(?:the|a|an|our|version|port)\s+|[`'\"“”]", re.IGNORECASE)
_TRAILING = re.compile(rf"(?<=\d){_UNIT}$", re.IGNORECASE)
_EMPTY = word_set("""a all an and any be because been being by do doing done each else every everything for from get getting go
    going he her him his i it its just like make making me my necessarily nothing now on one only or order other our out own
    primarily really same she so some something that the their them then there these they thing this those to up us use using we
    what which who with you your yet""")
"""Words that name nothing: "not only", "rather than that"."""

_WORD_TOKEN = re.compile(r"[\w./:@#~+-]*\w[\w./:@#~+-]*", re.UNICODE)
_SPECIFIC = re.compile(r"\d|[/_@#~]|\w\.\w|\w-\w|[a-z][A-Z]|^--?\w")
_QUOTED = re.compile(r"`([^`]+)`")
_NEGATION = re.compile(
    r"(?i)\b(?:not|no|never|none|without|cannot|nor|avoid|stop|"
    r"don'?t|doesn'?t|isn'?t|aren'?t|won'?t|can'?t|shouldn'?t|didn'?t|wasn'?t)\b"
)
_PAST = re.compile(
    r"(?i)\b(?:was|were|had|used to|previously|formerly|earlier|originally|at first|back then|yesterday|ago|until|"
    r"last (?:week|month|year|night|time)|didn['’]?t|wasn['’]?t|weren['’]?t|no longer)\b"
)
_STOP = word_set("""a an and are as at be been but by do does for from had has have if in into is it its of on or our so than
    that the their then there these this to use used uses using was we were when which will with you your""")


def stem_pairs(pairs: str) -> frozenset[frozenset[str]]:
    """Returns the pairs of words, separated by commas, as pairs of stems."""
    return frozenset(frozenset(map(stem, pair.split())) for pair in pairs.split(", "))


_OPPOSITE_STEMS = stem_pairs(
    "always never, enable disable, enabled disabled, on off, before after, allow deny, add remove, start stop, "
    "increase decrease, min max, minimum maximum, sync async, include exclude, public private, local remote, read write, "
    "staging production, first last, above below, with without, required optional, true false"
)
_NUMBERS: dict[str, str] = dict(
    zip("two three four five six seven eight nine ten eleven twelve".split(), map(str, range(2, 13)), strict=True)
)
_UNITS = word_set("""ms second minute hour day week month quarter year byte kb mb gb tb percent character line token time""")
_DIRECTION = re.compile(
    r"(?i)\b(?:instead of|rather than|before|after|over|than|from|into|depends? on|calls?|imports?|extends|owns|blocks)\b"
)


@dataclass(frozen=True)
class Change:
    """The old and the new name, in lower case, and the clause that says so."""

    gone: str
    came: str
    clause: str


@lru_cache(maxsize=16_384)
def read_changes(text: str) -> tuple[Change, ...]:
    """Returns the changes that the text states as facts or rules, in order."""
    found = [
        Change(gone, came, clause)
        for clause in clauses(text)
        for pattern in _PATTERNS
        for match in pattern.finditer(clause)
        if (gone := _name(match["gone"])) and (came := _name(match["came"])) and gone != came
    ]
    return tuple(dict.fromkeys(found))


def clauses(text: str) -> tuple[str, ...]:
    """Returns the statements of the text: no questions, conditions or ideas."""
    return tuple(clause for clause in _SENTENCE.split(text) if clause and not _IDEA.search(clause))


def _name(phrase: str) -> str:
    """Returns the name in lower case without article and quotes; empty if the phrase begins with an empty word."""
    name = " ".join(_LEADING.sub("", _TRAILING.sub("", phrase.strip())).lower().rstrip(".,:;-").split())
    return "" if not name or name.split()[0] in _EMPTY else name


@dataclass(frozen=True)
class Claim:
    """The parts of a sentence that identify its claim."""

    normal: str
    specifics: frozenset[str]
    names: frozenset[str]
    words: frozenset[str]
    behind: frozenset[tuple[str, str]]
    """Words of direction, each with the next word."""
    is_negated: bool


@lru_cache(maxsize=65_536)
def read_claim(text: str) -> Claim:
    """Returns the parts of the sentence that must agree."""
    tokens = tokens_of(text)
    specifics = {token.lower() for token in tokens if _SPECIFIC.search(token)}
    specifics |= {quoted.lower() for quoted in _QUOTED.findall(text)} | _quantities(tokens)
    names = {token.lower() for token in tokens[1:] if token[:1].isupper() and not token.isupper()}
    words = {stem(token.lower()) for token in tokens} - _STOP
    normal = " ".join(token.lower() for token in tokens)
    is_negated = len(_NEGATION.findall(text)) % 2 == 1
    return Claim(normal, frozenset(specifics), frozenset(names), frozenset(words), _behind(text), is_negated)


def tokens_of(text: str) -> list[str]:
    """Returns the words, numbers and identifiers of the text in order, as they are written."""
    return [token for token in (found.strip(".,:;+~").rstrip("-/") for found in _WORD_TOKEN.findall(text)) if token]


def is_past(text: str) -> bool:
    """Returns whether the text is about the past."""
    return _PAST.search(text) is not None


def _quantities(tokens: list[str]) -> set[str]:
    """Returns number words in digits, and every number together with its unit."""
    found = {_NUMBERS[token.lower()] for token in tokens if token.lower() in _NUMBERS}
    for token, after in pairwise([*tokens, ""]):
        number, unit = _NUMBERS.get(token.lower(), token), after.lower().removesuffix("s") if after != "ms" else after
        if number[:1].isdigit() and unit in _UNITS:
            found.add(f"{number} {unit}")
    return found


def _behind(text: str) -> frozenset[tuple[str, str]]:
    found = set()
    for match in _DIRECTION.finditer(text):
        rest = (stem(token.strip(".,:;-/+~`").lower()) for token in _WORD_TOKEN.findall(text[match.end() :]))
        if word := next((word for word in rest if word and word not in _STOP), None):
            found.add((stem(match.group().lower().removesuffix(" on")), word))
    return frozenset(found)


def same_claim(newer: str, older: str, similarity: float) -> str | None:
    """Returns why the two merge, or None; the newer wording must contain every specific of the older one."""
    a, b = read_claim(newer), read_claim(older)
    if newer == older or (a.normal and a.normal == b.normal):
        return "same words"
    if not (b.specifics <= a.specifics and b.names <= a.names | a.words):
        return None
    if _numbers(a) != _numbers(b) or a.is_negated != b.is_negated or _are_opposed(a, b) or _are_reversed(a, b):
        return None
    if is_past(newer) != is_past(older) or _states_replacement(newer, older):
        return None
    shared = len(a.words & b.words) / max(min(len(a.words), len(b.words)), 1)
    if similarity >= 0.85 and shared >= 0.4:
        return "near-duplicate"
    if similarity >= 0.75 and shared >= 0.6:
        return "same claim in other words"
    return None


def _states_replacement(newer: str, older: str) -> bool:
    """Returns whether the newer sentence says that something was replaced which the older one only names."""
    gone = {change.gone for change in read_changes(newer)} - {change.gone for change in read_changes(older)}
    return any(name in read_claim(older).normal for name in gone)


def _numbers(claim: Claim) -> frozenset[str]:
    return frozenset(token for token in claim.specifics if any(ch.isdigit() for ch in token))


def _are_opposed(a: Claim, b: Claim) -> bool:
    only_a, only_b = a.words - b.words, b.words - a.words
    return any(pair & only_a and pair & only_b for pair in _OPPOSITE_STEMS)


def _are_reversed(a: Claim, b: Claim) -> bool:
    """Returns whether different words follow the same word of direction."""
    ours, theirs = dict(sorted(a.behind)), dict(sorted(b.behind))
    return any(ours[word] != theirs[word] for word in ours.keys() & theirs.keys())
