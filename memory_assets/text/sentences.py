"""Splits the text of a message into sentences.

Takes Markdown of agents and people. Returns the sentences in order, without Markdown's marks. Each
has the line that introduces it (a heading, a bold title, "The fix is:") and the kind of its block:
prose, bullet, quotation, code or table.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

Place = Literal["prose", "bullet", "quote", "code", "table"]
_Kind = Literal["title", "blank"] | Place

LEAD_CHARS = 90
"""A longer line that ends with a colon is a sentence of its own, not a title."""

COMMAND_CHARS = 160
"""A code block of one line up to this length is a command or a value. It may belong to the sentence
before it.
"""

CALL = "[toolCall "
"""Beginning of a tool call, which is written below the text of its message; it is not prose."""

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
_LINE_END = re.compile(r"\n(?![ \t]*[a-z])")
_COMMON_WORD = re.compile(r"[a-z][a-z']*(?:[:,\s]|\.?(?:\s|$))")
STRAIGHT = str.maketrans("‘’‛′", "'" * 4)
"""Typographic apostrophes → plain ones; one letter for one, so that offsets stay valid."""

_NO_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|etc|cf|approx|resp|incl|no|fig|St|Dr|Mr|Ms)\.|\b[A-Za-z]\."
    r"|^\W*\d{1,2}\.|\.\.)$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, the line that introduces it, and its block in the message."""

    text: str
    place: Place = "prose"
    lead: str = ""
    block: int = 0
    """The number of its block; sentences of one paragraph or bullet have the same number."""


def split_message(text: str) -> list[Sentence]:
    """Returns the sentences of the message in order."""
    sentences: list[Sentence] = []
    title = lead = ""
    for number, (place, content) in enumerate(_blocks(text)):
        if place == "code":
            sentences = _with_command(sentences, content)
            continue
        cleaned = plain(content)
        if place == "title":
            title = cleaned
            lead = ""
        elif place != "blank" and cleaned:
            if place == "prose":
                is_lead = cleaned.endswith(":") and len(cleaned) <= LEAD_CHARS
                lead = cleaned[:-1] if is_lead else ""
            introduction = lead if lead and place == "bullet" else title
            for sentence in split_sentences(cleaned):
                sentences.append(Sentence(sentence, place, introduction, number))
    return sentences


def split_sentences(text: str) -> list[str]:
    """Returns the sentences of one line of plain text."""
    return [text[first:last] for first, last in _spans(text, 0, len(text))]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Returns the spans (start, end) of the sentences of a text.

    A sentence continues in the next line only if that line begins with a small letter.
    """
    starts = [0, *(line_end.end() for line_end in _LINE_END.finditer(text))]
    lines = zip(starts, [*starts[1:], len(text)], strict=True)
    return [span for first, last in lines for span in _spans(text, first, last)]


def _spans(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the spans of the sentences of one line, without the white space around them."""
    for gap in [*_END.finditer(text, begin, end), None]:
        last = gap.end() if gap else end
        is_inside_code = gap and text.count("`", begin, gap.start()) % 2 == 1
        if gap and (is_inside_code or _NO_END.search(text[begin : gap.start()])):
            continue
        words = text[begin:last]
        if words.strip():
            yield begin + len(words) - len(words.lstrip()), begin + len(words.rstrip())
        begin = last


def capitalised(text: str) -> str:
    """Returns the text with a capital letter at its beginning.

    A text that begins with a name in code, such as `pkg/`, `useState` or `x86`, stays as it is.
    """
    return f"{text[:1].upper()}{text[1:]}" if _COMMON_WORD.match(text) else text


def plain(text: str) -> str:
    """Returns the line without Markdown's marks; backticks stay, because they mark names."""
    text = _LINK.sub(lambda link: link[1], text.translate(STRAIGHT))
    text = _ITALIC.sub(r"\1", _BOLD.sub(lambda bold: bold[1] or bold[2], text))
    return " ".join(_NUMBERED.sub("", _MARKS.sub("", text)).split())


def _blocks(text: str) -> list[tuple[_Kind, str]]:
    """Returns kind and content of each block: of a paragraph, a bullet, a table row and so on."""
    blocks: list[tuple[_Kind, list[str]]] = []
    is_code = False
    last: _Kind = "blank"
    """The kind of the block that the next line may belong to."""
    for line in text.splitlines():
        if _FENCE.match(line):
            is_code = not is_code
            last = "blank"
            if is_code:
                blocks.append(("code", []))
            continue
        kind, content = ("code", line) if is_code else _kind_of(line)
        if is_code or _continues(last, kind, line):
            blocks[-1][1].append(content)
            continue
        last = kind
        if kind != "blank":
            blocks.append((kind, [content]))
    return [(kind, ("\n" if kind == "code" else " ").join(lines)) for kind, lines in blocks]


def _continues(last: _Kind, kind: _Kind, line: str) -> bool:
    """Returns whether a line is prose that belongs to the block before it, of the kind `last`."""
    return kind == "prose" and (last == "prose" or (last == "bullet" and line[:1].isspace()))


def _kind_of(line: str) -> tuple[_Kind, str]:
    """Returns the kind of one line outside code blocks, and its words."""
    stripped = line.strip()
    if not stripped or _RULE.match(line) or _DIRECTIVE.match(line) or stripped.startswith(CALL):
        return "blank", ""
    title = _HEADING.match(line) or _BOLD_LINE.match(line)
    if title:
        return "title", title[1].rstrip(":")
    if stripped.startswith("|") and stripped.endswith("|"):
        return "table", stripped
    if stripped.startswith(">"):
        return "quote", stripped.lstrip("> ")
    bullet = _BULLET.match(line)
    if bullet:
        return "bullet", line[bullet.end() :].strip()
    return "prose", stripped


def _with_command(sentences: list[Sentence], code: str) -> list[Sentence]:
    """Returns the sentences; code of one line is appended to the last, if that introduces it."""
    stripped = map(str.strip, code.strip().splitlines())
    lines = [line for line in stripped if line and not line.startswith("#")]
    if not sentences or len(lines) != 1 or len(lines[0]) > COMMAND_CHARS:
        return sentences
    *earlier, last = sentences
    if not last.text.endswith((":", "with", "run")):
        return sentences
    return [*earlier, replace(last, text=f"{last.text.rstrip(':')}: `{lines[0].strip('`')}`")]
