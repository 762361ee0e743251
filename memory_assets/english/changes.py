"""Reads which name a sentence says was replaced or given up, and by what.

"We moved from Jenkins to Buildkite", "uses Redis, not Memcached", "uv instead of pip": both names
are in one clause, next to words of change. "Jenkins is gone", "we no longer use Jenkins" and "we
moved back to Jenkins" name only one. Questions, conditions, ideas, plans and denials change
nothing. Whether the old name was ever asserted is decided in `stages/embed/conflicts`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory_assets.text.words import word_set

_TOKEN = r"[\w./:@#+-]*\w[\w/:@#+-]*(?:\.[\w/:@#+-]+)*"
_UNIT = (
    r"(?:(?<=\d)\s?(?:ms|s|sec|seconds?|minutes?|min|h|hours?|days?|weeks?|[kmg]b|km|m|%)(?!\w))?"
)
_NAME = (
    rf"(?:(?:the|a|an|our|version|port)\s+)?[`'\"“]?({_TOKEN}(?:\s+(?-i:[A-Z][\w-]+|\d[\w.]*\w"
    rf"|\d))?)[`'\"”]?{_UNIT}"
)
_WITHIN = r"[^.;!?]{0,60}?"
_IN = r"(?:(?:on|in|with|by|at|after|every|within|via|using|under)\s+)?"
_TAKE = (
    r"\b(?:use[sd]?|using|prefers?|runs?|run on|choose|take|wants?|is|are|(?-i:goes|go)|on"
    r"|in|with|to|at|after|every|within)\s+"
    r"(?:now\s+)?"
)
_MOVED = r"\b(?:mov|switch|migrat|chang|renam|upgrad|downgrad|port|convert|bump)\w*"

_INSTEAD = r"(?:instead of|rather than|in place of)\s+"
_IT = r"(?:it\s+|we\s+|they\s+|that\s+|this\s+)?"
_GONE, _CAME = rf"(?P<gone>{_NAME})", rf"(?P<came>{_NAME})"
_NO_VERB = r"(?!\w|\s+(?:the|an?|our|your|my|any|to|that|it)\b)"
""""In the novel, never abbreviate the names" rejects no name."""


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_MOVES = _compiled(
    rf"{_MOVED}(?<!s)\b{_WITHIN}\bfrom\s+{_GONE}\s+(?:over\s+|back\s+|on)?to\s+{_CAME}",
    rf"{_MOVED}(?<!s)\b{_WITHIN}\bto\s+{_CAME}\s+from\s+{_GONE}",
    rf"\bmov\w*\s+(?:away\s+from|off)\s+{_GONE}\s+(?:on)?to\s+{_CAME}",
    rf"\b(?:dropp?(?:ed)?|retired?|abandoned|ditched)\s+{_GONE}\s+(?:for(?!\s+(?:the|our)\b)"
    rf"|in favou?r of)\s+{_CAME}",
)
_CHOICES = _compiled(
    rf"\breplac(?:ed?|es|ing)\s+{_GONE}\s+(?:with|by)\s+{_CAME}",
    rf"{_GONE}\s+(?:was|were|is|has been|have been|got)\s+replaced\s+(?:with|by)\s+{_CAME}",
    rf"{_TAKE}{_CAME},?\s+{_INSTEAD}{_IN}{_GONE}",
    r"\b(?:use[sd]?|using|choose"
    rf"|take)\s+{_CAME}\s+(?-i:[a-z])[^.;,!?]{{0,40}}?,?\s+{_INSTEAD}{_IN}{_GONE}",
    rf"{_TAKE}{_CAME},?\s+(?:and\s+)?(?:not|never)\s+{_IN}{_GONE}{_NO_VERB}",
    r"\b(?:use[sd]?|using|choose"
    rf"|take)\s+{_CAME}\s+(?-i:[a-z])[^.;,!?]{{0,40}}?,\s+(?:and\s+)?(?:not"
    rf"|never)\s+{_GONE}{_NO_VERB}",
    r"\b(?:never|don['’]?t|do not|stop)\s+(?:use"
    rf"|using)\s+{_GONE},?\s+(?:but\s+)?(?:always\s+|please\s+)?use\s+{_CAME}",
    rf"\bprefers?\s+{_CAME}\s+(?:over|to)\s+{_GONE}",
    r"\bno longer\s+(?:(?:use[sd]?|using|needs?"
    rf"|runs?)\s+)?{_IN}{_GONE}[;,:]?\s+(?:[—–-]\s+)?(?:but\s+|and\s+)?"
    rf"{_IT}(?:now\s+)?(?:use[sd]?|runs?|is|are|lives?)\s+(?:now\s+)?{_IN}{_CAME}",
    rf"\b(?:is|are|runs?|uses?|lives?)\s+(?:now\s+)?{_IN}{_CAME}\s*[,(]\s*"
    rf"{_IT}(?:was|were|used to be|formerly|previously)\s+{_IN}{_GONE}",
)

AT = r"(?:to|into|on|in|with|at|via|through|by)\s+(?:port\s+)?"
WAYS = (
    r"(?:(?:run|deploy|host|liv|listen|stor|build|built|ship|publish|push|track|keep|kept"
    r"|send|sent|post|announc|report|talk|meet|manag"
    r"|test|lint|format|review|open|monitor|bas|log(?!s? in\b))\w*\s+(?:[\w#-]+\s+){0,4}?"
    r"|goe?s?\s+)"
)
"""Where, and with what, things are done; the name follows behind `AT`."""

_THING = r"(?:\s+(?:app|account|server|cluster|instance|setup|subscription|workspace))?"
_DEPARTURES = _compiled(
    rf"(?:^|(?<=[,;:—–]\s))\W*(?:(?:and|so|but|now)\s+)*{_GONE}{_THING}\s+(?:is"
    r"|has\s+been)\s+(?:now\s+|finally\s+)?"
    r"(?:gone|retired|decommissioned|shut\s+down|phased\s+out|no\s+longer\s+(?:in\s+use|used"
    r"|our)\b)",
    rf"\bno\s+longer\s+(?:{WAYS}{AT}|(?:use[sd]?|using|needs?)\s+"
    rf"|(?:{AT})?(?-i:(?=[`'\"“]?[A-Z\d]))){_GONE}(?!\w)",
    r"\b(?:we|i)(?:\s+have|['’]ve)?(?:\s+(?:now|just|finally|also))?\s+(?:dropped|ditched"
    r"|abandoned|retired|stopped\s+using|"
    rf"got\s+rid\s+of)\s+{_GONE}(?!\w|\s+(?:for|of|from|in)\b)",
    rf"\b(?:(?:mov|switch|migrat)\w*(?<!s)\s+{_WITHIN}\b(?:from|off)|we(?:\s+a"
    rf"|['’])re\s+(?:now\s+)?off)\s+(?:of\s+)?{_GONE}(?!\w)",
)
_NOT_ANY_MORE = re.compile(
    r"(?i)\b(?:do|does|is|are|['’]re)(?:n['’]?t"
    r"|\s+not)\s+(?P<what>[^.;!?]+?),?\s+any\s?(?:more|longer)\b"
)
_RETURNS = _compiled(
    rf"\b(?:mov|switch|migrat|went|go|are|is|['’]re)\w*\b{_WITHIN}\bback\s+(?:onto\s+|{AT}){_CAME}"
)
_UNDONE = re.compile(
    r"(?i)(?:n['’]t|['’](?:ll|d)|\b(?:not|never|nobody|almost|cannot|without|instead of"
    r"|before|until|unless|once|when|after|how"
    r"|why|should|must|will|can|going|plan\w*|want\w*|wish\w*|hope\w*|need\w*|tr(?:y|ied"
    r"|ying)|think(?:ing)?|check|sure|sa(?:id|ys)"
    r"|told|they|their|he|his|she|her|your?))\b[^,;:]*$|\b(?:of|about|(?<!decided "
    r")(?<!agreed )(?<!chose )to)\s+(?:\w+ly\s+)?$"
)
"""In front of words of change: they deny it, or make it a plan, a condition, a story, hearsay or
somebody else's.
"""

_NOT_NOW = re.compile(
    r"(?i)^(?:when|once|after|before|until|as soon as)\b|\b(?:next (?:week|month|quarter"
    r"|year|sprint|release)|tomorrow|soon"
    r"|eventually|for now|temporarily|for the moment|(?:for|just|only) today|until|yet|again)\b"
)
"""Says of a change that it lies ahead, is the time of something else, or does not last."""

_COMMON_NOUN = re.compile(r"(?i:the|an?|our)\s+[a-z]+$")
_BEGINS = re.compile(r"[;:—–]\s|,\s+(?:(?:so|and|but)\s|(?=no longer\b))")
_ENDS = re.compile(
    r"(?i)[,;:(—–](?!\s*(?:for|in|on)\b)|\s(?:because|since|as|due|so|and|but|which)\b"
)
"""Where a reason or another statement begins, in front of a change and behind it."""

CUES = (
    r"(?i)\b(?:from|off|back|gone|retired|decommissioned|shut|phased|longer|(?:any)?more|dropped"
    r"|ditched|abandoned|using|rid)\b"
)
"""Words without which no text states a change of state."""

_IDEA = re.compile(
    r"(?i)\?|\b(?:if|whether|could|would|might|(?<!you )may|maybe|perhaps|consider|wonder"
    r"|should we|shall we|could we|"
    r"propose|suggest|option|alternativ\w+|for example|e\.g\.|imagine|plan(?:s|ned)? to"
    r"|later|someday)\b"
)
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=[\"“`A-Z(—-])|\n+|\s—\s")
_LEADING = re.compile(r"^(?:the|a|an|our|version|port)\s+|[`'\"“”]", re.IGNORECASE)
_TRAILING = re.compile(rf"(?<=\d){_UNIT}$", re.IGNORECASE)
_EMPTY = word_set("""a all an and any as at be because been being by do doing done each else every
    everything for from get getting go going he her him his i in into it its just like make making
    me my necessarily nothing now of off on one only or order other our out own primarily really
    same she so some something that the their them then there these they thing this those through to
    up us use using via we what which who with you your yet""")
"""Words that name nothing: "not only", "rather than that"."""


_ADVERB = re.compile(r"[a-z]{4,}ly")


@dataclass(frozen=True)
class Change:
    """The old and the new name, in lower case, and the words that say so; a name that is not said
    is empty.
    """

    gone: str
    came: str
    clause: str


@lru_cache(maxsize=16_384)
def read_changes(text: str) -> tuple[Change, ...]:
    """Returns the changes from one name to another that the text states as facts or rules, in
    order.
    """
    moves = [change for change in read_state_changes(text) if change.gone and change.came]
    choices = [
        Change(gone, came, clause)
        for clause in clauses(text)
        for pattern in _CHOICES
        for match in pattern.finditer(clause)
        if (gone := _name(match["gone"])) and (came := _name(match["came"])) and gone != came
    ]
    return tuple(dict.fromkeys([*moves, *choices]))


@lru_cache(maxsize=16_384)
def read_state_changes(text: str) -> tuple[Change, ...]:
    """Returns the changes that the text states as done or under way, in order; one of the names can
    be missing.
    """
    found: list[Change] = []
    for clause in clauses(text):
        moves = list(_changes_in(clause, _MOVES))
        found += moves or [*_changes_in(clause, _DEPARTURES), *_changes_in(clause, _RETURNS)]
    return tuple(dict.fromkeys(found))


def _changes_in(clause: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[Change]:
    clause = _NOT_ANY_MORE.sub(r"no longer \g<what>", clause)
    for match in (match for pattern in patterns for match in pattern.finditer(clause)):
        phrases = match.groupdict()
        gone, came = (_name(phrases.get(side, "")) for side in ("gone", "came"))
        is_done = not (_UNDONE.search(clause[: match.start()]) or _NOT_NOW.search(clause))
        is_named = (
            bool(gone and came)
            if len(phrases) > 1
            else not any(map(_COMMON_NOUN.match, phrases.values()))
        )
        if is_done and is_named and gone != came:
            yield Change(gone, came, _about(clause, match))


def _about(clause: str, match: re.Match[str]) -> str:
    """Returns the part of the clause that says what changed: no reasons and no other statements
    beside it.
    """
    start = max(
        (
            end
            for end in (found.end() for found in _BEGINS.finditer(clause))
            if end <= match.start()
        ),
        default=0,
    )
    ends = _ENDS.search(clause, match.end())
    return clause[start : ends.start() if ends else None]


def clauses(text: str) -> tuple[str, ...]:
    """Returns the statements of the text: no questions, conditions or ideas."""
    return tuple(clause for clause in _SENTENCE.split(text) if clause and not _IDEA.search(clause))


def _name(phrase: str) -> str:
    """Returns the name in lower case without article and quotes; empty if it begins with an empty
    word, or is an adverb.
    """
    name = " ".join(
        _LEADING.sub("", _TRAILING.sub("", phrase.strip())).lower().rstrip(".,:;-").split()
    )
    return "" if not name or name.split()[0] in _EMPTY or _ADVERB.fullmatch(name) else name
