"""Parses answers in JSON, as in DUET: segments, a list of facts, or a log in one string; complete or cut off."""

import json
import re
from typing import Any

from memory_assets.schema.records import Priority
from memory_assets.stages.distill.model.fact_lines import MARKS, encodable, is_fact, parse_fact, parse_facts, parse_notes
from memory_assets.stages.distill.model.parsed import ParsedAnswer, ParsedFact, ParsedSegment, unrepeated

_CUT_ESCAPE = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?\\(?:u[0-9a-fA-F]{0,3})?$")
_NAMED: dict[str, Priority] = {"high": "high", "medium": "medium", "low": "low"}


def parse_structured(text: str) -> ParsedAnswer | None:
    """Returns a JSON answer, or None if the text is not JSON."""
    start = text.find("{")
    if start < 0 or text[:start].strip(" \n`json:"):
        return None
    try:
        answer, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return _parse_cut(text[start:])
    segments = _segments(answer)
    return ParsedAnswer(
        "structured" if segments else "empty",
        segments,
        _word(answer, "currentTask", "current_task"),
        _word(answer, "suggestedContinuation", "suggestedResponse", "suggested_response"),
        _word(answer, "threadTitle", "thread_title"),
    )


def _parse_cut(text: str) -> ParsedAnswer | None:
    """Returns the facts of a JSON answer that was cut off: every complete text, and the complete lines of `observations`."""
    if not re.match(r'\{\s*(?:"|$)', text):
        return None
    texts = map(_unescape, re.findall(r'"(?:text|fact|observation|content)"\s*:\s*"((?:[^"\\]|\\.)*)"', text))
    found = [parse_fact(item) for item in texts if item.strip()]
    for log, end in re.findall(r'"(?:observations|facts)"\s*:\s*"((?:[^"\\]|\\.)*)("?)', text):
        lines = _unescape(log).splitlines()
        found += parse_facts(lines if end else lines[:-1], is_fact)
    facts = tuple(dict.fromkeys(fact for fact in found if fact.text))
    return ParsedAnswer("structured", (ParsedSegment("", facts),)) if facts else ParsedAnswer("empty")


def _unescape(text: str) -> str:
    text = _CUT_ESCAPE.sub("", text)
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text.replace("\\n", "\n").replace('\\"', '"')


def _segments(answer: dict[str, Any]) -> tuple[ParsedSegment, ...]:
    """Returns the segments of a JSON answer: a list of segments, a list of facts, or a log in one string."""
    if answer.get("hasMemory") is False:
        return ()
    listed = [item for item in _list(answer.get("segments")) if isinstance(item, dict)]
    parts = [(_word(item, "narrative", "summary") or "", item.get("facts") or item.get("observations")) for item in listed]
    parts.append(("", answer.get("observations") or answer.get("facts")))
    return unrepeated(ParsedSegment(narrative, _facts(value)) for narrative, value in parts)


def _facts(value: Any) -> tuple[ParsedFact, ...]:
    if isinstance(value, str):
        lines = value.splitlines()
        return parse_facts(lines, is_fact) or parse_facts(lines, str.strip)
    return tuple(fact for fact in map(_fact, _list(value)) if fact.text)


def _fact(item: Any) -> ParsedFact:
    if not isinstance(item, dict):
        return parse_fact(str(item))
    line = parse_fact(_word(item, "text", "fact", "observation", "content") or "")
    named = (_word(item, "priority") or "").lower()
    priority = _NAMED.get(named) or MARKS.get(named[:1]) or line.priority
    notes = parse_notes({key: str(item[key]) for key in ("gate", "confidence", "category") if item.get(key) is not None})
    return ParsedFact(line.text, priority, _word(item, "time") or line.time, *notes, line.is_done)


def _word(item: dict[str, Any], *names: str) -> str | None:
    return next((encodable(value) for name in names if isinstance(value := item.get(name), str) and value.strip()), None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
