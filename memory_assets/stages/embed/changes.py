"""Reads which name a sentence says was replaced, and by what.

"We moved from Jenkins to Buildkite", "uses Redis, not Memcached", "uv instead of pip": both names are in one clause, next to
words of change. Questions, conditions and ideas change nothing. Whether the old name was ever asserted is decided in
`conflicts`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from memory_assets.text.words import word_set

_TOKEN = r"[\w./:@#+-]*\w[\w/:@#+-]*(?:\.[\w/:@#+-]+)*"
_UNIT = r"(?:(?<=\d)\s?(?:ms|s|sec|seconds?|minutes?|min|h|hours?|days?|weeks?|[kmg]b|km|m|%)(?!\w))?"
_NAME = rf"(?:(?:the|a|an|our|version|port)\s+)?[`'\"“]?({_TOKEN}(?:\s+(?-i:[A-Z][\w-]*|\d[\w.]*\w|\d))?)[`'\"”]?{_UNIT}"
_WITHIN = r"[^.;!?]{0,60}?"
_IN = r"(?:(?:on|in|with|by|at|after|every|within|via|using|under)\s+)?"
_TAKE = (
    r"\b(?:use[sd]?|using|prefers?|runs?|run on|choose|take|wants?|is|are|(?-i:goes|go)|on|in|with|to|at|after|every|within)\s+"
    r"(?:now\s+)?"
)
_MOVED = r"\b(?:mov|switch|migrat|chang|renam|upgrad|downgrad|port|convert|bump)\w*"

_INSTEAD = r"(?:instead of|rather than|in place of)\s+"
_IT = r"(?:it\s+|we\s+|they\s+|that\s+|this\s+)?"
_GONE, _CAME = rf"(?P<gone>{_NAME})", rf"(?P<came>{_NAME})"
_NO_VERB = r"(?!\w|\s+(?:the|an?|our|your|my|any|to|that|it)\b)"
""""In the novel, never abbreviate the names" rejects no name."""

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_MOVED}\b{_WITHIN}\bfrom\s+{_GONE}\s+(?:over\s+|on)?to\s+{_CAME}",
        rf"\breplac(?:ed?|es|ing)\s+{_GONE}\s+(?:with|by)\s+{_CAME}",
        rf"{_GONE}\s+(?:was|were|is|has been|have been|got)\s+replaced\s+(?:with|by)\s+{_CAME}",
        rf"{_TAKE}{_CAME},?\s+{_INSTEAD}{_IN}{_GONE}",
        rf"\b(?:use[sd]?|using|choose|take)\s+{_CAME}\s+(?-i:[a-z])[^.;,!?]{{0,40}}?,?\s+{_INSTEAD}{_IN}{_GONE}",
        rf"{_TAKE}{_CAME},?\s+(?:and\s+)?(?:not|never)\s+{_IN}{_GONE}{_NO_VERB}",
        rf"\b(?:use[sd]?|using|choose|take)\s+{_CAME}\s+(?-i:[a-z])[^.;,!?]{{0,40}}?,\s+(?:and\s+)?(?:not|never)\s+{_GONE}{_NO_VERB}",
        rf"\b(?:never|don['’]?t|do not|stop)\s+(?:use|using)\s+{_GONE},?\s+(?:but\s+)?(?:always\s+|please\s+)?use\s+{_CAME}",
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
    r"(?i)\?|\b(?:if|whether|could|would|might|(?<!you )may|maybe|perhaps|consider|wonder|should we|shall we|could we|"
    r"propose|suggest|option|alternativ\w+|for example|e\.g\.|imagine|plan(?:s|ned)? to|later|someday)\b"
)
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=[\"“`A-Z(—-])|\n+|\s—\s")
_LEADING = re.compile(r"^(?:the|a|an|our|version|port)\s+|[`'\"“”]", re.IGNORECASE)
_TRAILING = re.compile(rf"(?<=\d){_UNIT}$", re.IGNORECASE)
_EMPTY = word_set("""a all an and any be because been being by do doing done each else every everything for from get getting go
    going he her him his i it its just like make making me my necessarily nothing now on one only or order other our out own
    primarily really same she so some something that the their them then there these they thing this those to up us use using we
    what which who with you your yet""")
"""Words that name nothing: "not only", "rather than that"."""


_ADVERB = re.compile(r"[a-z]{4,}ly")


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
    """Returns the name in lower case without article and quotes; empty if it begins with an empty word, or is an adverb."""
    name = " ".join(_LEADING.sub("", _TRAILING.sub("", phrase.strip())).lower().rstrip(".,:;-").split())
    return "" if not name or name.split()[0] in _EMPTY or _ADVERB.fullmatch(name) else name
