"""Parses the answer of a model into segments and facts; tolerates malformed answers and never raises.

The path says how the answer was parsed: `segments` (A21 and TUT), `structured` (JSON, as in DUET), `flat` (marked lines),
`list` (any bullets), `raw` (the whole text as one held fact) or `empty`. The facts are not judged here.
"""

import html
import re
from dataclasses import replace

from memory_assets.stages.distill.model.fact_lines import encodable, is_bullet, is_fact, is_marked, parse_facts, without_tags
from memory_assets.stages.distill.model.parsed import ParsedAnswer, ParsedFact, ParsedSegment, ParsePath, mark_cut, unrepeated
from memory_assets.stages.distill.model.structured_answer import parse_structured

UNESCAPES = 3
"""Some answers are escaped twice."""

RAW_CHARS = 300

_TAIL = r"<\s{0,3}(?:current[-_ ]?task|suggested[-_ ]?(?:response|continuation))\b"


def _element(names: str, ends: str) -> re.Pattern[str]:
    """Returns a pattern for an element and its content, which extends to one of the ends or the end of the text."""
    return re.compile(rf"<\s{{0,3}}{names}\b[^<>]*>(.*?)(?={ends}|\Z)", re.S | re.I)


_SEGMENT = _element("segment", rf"<\s{{0,3}}/?\s{{0,3}}segment\b|<\s{{0,3}}/\s{{0,3}}observations\b|{_TAIL}")
_NARRATIVE = _element(
    "(?:narrative|context|summary|operational[-_]context)",
    r"<\s{0,3}/?\s{0,3}(?:narrative|context|summary|operational|facts|segment|observations)\b",
)
_OBSERVATIONS = _element("observations", rf"<\s{{0,3}}/\s{{0,3}}observations\b|<\s{{0,3}}observations\b|{_TAIL}")
_TASK = _element("current[-_ ]?task", r"<\s{0,3}/\s{0,3}current|<\s{0,3}suggested")
_RESPONSE = _element("suggested[-_ ]?(?:response|continuation)", r"<\s{0,3}/\s{0,3}suggested|<\s{0,3}current")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.M)
_DATE_LINE = re.compile(r"^[^\w\n]*Date:?[\W\d]*$", re.M)
_CUT_ESCAPE = re.compile(r"&(?:amp;?)*[a-z#\d]{0,6}$")
_OPENED = re.compile(r"<\s{0,3}(?:observations|segment|facts)\b", re.I)


def parse_answer(raw: str) -> ParsedAnswer:
    """Returns the content of the answer, however malformed it is."""
    text = _normalise(raw)
    if (structured := parse_structured(text)) is not None:
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
    return bool(_OPENED.search(text)) and not re.match(r"<\s{0,3}/", tail) and not tail.rstrip().endswith(">")


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
    found = [_segment(match[1]) for match in _SEGMENT.finditer(text)]
    if any(segment.facts or segment.narrative for segment in found):
        loose = parse_facts(_SEGMENT.sub("\n", text).splitlines(), is_marked)
        return "segments", unrepeated([*found, ParsedSegment("", loose)])
    bodies = [match[1] for match in _OBSERVATIONS.finditer(text)] or [text]
    lines = [line for body in bodies for line in body.splitlines()]
    if facts := parse_facts(lines, is_marked):
        return "flat", (ParsedSegment("", facts),)
    if facts := parse_facts(lines, is_bullet):
        return "list", (ParsedSegment("", facts),)
    rest = " ".join(without_tags(" ".join(_DATE_LINE.sub("", "\n".join(lines)).split())).split())
    if not re.search(r"\w", _CUT_ESCAPE.sub("", rest)):
        return "empty", ()
    return "raw", (ParsedSegment("", (ParsedFact(rest[:RAW_CHARS], gate="hold"),)),)


def _segment(block: str) -> ParsedSegment:
    """Returns one segment: its narrative, and the facts in the rest of the block."""
    return ParsedSegment(_inside(_NARRATIVE, block) or "", parse_facts(_NARRATIVE.sub("\n", block).splitlines(), is_fact))


def _inside(pattern: re.Pattern[str], text: str) -> str | None:
    """Returns the content of the first match, one line per line that has content, or None."""
    match = pattern.search(text)
    lines = match[1].splitlines() if match else []
    return "\n".join(filter(None, (" ".join(without_tags(line).split()) for line in lines))) or None
