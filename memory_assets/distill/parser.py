"""Reads the answer of a model into segments and facts; tolerant, never silent, never raising.

Takes the raw text of an answer; gives narratives, facts with what the model said of each, the current task and the
suggested response, and the path that reading took: `segments` (A21 and TUT), `structured` (JSON, as DUET asks for),
`flat` (marked lines), `list` (any bullets), `raw` (the whole text as one held fact) or `empty`. It judges nothing:
what a fact may become is the gate's business.
"""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from memory_assets.records import Priority

ParsePath = Literal["segments", "structured", "flat", "list", "raw", "empty"]

UNESCAPES = 3
"""Answers were seen escaped twice."""

RAW_CHARS = 300

_MARKS: dict[str, Priority] = {"🔴": "high", "🟡": "medium", "🟢": "low", "✅": "medium"}
_NAMED: dict[str, Priority] = {"high": "high", "medium": "medium", "low": "low"}
_MARK = re.compile(r"[🔴🟡🟢✅]\ufe0f?")
_BULLET = re.compile(r"^\s*(?:[-*+•–]|\d{1,3}[.)])\s*(?=\S)")
_TIME = re.compile(
    r"^\W{0,2}\(?\[?(?:~|about )?([01]?\d|2[0-3]):([0-5]\d)(?:\s*[A-Z]{2,4})?[)\]]\s*[-:–—]?\s*|^\((?:early|late|mid"
    r"|near|middle)[^()]{0,40}\)\s*",
    re.I,
)
_NOTES = re.compile(r"^\s*\[([^\][]{0,200}=[^\][]{0,200})\]\s*")
_NOTE = re.compile(r"([\w-]+)\s*=\s*\"?([\w:.%/-]+)\"?")
_SEGMENT = re.compile(
    r"<\s*segment\b[^>]*>(.*?)(?=<\s*/?\s*segment\b|<\s*/\s*observations\b|<\s*(?:current[-_ ]?task"
    r"|suggested[-_ ]?(?:response|continuation))\b|\Z)",
    re.S | re.I,
)
_NARRATIVE = re.compile(
    r"<\s*(?:narrative|context|summary|operational[-_]context)\b[^>]*>(.*?)(?=<\s*/?\s*(?:narrative|context|summary"
    r"|operational|facts|segment|observations)\b|\Z)",
    re.S | re.I,
)
_OBSERVATIONS = re.compile(
    r"<\s*observations\b[^>]*>(.*?)(?=<\s*/\s*observations\b|<\s*observations\b|<\s*(?:current[-_ ]?task"
    r"|suggested[-_ ]?(?:response|continuation))\b|\Z)",
    re.S | re.I,
)
_TASK = re.compile(r"<\s*current[-_ ]?task\b[^>]*>(.*?)(?=<\s*/\s*current|<\s*suggested|\Z)", re.S | re.I)
_RESPONSE = re.compile(
    r"<\s*suggested[-_ ]?(?:response|continuation)\b[^>]*>(.*?)(?=<\s*/\s*suggested|<\s*current|\Z)", re.S | re.I
)
_TAG = re.compile(r"<\s*/?\s*[a-zA-Z][\w-]*\b[^<>]*>|<\s*/?\s*[a-zA-Z][\w-]*\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)[\w-]*\s*$", re.M)
_DATE = re.compile(r"^\W*Date:?\W*(\d{4}-\d\d-\d\d)", re.M)
_GATES = {"allow": "allow", "hold": "hold", "discard": "discard"}


@dataclass(frozen=True, slots=True)
class ParsedFact:
    """One fact as the model put it; what it left out is None."""

    text: str
    priority: Priority | None = None
    time: str | None = None
    gate: str | None = None
    confidence: float | None = None
    category: str | None = None
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class ParsedSegment:
    """A narrative and its facts."""

    narrative: str
    facts: tuple[ParsedFact, ...]

    @property
    def priority(self) -> Priority | None:
        """The highest priority in it (A21)."""
        order: tuple[Priority, ...] = ("high", "medium", "low")
        return next((p for p in order if any(fact.priority == p for fact in self.facts)), None)


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """What was read, and which way."""

    path: ParsePath
    segments: tuple[ParsedSegment, ...] = ()
    current_task: str | None = None
    suggested_response: str | None = None
    date: str | None = None
    thread_title: str | None = None
    used_ids: tuple[str, ...] = ()
    """Earlier memories that the answer says it used."""

    @property
    def facts(self) -> tuple[ParsedFact, ...]:
        """The facts of all segments, in order."""
        return tuple(fact for segment in self.segments for fact in segment.facts)


def parse_answer(raw: str) -> ParsedAnswer:
    """Returns what the answer says, however badly it is formed."""
    text = _unwrapped(raw)
    if (structured := _structured(text)) is not None:
        return structured
    task, response = _inside(_TASK, text), _inside(_RESPONSE, text)
    path, segments = _read(_RESPONSE.sub("", _TASK.sub("", text)))
    date = _DATE.search(text)
    return ParsedAnswer(path, segments, task, response, date[1] if date else None)


def _unwrapped(raw: str) -> str:
    """Returns the answer without a byte-order mark, code fences and HTML escapes."""
    text = raw.replace("\ufeff", "").replace("\r\n", "\n").replace("\x00", "")
    for _ in range(UNESCAPES):
        if "<" in text or "lt;" not in text:
            break
        text = html.unescape(text)
    return _FENCE.sub("", text)


def _read(text: str) -> tuple[ParsePath, tuple[ParsedSegment, ...]]:
    """Returns the path and the segments: the strictest form that yields anything."""
    blocks = [match[1] for match in _SEGMENT.finditer(text)]
    if segments := _distinct(_segment(block) for block in blocks):
        return "segments", segments
    bodies = [match[1] for match in _OBSERVATIONS.finditer(text)] or [text]
    lines = [line for body in bodies for line in body.splitlines()]
    if facts := _facts(lines, lambda line: bool(_MARK.match(_BULLET.sub("", line).lstrip("*_ ")))):
        return "flat", (ParsedSegment("", facts),)
    if facts := _facts(lines, lambda line: bool(_BULLET.match(line))):
        return "list", (ParsedSegment("", facts),)
    rest = " ".join(_TAG.sub(" ", " ".join(lines)).split())
    return ("raw", (ParsedSegment("", (ParsedFact(rest[:RAW_CHARS], gate="hold"),)),)) if rest else ("empty", ())


def _segment(block: str) -> ParsedSegment:
    """Returns one segment: its narrative, and each line of the rest that is marked or a bullet."""
    narrative = _NARRATIVE.search(block)
    rest = _NARRATIVE.sub("", block)
    facts = _facts(rest.splitlines(), lambda line: bool(_BULLET.match(line) or _MARK.search(line[:8])))
    return ParsedSegment(_cleaned(narrative[1]) if narrative else "", facts)


def _distinct(segments: Iterator[ParsedSegment]) -> tuple[ParsedSegment, ...]:
    """Returns the segments that say something, each fact once: doubled answers were seen."""
    seen: set[str] = set()
    kept = []
    for segment in segments:
        facts = tuple(fact for fact in segment.facts if fact.text not in seen)
        seen |= {fact.text for fact in facts}
        if facts or (segment.narrative and segment.narrative not in seen):
            kept.append(ParsedSegment(segment.narrative, facts))
            seen.add(segment.narrative)
    return tuple(kept)


def _facts(lines: list[str], is_fact: Any) -> tuple[ParsedFact, ...]:
    """Returns the facts of the lines that are one; a line that is none goes on with the fact before it."""
    texts: list[str] = []
    for line in lines:
        bare = _TAG.sub(" ", line)
        if is_fact(bare):
            texts.append(bare)
        elif texts and bare.strip() and bare[:1].isspace() and not bare.lstrip().startswith("#"):
            texts[-1] = f"{texts[-1].rstrip()} {bare.strip()}"
    found = dict.fromkeys(_fact(text) for text in texts)
    return tuple(fact for fact in found if fact.text)


def _fact(line: str) -> ParsedFact:
    """Returns one marked line as a fact: mark, time and annotations in any order, then the text."""
    text, priority, time, notes, is_done = _BULLET.sub("", line).strip(), None, None, {}, False
    for _ in range(6):
        before = text
        text = text.lstrip("*_ ")
        if mark := _MARK.match(text):
            symbol = mark[0][0]
            priority, is_done = priority or _MARKS[symbol], is_done or symbol == "✅"
            text = text[mark.end() :].lstrip()
        if clock := _TIME.match(text):
            time = time or (f"{int(clock[1]):02d}:{clock[2]}" if clock[1] else None)
            text = text[clock.end() :].lstrip()
        if annotated := _NOTES.match(text):
            notes |= {key.lower(): value for key, value in _NOTE.findall(annotated[1])}
            text = text[annotated.end() :].lstrip()
        if text == before:
            break
    text = " ".join(text.replace("**", "").split())
    return ParsedFact(text, priority, time, *_notes(notes), is_done)


def _notes(notes: dict[str, str]) -> tuple[str | None, float | None, str | None]:
    """Returns verdict, confidence and category; what cannot be understood is as good as absent."""
    category = notes.get("category")
    return (
        _GATES.get(notes.get("gate", "").lower()),
        _share(notes.get("confidence")),
        re.sub(r"^[a-z]+:", "", category.lower()) if category else None,
    )


def _share(value: Any) -> float | None:
    """Returns a number between 0 and 1, a percentage divided; None for anything else."""
    try:
        number = float(str(value).rstrip("%"))
    except (TypeError, ValueError):
        return None
    number = number / 100 if 1 < number <= 100 else number
    return number if 0 <= number <= 1 else None


def _inside(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return (_cleaned(match[1]) or None) if match else None


def _cleaned(text: str) -> str:
    return "\n".join(line for line in (" ".join(_TAG.sub(" ", raw).split()) for raw in text.splitlines()) if line)


def _structured(text: str) -> ParsedAnswer | None:
    """Returns a JSON answer, or nothing where there is none; a truncated one is left to the other paths."""
    start = text.find("{")
    if start < 0 or text[:start].strip(" \n`json:"):
        return None
    try:
        answer, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return _salvaged(text[start:])
    if not isinstance(answer, dict):
        return None
    segments = _structured_segments(answer)
    return ParsedAnswer(
        "structured" if segments else "empty",
        segments,
        _word(answer, "currentTask", "current_task"),
        _word(answer, "suggestedContinuation", "suggestedResponse", "suggested_response"),
        _word(answer, "date"),
        _word(answer, "threadTitle", "thread_title"),
        tuple(str(used) for used in _list(answer.get("usedObservationIds") or answer.get("used_observation_ids"))),
    )


def _salvaged(text: str) -> ParsedAnswer | None:
    """Returns the facts of a JSON answer that was cut off: every whole text, and the lines of `observations`."""
    if not re.search(r'"(?:observations|segments|facts|hasMemory)"', text):
        return None
    whole = re.findall(r'"(?:text|fact|observation|content)"\s*:\s*"((?:[^"\\]|\\.)*)"', text)
    logs = re.findall(r'"observations"\s*:\s*"((?:[^"\\]|\\.)*)', text)
    texts = [_unquoted(item) for item in whole]
    facts = tuple(_fact(item) for item in texts if item.strip())
    for log in logs:
        facts += _facts(_unquoted(log).splitlines(), lambda line: bool(_BULLET.match(line) or _MARK.search(line[:8])))
    facts = tuple(dict.fromkeys(fact for fact in facts if fact.text))
    return ParsedAnswer("structured", (ParsedSegment("", facts),)) if facts else None


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text.replace("\\n", "\n").replace('\\"', '"')


def _structured_segments(answer: dict[str, Any]) -> tuple[ParsedSegment, ...]:
    """Returns the segments of a JSON answer: a list of segments, of facts, or a log in one string."""
    if answer.get("hasMemory") is False:
        return ()
    listed = _list(answer.get("segments"))
    segments = [
        ParsedSegment(
            _word(item, "narrative", "summary") or "", _structured_facts(item.get("facts") or item.get("observations"))
        )
        for item in listed
        if isinstance(item, dict)
    ]
    loose = _structured_facts(answer.get("observations") or answer.get("facts"))
    return _distinct(iter([*segments, *([ParsedSegment("", loose)] if loose else [])]))


def _structured_facts(value: Any) -> tuple[ParsedFact, ...]:
    if isinstance(value, str):
        lines = value.splitlines()
        return _facts(lines, lambda line: bool(_BULLET.match(line) or _MARK.search(line[:8]))) or _facts(lines, str.strip)
    found = [_structured_fact(item) for item in _list(value)]
    return tuple(fact for fact in found if fact.text)


def _structured_fact(item: Any) -> ParsedFact:
    if not isinstance(item, dict):
        return _fact(str(item))
    read = _fact(_word(item, "text", "fact", "observation", "content") or "")
    named = (_word(item, "priority") or "").lower()
    priority = _NAMED.get(named) or _MARKS.get(named[:1]) or read.priority
    notes = {key: str(item[key]) for key in ("gate", "confidence", "category") if item.get(key) is not None}
    gate, confidence, category = _notes(notes)
    return ParsedFact(read.text, priority, _word(item, "time") or read.time, gate, confidence, category, read.is_done)


def _word(item: dict[str, Any], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := item.get(name), str) and value.strip()), None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
