"""Parses and edits MEMORY.md, one line at a time; docs/memory-md.md is the contract.

An entry is `- (YYYY-MM-DD) text` under a `## Section`. Everything else was written by hand and
keeps every byte: an insertion adds one line after the last line of its section, before any heading
below it, with the file's own line ending; a replacement changes the named line, if it is unchanged.
A fenced block of code holds neither headings nor entries.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memory_assets.text.markdown import keep_brackets
from memory_assets.text.visible import visible
from memory_assets.text.words import squeezed

MOST_ENTRIES = 200
MOST_BYTES = 25_000
"""More than this is too much for a session; time to prune."""

FILE_HINT = "Edit freely: what you write stays."
"""For people: ends the line below the title of a new file; the briefing leaves that line out."""

NEW_FILE = f"# MEMORY\n\nWhat every session should know. {FILE_HINT}\n"
_ENTRY = re.compile(r"^\s*[-*]\s+\((\d{4}-\d{2}-\d{2})\)\s+(.*\S)\s*$")
_ANY_HEADING = re.compile(r"^(#{1,6})(?:\s|$)")
_SECTION = re.compile(r"^##\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
BYTE_ORDER_MARK = "\ufeff".encode()
_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
"""Lines end as for git, so line numbers agree."""


@dataclass(frozen=True)
class Entry:
    """One dated line."""

    number: int
    """Line number, from 1."""
    section: str
    on: date
    text: str


@dataclass(frozen=True)
class MarkdownLine:
    """One line of the file: its text, its depth as a heading (0: none), and whether it is code."""

    text: str
    depth: int
    is_code: bool

    @property
    def section(self) -> str | None:
        """The section that the line opens."""
        match = _SECTION.match(self.text) if self.depth == 2 else None
        return match[1] if match else None


def read_entries(content: str) -> list[Entry]:
    """Returns the dated entries of the file, in order."""
    section = ""
    entries: list[Entry] = []
    texts = [text.rstrip("\r") for text in content.split("\n")]
    for number, line in enumerate(_parse_lines(texts), 1):
        if line.depth:
            section = line.section or ("" if line.depth < 2 else section)
            continue
        match = None if line.is_code else _ENTRY.match(line.text)
        on = _date(match[1]) if match else None
        if match and on:
            entries.append(Entry(number, section, on, match[2]))
    return entries


def render_outline(contents: Mapping[str, str], sections: Collection[str]) -> str:
    """Returns a table in Markdown of the files' sections: entries, and dates of the first and the
    last; no words of a file.

    A section is named if it is one of `sections`: another name is the owner's own text.
    """
    lines = ["| file | section | entries | first | last |", "|---|---|---:|---|---|"]
    for file, content in contents.items():
        dates: dict[str, list[date]] = defaultdict(list)
        for entry in read_entries(content):
            name = entry.section if entry.section in sections else "a section of your own"
            dates[name if entry.section else "no section"].append(entry.on)
        for name, on in dates.items():
            lines.append(f"| {file} | {name} | {len(on)} | {min(on)} | {max(on)} |")
        if not dates:
            lines.append(f"| {file} | no entries yet | 0 | | |")
    return "\n".join(lines)


def render_entry(on: date, text: str) -> str:
    """Returns the line of an entry."""
    return f"- ({on.isoformat()}) {squeezed(visible(text))}"


def written_line(on: date, text: str) -> str:
    """Returns the line to write for a promoted text: Markdown shows all of it."""
    return render_entry(on, keep_brackets(squeezed(text)))


def insert(content: bytes, section: str, line: str, order: Sequence[str] = ()) -> bytes:
    """Returns the file with the line at the end of its section, which is added if it is missing.

    Every other byte stays. `order` is the order of the sections.
    """
    raw = _LINE.findall(content or NEW_FILE.encode())
    lines = _parse_raw(raw)
    ending = line_ending(content)
    place = _end_of_section(lines, section)
    new = [line.encode() + ending]
    if place is None:
        place = _place_of_new(lines, section, order)
        new = [b"## " + section.encode() + ending, ending, *new]
        if place and lines[place - 1].text.strip():
            new.insert(0, ending)
        if place < len(raw):
            new.append(ending)
    if place and not raw[place - 1].endswith(b"\n"):
        new.insert(0, ending)
    return b"".join([*raw[:place], *new, *raw[place:]])


def change(
    content: bytes, section: str, line: str, replaces: str, order: Sequence[str] = ()
) -> bytes | None:
    """Returns the file with the line in place of another one; None if there is nothing to change.

    Without `replaces` the line is added, unless an entry says it already; without `line` the other
    one is removed. A line that somebody has changed or removed since is left alone.
    """
    if not replaces:
        return None if says(content, line) else insert(content, section, line, order)
    raw = _LINE.findall(content)
    texts = [None if parsed.is_code else parsed.text.strip() for parsed in _parse_raw(raw)]
    if replaces.strip() not in texts:
        return None
    at = texts.index(replaces.strip())
    old = raw[at]
    ending = old[len(old.rstrip(b"\r\n")) :]
    has_mark = at == 0 and old.startswith(BYTE_ORDER_MARK)
    new = BYTE_ORDER_MARK if has_mark else b""
    if line and not says(content, line):
        new += line.encode() + ending
    return b"".join([*raw[:at], new, *raw[at + 1 :]])


def says(content: bytes, line: str) -> bool:
    """Returns whether an entry of the file has the words of the line, whatever its date and
    markup.
    """
    wanted = normal(read_entries(line)[0].text)
    entries = read_entries(content.decode("utf-8", "replace"))
    return any(normal(entry.text) == wanted for entry in entries)


def normal(text: str) -> str:
    """Returns the text for comparison: lower case, without markup, punctuation and spacing."""
    return " ".join(re.findall(r"[\w./:@#~+-]*\w", text.lower()))


def _parse_raw(raw: Sequence[bytes]) -> list[MarkdownLine]:
    return list(_parse_lines([part.rstrip(b"\r\n").decode("utf-8", "replace") for part in raw]))


def _parse_lines(texts: Sequence[str]) -> Iterator[MarkdownLine]:
    code = _code_lines(texts)
    for number, whole in enumerate(texts):
        text = whole.removeprefix("\ufeff") if number == 0 else whole
        heading = None if number in code else _ANY_HEADING.match(text)
        yield MarkdownLine(text, len(heading[1]) if heading else 0, number in code)


def _code_lines(texts: Sequence[str]) -> set[int]:
    """Returns the lines of fenced blocks; an unclosed fence is still being typed, and hides
    nothing.
    """
    numbers: set[int] = set()
    opened = 0
    fence = ""
    for number, text in enumerate(texts):
        mark = _FENCE.match(text)
        if mark and not fence:
            opened = number
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and text.strip() == mark[1]:
            numbers.update(range(opened, number + 1))
            fence = ""
    return numbers


def _end_of_section(lines: Sequence[MarkdownLine], section: str) -> int | None:
    """Returns where the section's own lines end, before trailing blank lines and any heading inside
    it.
    """
    wanted = section.casefold()
    sections = [(line.section or "").casefold() for line in lines]
    if wanted not in sections:
        return None
    end = sections.index(wanted) + 1
    for number, line in enumerate(lines[end:], end + 1):
        if line.depth:
            break
        if line.text.strip() or line.is_code:
            end = number
    return end


def _place_of_new(lines: Sequence[MarkdownLine], section: str, order: Sequence[str]) -> int:
    """Returns the line before which a new section goes: the first section that is later in the
    order, else the end.
    """
    position = order.index(section) + 1 if section in order else len(order)
    later = {name.casefold() for name in order[position:]}
    for number, line in enumerate(lines):
        if line.section and line.section.casefold() in later:
            return number
    return len(lines)


def line_ending(content: bytes) -> bytes:
    """Returns the line ending that the file uses most."""
    return b"\r\n" if content.count(b"\r\n") * 2 > content.count(b"\n") else b"\n"


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
