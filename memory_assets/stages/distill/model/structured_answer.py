"""Reads answers in JSON, as DUET asks for them: segments, a list of facts, or a log in one string; cut off or whole."""

import json
import re
from typing import Any

from memory_assets.schema.records import Priority
from memory_assets.stages.distill.model.parsed import ParsedAnswer, ParsedFact, ParsedSegment, each_once
from memory_assets.stages.distill.rules.fact_lines import MARKS, encodable, is_fact, read_fact, read_facts, read_notes

_CUT_ESCAPE = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?\\(?:u[0-9a-fA-F]{0,3})?$")

_NAMED: dict[str, Priority] = {"high": "high", "medium": "medium", "low": "low"}


def read_structured(text: str) -> ParsedAnswer | None:
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
        _word(answer, "threadTitle", "thread_title"),
    )


def _salvaged(text: str) -> ParsedAnswer | None:
    """Returns the facts of a JSON answer that was cut off: every whole text, and the whole lines of `observations`."""
    if not re.match(r'\{\s*(?:"|$)', text):
        return None
    whole = re.findall(r'"(?:text|fact|observation|content)"\s*:\s*"((?:[^"\\]|\\.)*)"', text)
    logs = re.findall(r'"(?:observations|facts)"\s*:\s*"((?:[^"\\]|\\.)*)("?)', text)
    texts = [_unquoted(item) for item in whole]
    facts = tuple(read_fact(item) for item in texts if item.strip())
    for log, end in logs:
        lines = _unquoted(log).splitlines()
        facts += read_facts(lines if end else lines[:-1], is_fact)
    facts = tuple(dict.fromkeys(fact for fact in facts if fact.text))
    return ParsedAnswer("structured", (ParsedSegment("", facts),)) if facts else ParsedAnswer("empty")


def _unquoted(text: str) -> str:
    text = _CUT_ESCAPE.sub("", text)
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
    return each_once([*segments, *([ParsedSegment("", loose)] if loose else [])])


def _structured_facts(value: Any) -> tuple[ParsedFact, ...]:
    if isinstance(value, str):
        lines = value.splitlines()
        return read_facts(lines, is_fact) or read_facts(lines, str.strip)
    found = [_structured_fact(item) for item in _list(value)]
    return tuple(fact for fact in found if fact.text)


def _structured_fact(item: Any) -> ParsedFact:
    if not isinstance(item, dict):
        return read_fact(str(item))
    read = read_fact(_word(item, "text", "fact", "observation", "content") or "")
    named = (_word(item, "priority") or "").lower()
    priority = _NAMED.get(named) or MARKS.get(named[:1]) or read.priority
    notes = {key: str(item[key]) for key in ("gate", "confidence", "category") if item.get(key) is not None}
    gate, confidence, category = read_notes(notes)
    return ParsedFact(read.text, priority, _word(item, "time") or read.time, gate, confidence, category, read.is_done)


def _word(item: dict[str, Any], *names: str) -> str | None:
    return next((encodable(value) for name in names if isinstance(value := item.get(name), str) and value.strip()), None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
