"""Reads the items of a fact: how strongly it was put, in which tone, what it names, and which clock times it tells.

Takes texts, gives small values. Decides nothing.
"""

import re
from collections.abc import Iterable

from memory_assets.schema.records import Sentiment, Strength

MOST_ENTITIES = 16

_HEDGES = re.compile(
    r"\b(?:i think|i guess|maybe|perhaps|probably|kind of|sort of|might|could|wonder|feel like|not sure|wish"
    r"|would be (?:nice|better)"
    r"|apparently|seems?|looks like|mayxbe)\b|\?",
    re.I,
)
_INFERRED = re.compile(
    r"\b(?:i guess|probably|perhaps|not sure|apparently|seems?|looks like|presumably|my hunch|i suspect|likely)\b", re.I
)

_TONES: tuple[tuple[Sentiment, re.Pattern[str]], ...] = (
    (
        "frustrated",
        re.compile(
            r"\b(?:again|still (?:not|broken|fail\w*|doesn'?t)|wtf|ugh|annoying|stop (?:doing|adding|using)"
            r"|i (?:already )?(?:said|told you)"
            r"|why (?:did|do|are) you|not what i|terrible|frustrat\w+|hate|stuck|doesn'?t work|keeps? (?:failing"
            r"|breaking|asking))\b|!!+",
            re.I,
        ),
    ),
    (
        "excited",
        re.compile(r"\b(?:awesome|amazing|great|perfect|love (?:it|this)|excellent|nice|cool|yay|works? now)\b|🎉|:\)", re.I),
    ),
    (
        "uncertain",
        re.compile(
            r"\b(?:not sure|unsure|maybe|i guess|i think|wonder|confus\w+|perhaps|don'?t (?:know|understand)|probably)\b", re.I
        ),
    ),
)

_CODE = re.compile(r"`([^`\n]{1,120})`")
_ADR = re.compile(r"\bADR[-_ ]?(\d{1,5})\b", re.I)
_ISSUE = re.compile(r"(?<![\w&/])(?:[\w.-]+/[\w.-]+)?#\d{1,6}\b")
_URL = re.compile(r"\bhttps?://[^\s)>\]`'\"]+")
_PATH = re.compile(
    r"(?<![\w/.@:-])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]*[\w/]|(?<![\w/.])[\w-]+\.(?:go|py|ts|tsx|js|jsx|rs|rb|java"
    r"|kt|c|h|cpp|cs|swift"
    r"|md|mdx|txt|toml|yaml|yml|json|jsonl|lock|sh|sql|html|css|proto|cfg|ini|mod|sum|xml|csv|parquet|ipynb|env)\b"
)
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]+(?:=\S+)?")
_ENV = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b(?:=\S+)?")
_CAMEL = re.compile(r"\b(?:[a-z]+[A-Z]|[A-Z][a-z0-9]+[A-Z])\w*\b(?:\.\w+)*(?:\(\))?")
_SNAKE = re.compile(r"\b[a-z]\w*_\w+\b")
_PERSON = re.compile(r"(?<![\w./@])@[A-Za-z][\w-]{1,38}\b(?!/)")
_VERSION = re.compile(r"\bv?\d+\.\d+(?:\.\d+)*(?:[-+][\w.]+)?\b")
_CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?![\d:]|\.\d)")


def strength_of(text: str, *, is_owners: bool) -> Strength:
    """Returns how strongly it was put: said outright, hedged or asked softly, or only guessed."""
    if is_owners:
        return "implied" if _HEDGES.search(text) else "explicit"
    return "inferred" if _INFERRED.search(text) else "explicit"


def sentiment_of(text: str) -> Sentiment:
    """Returns the tone; the first that shows wins, trouble before joy before doubt."""
    for tone, words in _TONES:
        if words.search(text):
            return tone
    return "neutral"


def entities_of(text: str) -> tuple[str, ...]:
    """Returns the files, commands, identifiers, packages, people and ids that the text names, in order of appearance."""
    found: dict[str, int] = {}
    for pattern in (_CODE, _URL, _PATH, _FLAG, _ENV, _ISSUE, _PERSON, _CAMEL, _SNAKE, _VERSION):
        for match in pattern.finditer(text):
            name = (match[1] if pattern is _CODE else match[0]).strip(" .,;:")
            if len(name) > 1 and not name.isdigit():
                found.setdefault(name, match.start())
    for match in _ADR.finditer(text):
        found.setdefault(f"ADR-{int(match[1]):04d}", match.start())
    names = sorted(found, key=lambda name: (found[name], name))
    kept = [
        name for name in names if not any(name != other and name in other and found[other] <= found[name] for other in names)
    ]
    return tuple(kept[:MOST_ENTITIES])


def clock_times_in(text: str) -> tuple[str, ...]:
    """Returns the clock times that the text tells, as HH:MM, each once."""
    return tuple(dict.fromkeys(f"{int(hour):02d}:{minute}" for hour, minute in _CLOCK.findall(text)))


def found_in(times: Iterable[str], sources: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the times that one of the sources tells, and those that none does."""
    times = tuple(times)
    if not times:
        return (), ()
    told = {time for source in sources for time in clock_times_in(source)}
    return tuple(time for time in times if time in told), tuple(time for time in times if time not in told)
