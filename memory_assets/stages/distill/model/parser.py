"""Reads the answer of a model into segments and facts; tolerant, never silent, never raising.

Takes the raw text of an answer; gives narratives, facts with what the model said of each, the current task and the
suggested response, and the path that reading took: `segments` (A21 and TUT), `structured` (JSON, as DUET asks for),
`flat` (marked lines), `list` (any bullets), `raw` (the whole text as one held fact) or `empty`. It judges nothing:
what a fact may become is the gate's business.
"""

import html
import re
from dataclasses import replace

from memory_assets.stages.distill.model.parsed import ParsedAnswer, ParsedFact, ParsedSegment, ParsePath, each_once, without_cut
from memory_assets.stages.distill.model.structured_answer import read_structured
from memory_assets.stages.distill.rules.fact_lines import encodable, is_bullet, is_fact, is_marked, read_facts, without_tags

UNESCAPES = 3
"""Answers were seen escaped twice."""

RAW_CHARS = 300

_SEGMENT = re.compile(
    r"<\s{0,3}segment\b[^<>]*>(.*?)(?=<\s{0,3}/?\s{0,3}segment\b|<\s{0,3}/\s{0,3}observations\b|<\s{0,3}(?:current[-_ ]?task"
    r"|suggested[-_ ]?(?:response|continuation))\b|\Z)",
    re.S | re.I,
)
_NARRATIVE = re.compile(
    r"<\s{0,3}(?:narrative|context|summary|operational[-_]context)\b[^<>]*>(.*?)(?=<\s{0,3}/?\s{0,3}(?:narrative|context|summary"
    r"|operational|facts|segment|observations)\b|\Z)",
    re.S | re.I,
)
_OBSERVATIONS = re.compile(
    r"<\s{0,3}observations\b[^<>]*>(.*?)(?=<\s{0,3}/\s{0,3}observations\b|<\s{0,3}observations\b|<\s{0,3}(?:current[-_ ]?task"
    r"|suggested[-_ ]?(?:response|continuation))\b|\Z)",
    re.S | re.I,
)
_TASK = re.compile(r"<\s{0,3}current[-_ ]?task\b[^<>]*>(.*?)(?=<\s{0,3}/\s{0,3}current|<\s{0,3}suggested|\Z)", re.S | re.I)
_RESPONSE = re.compile(
    r"<\s{0,3}suggested[-_ ]?(?:response|continuation)\b[^<>]*>(.*?)(?=<\s{0,3}/\s{0,3}suggested|<\s{0,3}current|\Z)",
    re.S | re.I,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.M)
_DATE_LINE = re.compile(r"^[^\w\n]*Date:?[\W\d]*$", re.M)
_CUT_ESCAPE = re.compile(r"&(?:amp;?)*[a-z#\d]{0,6}$")
_OPENED = re.compile(r"<\s{0,3}(?:observations|segment|facts)\b", re.I)


def parse_answer(raw: str) -> ParsedAnswer:
    """Returns what the answer says, however badly it is formed."""
    text = _unwrapped(raw)
    if (structured := read_structured(text)) is not None:
        return structured
    task, response = _inside(_TASK, text), _inside(_RESPONSE, text)
    path, segments = _read(_RESPONSE.sub("\n", _TASK.sub("\n", text)))
    answer = ParsedAnswer(path, segments, task, response)
    if not _is_cut(text):
        return answer
    return replace(answer, path="empty", segments=()) if path == "raw" else without_cut(answer)


def _is_cut(text: str) -> bool:
    """Says whether the text ends behind an open tag, in the middle of what it holds."""
    last = text.rfind("<")
    tail = text[last:]
    opened = _OPENED.search(text)
    return opened is not None and not re.match(r"<\s{0,3}/", tail) and not tail.rstrip().endswith(">")


def _unwrapped(raw: str) -> str:
    """Returns the answer without a byte-order mark, code fences and HTML escapes."""
    text = encodable(raw).replace("\ufeff", "").replace("\r\n", "\n").replace("\x00", "")
    for _ in range(UNESCAPES):
        if "<" in text or "lt;" not in text:
            break
        text = html.unescape(text)
    return _FENCE.sub("", text)


def _read(text: str) -> tuple[ParsePath, tuple[ParsedSegment, ...]]:
    """Returns the path and the segments: the strictest form that yields anything."""
    told = [_segment(match[1]) for match in _SEGMENT.finditer(text)]
    if any(segment.facts or segment.narrative for segment in told):
        loose = read_facts(_SEGMENT.sub("\n", text).splitlines(), is_marked)
        return "segments", each_once([*told, ParsedSegment("", loose)])
    bodies = [match[1] for match in _OBSERVATIONS.finditer(text)] or [text]
    lines = [line for body in bodies for line in body.splitlines()]
    if facts := read_facts(lines, is_marked):
        return "flat", (ParsedSegment("", facts),)
    if facts := read_facts(lines, is_bullet):
        return "list", (ParsedSegment("", facts),)
    rest = " ".join(without_tags(" ".join(_DATE_LINE.sub("", "\n".join(lines)).split())).split())
    rest = rest if re.search(r"\w", _CUT_ESCAPE.sub("", rest)) else ""
    return ("raw", (ParsedSegment("", (ParsedFact(rest[:RAW_CHARS], gate="hold"),)),)) if rest else ("empty", ())


def _segment(block: str) -> ParsedSegment:
    """Returns one segment: its narrative, and each line of the rest that is marked or a bullet."""
    narrative = _NARRATIVE.search(block)
    rest = _NARRATIVE.sub("\n", block)
    facts = read_facts(rest.splitlines(), is_fact)
    return ParsedSegment(_cleaned(narrative[1]) if narrative else "", facts)


def _inside(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return (_cleaned(match[1]) or None) if match else None


def _cleaned(text: str) -> str:
    return "\n".join(line for line in (" ".join(without_tags(raw).split()) for raw in text.splitlines()) if line)
