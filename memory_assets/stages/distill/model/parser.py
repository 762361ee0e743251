"""Parses the answer of a model into segments and facts; tolerates malformed answers and never
raises.

The path says how the answer was parsed: `segments` (A21 and TUT), `structured` (JSON, as in DUET:
segments, a list of facts, or a log in one string; complete or cut off), `flat` (marked lines),
`list` (any bullets), `raw` (the whole text as one held fact) or `empty`. A line that holds a fact
has a mark, a time and annotations in any order, then the text; a time that cannot be read costs
nothing but the time. Only tags of the answer's own form are markup: `<id>` in a fact stays. The
facts are not judged here.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from memory_assets.schema.vocabulary import Priority

ParsePath = Literal["segments", "structured", "flat", "list", "raw", "empty"]
"""From the most to the least structured."""


@dataclass(frozen=True, slots=True)
class ParsedFact:
    """One fact of an answer; what the model left out is None."""

    text: str
    priority: Priority | None = None
    time: str | None = None
    gate: str | None = None
    confidence: float | None = None
    category: str | None = None
    is_done: bool = False
    is_cut: bool = False
    """The answer was cut off within it; it is held, whatever its gate was."""
    day: date | None = None
    """The day of its time: the date beside it, else of the last `Date:` line."""


@dataclass(frozen=True, slots=True)
class ParsedSegment:
    """A narrative and its facts."""

    narrative: str
    facts: tuple[ParsedFact, ...]


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The content of an answer, and how it was parsed."""

    path: ParsePath
    segments: tuple[ParsedSegment, ...] = ()
    current_task: str | None = None
    suggested_response: str | None = None

    @property
    def facts(self) -> tuple[ParsedFact, ...]:
        """The facts of all segments, in order."""
        return tuple(fact for segment in self.segments for fact in segment.facts)


def unrepeated(segments: Iterable[ParsedSegment]) -> tuple[ParsedSegment, ...]:
    """Returns the segments that have content, each fact once: models repeat answers."""
    seen: set[str] = set()
    kept = []
    for segment in segments:
        facts = tuple(fact for fact in segment.facts if fact.text not in seen)
        seen |= {fact.text for fact in facts}
        if facts or (segment.narrative and segment.narrative not in seen):
            kept.append(ParsedSegment(segment.narrative, facts))
            seen.add(segment.narrative)
    return tuple(kept)


def mark_cut(answer: ParsedAnswer) -> ParsedAnswer:
    """Returns the answer with its last fact marked as cut off, or without it if its text is
    missing.
    """
    if not answer.segments or not answer.segments[-1].facts:
        return answer
    *before, last = answer.segments
    *whole, cut = last.facts
    kept = (
        ()
        if cut.text.startswith(("[", "(", "<", "&"))
        else (replace(cut, gate="hold", is_cut=True),)
    )
    return replace(answer, segments=(*before, ParsedSegment(last.narrative, (*whole, *kept))))


_MARKS: dict[str, Priority] = {"🔴": "high", "🟡": "medium", "🟢": "low", "✅": "medium"}
_PRIORITIES: dict[str, Priority] = {**_MARKS, "high": "high", "medium": "medium", "low": "low"}
"""Priorities by mark and by name."""

_MARK = re.compile(r"[🔴🟡🟢✅]\ufe0f?")
_BULLET = re.compile(r"^\s*(?:[-*+•–]|\d{1,3}[.)])\s*(?=\S)")
_TIME = re.compile(
    r"(?i)^\W{0,2}\(?\[?(?:(?P<day>\d{4}-\d\d-\d\d)[ T,]{1,2})?(?:~|about )?(?P<hour>[01]?\d"
    r"|2[0-3]):(?P<minute>[0-5]\d)"
    r"(?::\d\d)?(?:\s*(?P<half>[AP]M)"
    r"|\s*[A-Z]{2,4})?(?:\s*[-–—]\s*\d{1,2}:\d\d(?::\d\d)?)?[)\]]\s*[-:–—]?\s*"
    r"|^\((?:early|late|mid|near|middle)[^()]{0,40}\)\s*|^\([^()\[\]]{0,40}\)\s*(?=\[[\w-]+=)"
)
"""A time, words in its place, or whatever else is between brackets before annotations."""
_NOTES = re.compile(r"^\s*\[([^\][]{0,200}=[^\][]{0,200})\]\s*")
_NOTE = re.compile(r"([\w-]+)\s*=\s*\"?([\w:.%/-]+)\"?")
_OWN_TAG = (
    r"observations?|segments?|narrative|operational[-_ ]?context|facts?|current[-_ ]?task"
    r"|suggested[-_ ]?(?:response|continuation)|thread[-_ ]?title"
)
_TAG = re.compile(
    rf"(?i)(?<!`)<\s{{0,3}}/?\s{{0,3}}(?:{_OWN_TAG})\b[^<>]*>"
    rf"|^\s*(?:[-*]\s*)?</?\s{{0,3}}[^\W\d_][^<>]*>\s*$"
    r"|</?[^\W\d_][\w-]*\s*$|</?\s*$"
)
"""A tag of the answer's form anywhere, any tag alone in its line, and the beginning of a tag at the
end of a line.
"""
_GATES = ("allow", "hold", "discard")
_CUT_JSON_ESCAPE = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?\\(?:u[0-9a-fA-F]{0,3})?$")

UNESCAPES = 3
"""Some answers are escaped twice."""

RAW_CHARS = 300

_TAIL = r"<\s{0,3}(?:current[-_ ]?task|suggested[-_ ]?(?:response|continuation))\b"
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.M)
_DATE_LINE = re.compile(r"^[^\w\n]*Date:?[\W\d]*$", re.M)
_DATE = re.compile(r"^[^\w\n]*Date:?\W*(\d{4}-\d\d-\d\d)", re.M)
_ESCAPE = re.compile(r"&(?:lt|gt|amp|quot|apos|#39|#x27);")
_LEADING = re.compile(r"^(?:\s|\*{1,3}(?!\*?/)|_{1,2}(?!\w+__))+")
_BOLD = re.compile(r"(?<![\w/`*])\*\*(?=[^\s*/])([^*\n]+?)(?<=[^\s*])\*\*(?![\w/`*])")
_CUT_ESCAPE = re.compile(r"&(?:amp;?)*[a-z#\d]{0,6}$")
_OPENED = re.compile(r"<\s{0,3}(?:observations|segment|facts)\b", re.I)


def _element(names: str, ends: str) -> re.Pattern[str]:
    """Returns a pattern for an element and its content, which extends to one of the ends or the end
    of the text.
    """
    return re.compile(rf"(?<!`)<\s{{0,3}}{names}\b[^<>]*>(.*?)(?={ends}|\Z)", re.S | re.I)


_SEGMENT = _element(
    "segment", rf"<\s{{0,3}}/?\s{{0,3}}segment\b|<\s{{0,3}}/\s{{0,3}}observations\b|{_TAIL}"
)
_NARRATIVE = _element(
    r"(?:narrative|operational[-_ ]?context|(?:(?<=\A<)|(?<=\n<)|(?<=\s\s<)"
    r"|(?<=><))(?:context|summary))",
    r"<\s{0,3}/?\s{0,3}(?:narrative|context|summary|operational|facts|segment|observations)\b",
)
_OBSERVATIONS = _element(
    "observations", rf"<\s{{0,3}}/\s{{0,3}}observations\b|<\s{{0,3}}observations\b|{_TAIL}"
)
_TASK = _element("current[-_ ]?task", r"<\s{0,3}/\s{0,3}current|<\s{0,3}suggested")
_RESPONSE = _element(
    "suggested[-_ ]?(?:response|continuation)", r"<\s{0,3}/\s{0,3}suggested|<\s{0,3}current"
)


def parse_answer(raw: str) -> ParsedAnswer:
    """Returns the content of the answer, however malformed it is."""
    text = _normalise(raw)
    if (structured := _parse_structured(text)) is not None:
        return structured
    task, response = _inside(_TASK, text), _inside(_RESPONSE, text)
    path, segments = _parse_segments(_RESPONSE.sub("\n", _TASK.sub("\n", text)))
    answer = ParsedAnswer(path, segments, task, response)
    if not _is_cut(text):
        return answer
    return replace(answer, path="empty", segments=()) if path == "raw" else mark_cut(answer)


def _is_cut(text: str) -> bool:
    """Returns whether the text ends after an open tag, within its content."""
    tail = text[text.rfind("<") :]
    return (
        bool(_OPENED.search(text))
        and not re.match(r"<\s{0,3}/", tail)
        and not tail.rstrip().endswith(">")
    )


def _normalise(raw: str) -> str:
    """Returns the answer without a byte-order mark, code fences and HTML escapes."""
    text = encodable(raw).replace("\ufeff", "").replace("\r\n", "\n").replace("\x00", "")
    for _ in range(UNESCAPES):
        if "<" in text or "lt;" not in text:
            break
        text = html.unescape(text)
    return _FENCE.sub("", text)


def _parse_segments(text: str) -> tuple[ParsePath, tuple[ParsedSegment, ...]]:
    """Returns the path and the segments; the strictest form that has content is used."""
    found, day, end = [], None, 0
    for match in _SEGMENT.finditer(text):
        day, end = _last_day(text[end : match.start()], day), match.end()
        found.append(_segment(match[1], day))
        day = _last_day(match[1], day)
    if any(segment.facts or segment.narrative for segment in found):
        loose = _parse_facts(_SEGMENT.sub("\n", text).splitlines(), _is_marked)
        return "segments", unrepeated([*found, ParsedSegment("", loose)])
    bodies = [match[1] for match in _OBSERVATIONS.finditer(text)] or [text]
    lines = [line for body in bodies for line in body.splitlines()]
    if facts := _parse_facts(lines, _is_marked):
        return "flat", (ParsedSegment("", facts),)
    if facts := _parse_facts(lines, _BULLET.match):
        return "list", (ParsedSegment("", facts),)
    rest = " ".join(_without_tags(" ".join(_DATE_LINE.sub("", "\n".join(lines)).split())).split())
    if not re.search(r"\w", _CUT_ESCAPE.sub("", rest)):
        return "empty", ()
    return "raw", (ParsedSegment("", (ParsedFact(rest[:RAW_CHARS], gate="hold"),)),)


def _segment(block: str, day: date | None) -> ParsedSegment:
    """Returns one segment: its narrative, and the facts in the rest of the block."""
    lines = _NARRATIVE.sub("\n", block).splitlines()
    return ParsedSegment(_inside(_NARRATIVE, block) or "", _parse_facts(lines, _is_fact, day))


def _last_day(text: str, before: date | None) -> date | None:
    """Returns the day of the last `Date:` line of the text, else the day before it."""
    days = _DATE.findall(text)
    return (_day(days[-1]) if days else None) or before


def _day(text: str | None) -> date | None:
    with suppress(TypeError, ValueError):
        return date.fromisoformat(text or "")
    return None


def _inside(pattern: re.Pattern[str], text: str) -> str | None:
    """Returns the content of the first match, one line per line that has content, or None."""
    match = pattern.search(text)
    lines = match[1].splitlines() if match else []
    return (
        "\n".join(filter(None, (" ".join(_without_tags(line).split()) for line in lines))) or None
    )


def _parse_structured(text: str) -> ParsedAnswer | None:
    """Returns a JSON answer, or None if the text is not JSON."""
    start = text.find("{")
    if start < 0 or text[:start].strip(" \n`json:"):
        return None
    try:
        answer, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return _parse_cut_structured(text[start:])
    segments = _structured_segments(answer)
    return ParsedAnswer(
        "structured" if segments else "empty",
        segments,
        _word(answer, "currentTask", "current_task"),
        _word(answer, "suggestedContinuation", "suggestedResponse", "suggested_response"),
    )


def _parse_cut_structured(text: str) -> ParsedAnswer | None:
    """Returns the facts of a JSON answer that was cut off: every complete text, and the complete
    lines of `observations`.
    """
    if not re.match(r'\{\s*(?:"|$)', text):
        return None
    texts = map(
        _unescape,
        re.findall(r'"(?:text|fact|observation|content)"\s*:\s*"((?:[^"\\]|\\.)*)"', text),
    )
    found = [_parse_fact(item) for item in texts if item.strip()]
    for log, end in re.findall(r'"(?:observations|facts)"\s*:\s*"((?:[^"\\]|\\.)*)("?)', text):
        lines = _unescape(log).splitlines()
        found += _parse_facts(lines if end else lines[:-1], _is_fact)
    facts = tuple(dict.fromkeys(fact for fact in found if fact.text))
    return (
        ParsedAnswer("structured", (ParsedSegment("", facts),)) if facts else ParsedAnswer("empty")
    )


def _unescape(text: str) -> str:
    text = _CUT_JSON_ESCAPE.sub("", text)
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text.replace("\\n", "\n").replace('\\"', '"')


def _structured_segments(answer: dict[str, Any]) -> tuple[ParsedSegment, ...]:
    """Returns the segments of a JSON answer: a list of segments, a list of facts, or a log in one
    string.
    """
    if answer.get("hasMemory") is False:
        return ()
    listed = [item for item in _list(answer.get("segments")) if isinstance(item, dict)]
    parts = [
        (_word(item, "narrative", "summary") or "", item.get("facts") or item.get("observations"))
        for item in listed
    ]
    parts.append(("", answer.get("observations") or answer.get("facts")))
    return unrepeated(ParsedSegment(narrative, _facts(value)) for narrative, value in parts)


def _facts(value: Any) -> tuple[ParsedFact, ...]:
    if isinstance(value, str):
        lines = value.splitlines()
        return _parse_facts(lines, _is_fact) or _parse_facts(lines, str.strip)
    return tuple(fact for fact in map(_fact, _list(value)) if fact.text)


def _fact(item: Any) -> ParsedFact:
    if not isinstance(item, dict):
        return _parse_fact(str(item))
    line = _parse_fact(_word(item, "text", "fact", "observation", "content") or "")
    named = (_word(item, "priority") or "").lower()
    priority = _PRIORITIES.get(named) or _PRIORITIES.get(named[:1]) or line.priority
    given = {
        key: str(item[key])
        for key in ("gate", "confidence", "category")
        if item.get(key) is not None
    }
    notes = (
        dict(zip(("gate", "confidence", "category"), _parse_notes(given), strict=True))
        if given
        else {}
    )
    clock = _TIME.match(f"({_word(item, 'time') or ''})")
    return replace(
        line, priority=priority, time=(_clock(clock) if clock else None) or line.time, **notes
    )


def _word(item: dict[str, Any], *names: str) -> str | None:
    return next(
        (
            encodable(value)
            for name in names
            if isinstance(value := item.get(name), str) and value.strip()
        ),
        None,
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _parse_facts(
    lines: Sequence[str], holds_fact: Callable[[str], object], day: date | None = None
) -> tuple[ParsedFact, ...]:
    """Returns the facts of the lines that hold one; an indented line after a fact continues it."""
    texts: list[tuple[list[str], date | None]] = []
    for line in lines:
        bare = _without_tags(line)
        if named := _DATE.match(bare):
            day = _day(named[1]) or day
        elif holds_fact(bare):
            texts.append(([bare], day))
        elif texts and bare.strip() and line[:1].isspace() and not bare.lstrip().startswith("#"):
            texts[-1][0].append(bare.strip())
    return tuple(
        fact
        for fact in dict.fromkeys(_parse_fact(" ".join(text), day) for text, day in texts)
        if fact.text
    )


def _parse_fact(line: str, day: date | None = None) -> ParsedFact:
    """Returns the fact of one line: mark, time and annotations in any order, then the text."""
    text, priority, time, notes, is_done = _BULLET.sub("", line).strip(), None, None, {}, False
    for _ in range(6):
        before = text
        text = _LEADING.sub("", text)
        if mark := _MARK.match(text):
            symbol = mark[0][0]
            priority, is_done = priority or _MARKS[symbol], is_done or symbol == "✅"
            text = text[mark.end() :].lstrip()
        if clock := _TIME.match(text):
            time, day = time or _clock(clock), _day(clock["day"]) or day
            text = text[clock.end() :].lstrip()
        if annotated := _NOTES.match(text):
            notes |= {key.lower(): value for key, value in _NOTE.findall(annotated[1])}
            text = text[annotated.end() :].lstrip()
        if text == before:
            break
    text = " ".join(_without_bold(encodable(_unescaped(text))).split())
    return ParsedFact(
        text, priority, time, *_parse_notes(notes), is_done, day=day if time else None
    )


def _clock(match: re.Match[str]) -> str | None:
    """Returns the time as HH:MM on a clock of 24 hours, or None if there is none."""
    if not match["hour"]:
        return None
    hour, half = int(match["hour"]), (match["half"] or "").upper()
    hour += 12 * (half == "PM" and hour < 12) - 12 * (half == "AM" and hour == 12)
    return f"{hour:02d}:{match['minute']}"


def _unescaped(text: str) -> str:
    """Returns the text of a fact without HTML escapes, if its angle brackets are escaped."""
    is_escaped = "<" not in text and ("&lt;" in text or "&gt;" in text)
    return _ESCAPE.sub(lambda found: html.unescape(found[0]), text) if is_escaped else text


def _without_bold(text: str) -> str:
    """Returns the text without bold marks; the asterisks of a glob such as `docs/**/*.md` stay."""
    bare = _BOLD.sub(r"\1", text)
    return bare.removesuffix("**") if bare.count("**") % 2 and "`" not in bare[-3:] else bare


def _parse_notes(notes: dict[str, str]) -> tuple[str | None, float | None, str | None]:
    """Returns gate, confidence (0 to 1, from a share or a percentage) and category; None for values
    that are not valid.
    """
    gate, confidence, category = notes.get("gate", "").lower(), None, notes.get("category")
    with suppress(ValueError):
        number = float(notes.get("confidence", "").rstrip("%"))
        number = number / 100 if 1 < number <= 100 else number
        confidence = number if 0 <= number <= 1 else None
    return (
        gate if gate in _GATES else None,
        confidence,
        re.sub(r"^[a-z]+:", "", category.lower()) if category else None,
    )


def _is_marked(line: str) -> bool:
    """Returns whether the line begins with a mark, with or without a bullet."""
    return bool(_MARK.match(_LEADING.sub("", _BULLET.sub("", line))))


def _is_fact(line: str) -> bool:
    """Returns whether the line is an item of a list, or has a mark near its beginning."""
    return bool(_BULLET.match(line) or _MARK.search(line[:8]))


def _without_tags(text: str) -> str:
    """Returns the text with a space in place of each tag."""
    return _TAG.sub(" ", text)


def encodable(text: str) -> str:
    """Returns the text without unpaired surrogates, which JSON can contain but files cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
