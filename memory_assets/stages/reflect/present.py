"""Turns a memory into what holds now: reports of what was done are cut, and what the owner chose or
wants becomes the rule.

    pkg/ holds the API; the old folder was removed.                  pkg/ holds the API.
    The owner chose squash merges.                                   Use squash merges.
    The owner wants replicate to stream.                             Replicate should stream.

Takes a text in the third person, as a model words it; returns what remains, empty if all of it only
reports.
"""

import re

from memory_assets.text.sentences import capitalised, split_sentences
from memory_assets.text.words import stems_of

_OWNER = r"(?:the )?(?:owner|user)(?: has)?"
_CHANGED = (
    r"(?:remov|add|replac|delet|renam|revert|mov|introduc|dropp|approv|confin|appli|fix|merg"
    r"|committ|push|creat|updat|bump"
    r"|migrat|adopt|switch|convert|implement|complet|stat|mention|announc)ed|rewritten|split"
    r"|made|done|gone"
)
_REPORTS = re.compile(
    rf"(?i)^the (?:former|earlier|previous|old) \w|^{_OWNER} (?:approved|asked (?:for"
    r"|whether|if|about)|objected|removed"
    r"|rejected|requested|confirmed|accepted|declined|added|picked|said|found|reviewed"
    r"|changed|merged|reported)\b"
    rf"|\b(?:was|were|has been|have been|had been) (?:not )?(?:\w+ly )?(?:{_CHANGED})\b"
    r"|\bwent from \S.* to\b"
    rf"|^(?:(?:was|were|both were|now|just) )?(?:{_CHANGED}|kept|left|verified|tested"
    r"|confirmed|used|reworded)\b"
    r"(?! (?:only|as long|if|when|unless)\b)"
    rf"|^(?!.*\b(?:is|are|be|gets?|if|when|before|after|until)\b)[^,:]{{1,60}} (?:{_CHANGED})$"
    r"|\b(?:is|are) (?:now )?gone$|^that (?:is|was) why\b|^(?:this|it|that|which) "
    rf"(?:{_CHANGED})\b|\bin this session\b"
)
"""Says what was done, once; it holds nothing for the next task."""

_EVENT = re.compile(
    r"(?i)^[^,:]{0,60}\b(?:failed|broke|crashed|hung|timed out)\b(?! (?:if|when|whenever|unless)\b)"
)
"""Happened once; it stays as the reason for what follows it."""

_HOLDS = re.compile(
    r"(?i)\b(?:must|never|always|do not|don't|should|needs?|requires?|stays?|has to|have to"
    r"|cannot|can't|so that)\b"
    r"|^(?:use|run|set|keep|put|avoid)\b"
)
"""A clause with such words is no mere report, whatever else it tells."""

_CLAUSE = re.compile(r"(?<=[^\s;]);\s+")
_TAIL = re.compile(
    rf"(?i)\s*(?:, | \(|\()(?:(?:both|which) (?:was|were) )?(?:(?:{_CHANGED}|kept) (?:in|as"
    r"|on|to|for)\b|was \w|before that )"
    r"[^(),;]*(?:, [^(),;]*)?\)?(?=[.;]?$)|,? in this session(?=[.;]?$)"
)
"""A remark at the end of a clause on how it came about."""

_BESIDE = re.compile(r"\s*\([^()]*\)")
_AFTER_COLON = re.compile(r"^(?P<what>[^:]{10,}): (?P<rest>.+)$")

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            rf"(?i)^{_OWNER} (?:decided|confirmed|asked|requires|insists|stated|said) that (?=\S)"
        ),
        "",
    ),
    (
        re.compile(
            rf"(?i)^{_OWNER} (?:chose|selected|opted for|decided on|went with|settled on) "
            r"(?!to\b)(?=\S)"
        ),
        "use ",
    ),
    (re.compile(rf"(?i)^{_OWNER} (?:chose|decided|asked|wants|prefers|likes) to (?=\w)"), ""),
    (re.compile(rf"(?i)^{_OWNER} (?:does not|doesn't) want to (?=\w)"), "do not "),
    (
        re.compile(
            rf"(?i)^{_OWNER} (?:does not|doesn't) want (?:any )?(?P<what>[^,;]+?) "
            r"(?P<done>\w+(?:ed|en))\b(?=[,;. ]|$)"
        ),
        r"\g<what> must not be \g<done>",
    ),
    (
        re.compile(rf"(?i)^{_OWNER} wants (?P<what>(?:[\w`./-]+ ){{1,6}}?)to (?=\w)"),
        r"\g<what>should ",
    ),
    (re.compile(rf"(?i)^{_OWNER} prefers (?=\S)"), "prefer "),
    (
        re.compile(
            r"(?i)^(?:the )?(?:owner|user) has (?=(?:an?|the|any|every|each|all) [^,;]+? "
            r"\w+(?:ed|en)\b)"
        ),
        "have ",
    ),
)
"""What the owner said in the third person, and how it is said as a rule."""


def what_holds(text: str) -> str:
    """Returns the text without reports of what was done, and as a rule where it says what the owner
    wants.
    """
    clauses = [_clauses(_as_rule(sentence)) for sentence in split_sentences(text)]
    return " ".join(filter(None, clauses))


def _as_rule(sentence: str) -> str:
    for pattern, instead in _RULES:
        if pattern.match(sentence):
            return capitalised(pattern.sub(instead, sentence, count=1))
    return sentence


def _clauses(sentence: str) -> str:
    """Returns the clauses of the sentence that hold, with its stop."""
    stop = sentence[len(sentence.rstrip(".!")) :]
    parts = [_TAIL.sub("", _without_report(part)) for part in _CLAUSE.split(sentence.rstrip(".!"))]
    clauses = [part for part in parts if stems_of(part) and not _is_report(part)]
    return "" if all(map(_EVENT.search, clauses)) else capitalised("; ".join(clauses)) + stop


def _without_report(part: str) -> str:
    """Returns the clause without a report before or behind its colon."""
    match = _AFTER_COLON.match(part)
    if not match or not _is_report(match["rest"]):
        return part
    return "" if _is_report(match["what"]) else match["what"]


def _is_report(part: str) -> bool:
    words = _BESIDE.sub("", part)
    return bool(_REPORTS.search(words)) and not _HOLDS.search(words)
