"""Extracts properties of a fact from its text: strength, tone, named entities, clock times, and the
quote that supports it.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from memory_assets.english.hedges import is_doubtful, is_hedged
from memory_assets.schema.vocabulary import Sentiment, Strength
from memory_assets.text.file_names import EXTENSIONS
from memory_assets.text.patterns import patterns_beside
from memory_assets.text.sentences import STRAIGHT
from memory_assets.text.words import stems_of

QUOTE_CHARS = 300
MOST_ENTITIES = 16

_TONES = patterns_beside(__file__, "tones")
_CODE = re.compile(r"`([^`\n]{1,120})`")
_ADR = re.compile(r"\bADR[-_ ]?(\d{1,5})\b", re.I)
_ISSUE = re.compile(r"(?<![\w&/])(?:[\w.-]+/[\w.-]+)?#\d{1,6}\b")
_URL = re.compile(r"\bhttps?://[^\s)>\]`'\"]+")
_PATH = re.compile(
    r"(?<![\w/.@:-])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]*[\w/]"
    rf"|(?<![\w/.])[\w-]+\.(?:[ch]|{EXTENSIONS})\b"
)
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]+(?:=\S+)?")
_ENV = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b(?:=\S+)?")
_CAMEL = re.compile(r"\b(?:[a-z]+[A-Z]|[A-Z][a-z0-9]+[A-Z])\w*\b(?:\.\w+)*(?:\(\))?")
_LOWER_CAMEL = re.compile(r"\b[a-z]+[A-Z]\w*\b")
_SNAKE = re.compile(r"\b[a-z]\w*_\w+\b")
_PERSON = re.compile(r"(?<![\w./@])@[A-Za-z][\w-]{1,38}\b(?!/)")
_VERSION = re.compile(r"\bv?\d+\.\d+(?:\.\d+)*(?:[-+][\w.]+)?\b")
_COMMIT = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_NUMBER = re.compile(r"(?<![\w.#:/-])\d+(?:[.,]\d+)*(?![\w:/-]|\.\d)")
_QUOTATION = re.compile(r"“([^”\n]{4,200})”|(?<!\w)\"([^\"\n]{4,200})\"(?!\w)")
_CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?![\d:]|\.\d)")


def items_of(text: str, sources: Iterable[str], spoken: str) -> dict[str, Any]:
    """Returns the fields of a candidate that follow from its text and its sources.

    `spoken` are the words whose tone is that of the candidate.
    """
    times = clock_times_in(text)
    texts = sources if times else ()
    source_times = {time for source in texts for time in clock_times_in(source)}
    return {
        "sentiment": sentiment_of(spoken),
        "entities": entities_of(text),
        "clock_times": tuple(time for time in times if time in source_times),
        "ungrounded_times": tuple(time for time in times if time not in source_times),
    }


def strength_of(text: str, *, is_owners: bool) -> Strength:
    """Returns how certain the text is: explicit, or if hedged `implied` by the owner and `inferred`
    by others.
    """
    if is_owners:
        return "implied" if is_doubtful(text) else "explicit"
    return "inferred" if is_hedged(text) else "explicit"


def sentiment_of(text: str) -> Sentiment:
    """Returns the tone of the text; of several, the first of frustrated, excited and uncertain."""
    tones = (tone for tone, pattern in _TONES.items() if pattern.search(text))
    tone = next(tones, "uncertain" if is_hedged(text) else "neutral")
    return cast(Sentiment, tone)


def entities_of(text: str) -> tuple[str, ...]:
    """Returns the names of files, commands, people and the like in the text, in order."""
    positions: dict[str, int] = {}
    for pattern in (_CODE, _URL, _PATH, _FLAG, _ENV, _ISSUE, _PERSON, _CAMEL, _SNAKE, _VERSION):
        for match in pattern.finditer(text):
            name = (match[1] if pattern is _CODE else match[0]).strip(" .,;:")
            if len(name) > 1 and not name.isdigit():
                positions.setdefault(name, match.start())
    for match in _ADR.finditer(text):
        positions.setdefault(f"ADR-{int(match[1]):04d}", match.start())

    def is_part(name: str) -> bool:
        return any(
            name != longer_name and name in longer_name and start <= positions[name]
            for longer_name, start in positions.items()
        )

    ordered = sorted(positions, key=lambda name: (positions[name], name))
    return tuple(name for name in ordered if not is_part(name))[:MOST_ENTITIES]


def names_in(text: str) -> tuple[str, ...]:
    """Returns the names in the text that must be spelled exactly, such as paths and versions."""
    patterns = (_CODE, _URL, _PATH, _FLAG, _ENV, _ISSUE, _LOWER_CAMEL, _SNAKE, _VERSION, _COMMIT)
    names = (
        match[1] if pattern is _CODE else match[0]
        for pattern in patterns
        for match in pattern.finditer(text)
    )
    return tuple(dict.fromkeys(name.strip(" .,;:") for name in names))


def numbers_in(text: str) -> tuple[str, ...]:
    """Returns the numbers that are no part of a name, without separators of thousands."""
    numbers = _NUMBER.findall(_CODE.sub(" ", text))
    return tuple(dict.fromkeys(number.replace(",", "") for number in numbers))


def quotations_in(text: str) -> tuple[str, ...]:
    """Returns the words between quotation marks."""
    return tuple(curly or straight for curly, straight in _QUOTATION.findall(text))


def clock_times_in(text: str) -> tuple[str, ...]:
    """Returns the distinct clock times in the text, as HH:MM."""
    return tuple(
        dict.fromkeys(f"{int(hour):02d}:{minute}" for hour, minute in _CLOCK.findall(text))
    )


def quote_from(sources: Sequence[str], sentence: str) -> str:
    """Returns a verbatim quote: the sentence as it is in the first source that has it.

    If none has it, the quote is the line of the first source that is most similar to the sentence.
    """
    for source in sources:
        start = source.translate(STRAIGHT).find(sentence)
        length = min(len(sentence), QUOTE_CHARS) if start >= 0 else 0
        quote = source[start : start + length].strip()
        if quote:
            return quote
    stems = stems_of(sentence)

    def similarity(line: str) -> float:
        return len(stems & stems_of(line[: 2 * QUOTE_CHARS])) / (1 + 0.005 * len(line))

    lines = [line.strip() for line in sources[0].splitlines() if line.strip()]
    return max(lines, key=similarity, default=sources[0].strip())[:QUOTE_CHARS].strip()
