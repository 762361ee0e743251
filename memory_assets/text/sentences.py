"""Cuts the text of a message into sentences that can stand alone.

Takes Markdown as agents and people write it; gives sentences in order, without the marks, each with the line that
leads to it (a heading, a bold title, "The fix is:") and where it stood. Code blocks, tables and quotations are not
prose: they are told apart here and judged elsewhere.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

Place = Literal["prose", "bullet", "quote", "code", "table"]
_Kind = Literal["prose", "bullet", "quote", "code", "table", "title", "blank"]

LEAD_CHARS = 90
"""A longer line that ends with a colon is a sentence of its own, not a title."""

COMMAND_CHARS = 160
"""A code block of one line up to this length is a command or a value and belongs to the sentence before it."""

CALL = "[toolCall "
"""How the calls that come with a text are written below it; they are no prose."""

_FENCE = re.compile(r"^\s{0,12}(```|~~~)")
_BULLET = re.compile(r"^(\s*)(?:[-*+•–]|\(?\d{1,2}[.)]|\(?[a-hA-H][.)])\s+(?=\S)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*$")
_BOLD_LINE = re.compile(r"^\s*\*\*([^*]+)\*\*\s*:?\s*$")
_DIRECTIVE = re.compile(r"^\s*::[a-z-]+\{")
_RULE = re.compile(r"^\s*(?:[-*_=]\s*){3,}$")
_LINK = re.compile(r"!?\[([^\]\n]+)\]\(([^()\s]*(?:\([^()]*\))?[^()\s]*)\)")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*|__(?=\S)(.+?)(?<=\S)__")
_ITALIC = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])")
_MARKS = re.compile(r"^[\s✅❌⚠️🔴🟡🟢✓✗☑️🎉👍]+")
_NUMBERED = re.compile(r"^(?:\d{1,2}[.)]|[A-H]\.)\s+(?=\S)")
_END = re.compile(r"""(?<=[.!?])["'”’)\]`]*\s+(?=["'“‘(\[`*]*[A-Z0-9`/~_.-])""")
STRAIGHT = str.maketrans("‘’‛′", "'" * 4)
"""Apostrophes are compared as typed on a keyboard; one character stands for one, so places in the text stay true."""

_NO_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|etc|cf|approx|resp|incl|no|fig|St|Dr|Mr|Ms)\.|\b[A-Za-z]\.|^\W*\d{1,2}\.|\.\.)$", re.I
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, the line that leads to it, and where it stood in its message."""

    text: str
    place: Place = "prose"
    lead: str = ""
    block: int = 0
    """Sentences of one paragraph or bullet share it."""


def split_message(text: str) -> list[Sentence]:
    """Returns the sentences of the message in order."""
    found: list[Sentence] = []
    title = lead = ""
    lead_is_open = False
    for number, (place, content) in enumerate(_blocks(text)):
        if place == "code":
            found = _with_command(found, content)
            continue
        if place == "title":
            title, lead, lead_is_open = plain(content), "", False
            continue
        cleaned = plain(content)
        if place == "blank" or not cleaned:
            continue
        if place == "prose" and lead_is_open:
            lead_is_open, lead = False, ""
        if place == "prose" and cleaned.endswith(":") and len(cleaned) <= LEAD_CHARS:
            lead, lead_is_open = cleaned[:-1], True
        for sentence in split_sentences(cleaned):
            found.append(Sentence(sentence, place, (lead if place == "bullet" else "") or title, number))
    return found


def split_sentences(text: str) -> list[str]:
    """Returns the sentences of one line of plain text."""
    pieces, begin = [], 0
    for gap in _END.finditer(text):
        if _NO_END.search(text[begin : gap.start()]) or _is_inside_code(text, begin, gap.start()):
            continue
        pieces.append(text[begin : gap.end()].strip())
        begin = gap.end()
    pieces.append(text[begin:].strip())
    return [piece for piece in pieces if piece]


def plain(text: str) -> str:
    """Returns the line without Markdown's marks; code marks stay, since they tell names from words."""
    text = _LINK.sub(lambda link: link[1], text.translate(STRAIGHT))
    text = _ITALIC.sub(r"\1", _BOLD.sub(lambda bold: bold[1] or bold[2], text))
    return " ".join(_NUMBERED.sub("", _MARKS.sub("", text)).split())


def _blocks(text: str) -> list[tuple[_Kind, str]]:
    """Returns (kind, content) of each paragraph, bullet, title, quotation, table row and code block."""
    found: list[tuple[_Kind, str]] = []
    code: list[str] | None = None
    is_fresh = True
    for line in text.splitlines():
        if _FENCE.match(line):
            if code is None:
                code = []
            else:
                found.append(("code", "\n".join(code)))
                code, is_fresh = None, True
            continue
        if code is not None:
            code.append(line)
            continue
        kind, content = _kind_of(line)
        goes_on = found and not is_fresh and (found[-1][0] == "prose" or (found[-1][0] == "bullet" and line[:1].isspace()))
        if kind == "prose" and goes_on:
            found[-1] = (found[-1][0], f"{found[-1][1]} {content}")
        elif kind != "blank":
            found.append((kind, content))
        is_fresh = kind in ("blank", "title", "table")
    if code is not None:
        found.append(("code", "\n".join(code)))
    return found


def _kind_of(line: str) -> tuple[_Kind, str]:
    """Returns what one line outside a code block is, and its words."""
    stripped = line.strip()
    if not stripped or _RULE.match(line) or _DIRECTIVE.match(line) or stripped.startswith(CALL):
        return "blank", ""
    if title := _HEADING.match(line) or _BOLD_LINE.match(line):
        return "title", title[1].rstrip(":")
    if stripped.startswith("|") and stripped.endswith("|"):
        return "table", stripped
    if stripped.startswith(">"):
        return "quote", stripped.lstrip("> ")
    if bullet := _BULLET.match(line):
        return "bullet", line[bullet.end() :].strip()
    return "prose", stripped


def _with_command(found: list[Sentence], code: str) -> list[Sentence]:
    """Returns the sentences, the last one completed by a code block of one line when it announces it."""
    lines = [line.strip() for line in code.strip().splitlines() if line.strip() and not line.strip().startswith("#")]
    if not found or len(lines) != 1 or len(lines[0]) > COMMAND_CHARS or not found[-1].text.endswith((":", "with", "run")):
        return found
    last = found[-1]
    return [*found[:-1], replace(last, text=f"{last.text.rstrip(':')}: `{lines[0].strip('`')}`")]


def _is_inside_code(text: str, begin: int, end: int) -> bool:
    return text.count("`", begin, end) % 2 == 1
