"""MEMORY.md: read as text with sections and entries, changed one line at a time; docs/memory-md.md is the contract.

An entry is `- (YYYY-MM-DD) text` under a `## Section`. Whatever else the file holds was written by hand and keeps every byte:
an insertion puts one line after the last line of its section, before any heading below it, with the file's own line ending; a
replacement changes the one line that is named, if it still stands there as it was. What stands in a fenced block of code is
neither heading nor entry.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

MOST_ENTRIES, MOST_BYTES = 200, 25_000
"""More than this no session should carry; time to prune."""

NEW_FILE = "# MEMORY\n\nWhat every session should know. Edit freely: what you write stays.\n"
_ENTRY = re.compile(r"^\s*[-*]\s+\((\d{4}-\d{2}-\d{2})\)\s+(.*\S)\s*$")
_ANY_HEADING = re.compile(r"^(#{1,6})(?:\s|$)")
_SECTION = re.compile(r"^##\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
"""Lines end where git ends them, so that numbers agree with its own."""


@dataclass(frozen=True)
class Entry:
    """One dated line."""

    number: int
    """Line number, from 1."""
    section: str
    on: date
    text: str


@dataclass(frozen=True)
class Line:
    """One line of the file as it is read: its text, the depth of the heading that it is (0: none), whether it is code."""

    text: str
    depth: int
    is_code: bool

    @property
    def section(self) -> str | None:
        """The section that the line opens."""
        found = _SECTION.match(self.text) if self.depth == 2 else None
        return found[1] if found else None


def read_entries(content: str) -> list[Entry]:
    """Returns the dated entries of the file, in order."""
    section, found = "", []
    for number, line in enumerate(_read_lines([text.rstrip("\r") for text in content.split("\n")]), 1):
        if line.depth:
            section = line.section or ("" if line.depth < 2 else section)
        elif not line.is_code and (entry := _ENTRY.match(line.text)) and (on := _date(entry[1])):
            found.append(Entry(number, section, on, entry[2]))
    return found


def render_entry(on: date, text: str) -> str:
    """Returns the line of an entry."""
    return f"- ({on.isoformat()}) {' '.join(text.split())}"


def insert(content: bytes, section: str, line: str, order: Sequence[str] = ()) -> bytes:
    """Returns the file with the line at the end of its section; a section that is not there yet is added.

    Every byte that was there stays, in order. `order` names the sections in the order in which new ones should stand.
    """
    raw = _LINE.findall(content or NEW_FILE.encode())
    lines = list(_read_lines(_texts(raw)))
    ending = _ending(raw)
    place = _end_of_section(lines, section)
    if place is not None:
        new = [line.encode() + ending]
    else:
        place = _place_of_new(lines, section, order)
        new = [b"## " + section.encode() + ending, ending, line.encode() + ending]
        new = [*([ending] if place and lines[place - 1].text.strip() else []), *new, *([ending] if place < len(raw) else [])]
    if place and not raw[place - 1].endswith(b"\n"):
        new.insert(0, ending)
    return b"".join([*raw[:place], *new, *raw[place:]])


def change(content: bytes, section: str, line: str, replaces: str, order: Sequence[str] = ()) -> bytes | None:
    """Returns the file with the line in place of another one; None where there is nothing to change.

    Without `replaces` the line is added, unless an entry says it already; without `line` the other one goes. A line that is
    to be replaced is the one that was named, as it was: what somebody has reworded or removed since is left to them.
    """
    if not replaces:
        return None if says(content, line) else insert(content, section, line, order)
    raw = _LINE.findall(content)
    lines = list(_read_lines(_texts(raw)))
    at = next((n for n, one in enumerate(lines) if not one.is_code and one.text.strip() == replaces.strip()), None)
    if at is None:
        return None
    ending = raw[at][len(raw[at].rstrip(b"\r\n")) :]
    mark = "\ufeff".encode() if at == 0 and raw[0].startswith("\ufeff".encode()) else b""
    is_wanted = bool(line) and not says(content, line)
    return b"".join([*raw[:at], mark + (line.encode() + ending if is_wanted else b""), *raw[at + 1 :]])


def says(content: bytes, line: str) -> bool:
    """Returns whether some entry of the file has the words of the line, whatever its date and markup."""
    wanted = normal(read_entries(line)[0].text)
    return any(normal(entry.text) == wanted for entry in read_entries(content.decode("utf-8", "replace")))


def normal(text: str) -> str:
    """Returns the text as it is compared: lower case, without markup, punctuation and spacing."""
    return " ".join(re.findall(r"[\w./:@#~+-]*\w", text.lower()))


def _texts(raw: Sequence[bytes]) -> list[str]:
    return [part.rstrip(b"\r\n").decode("utf-8", "replace") for part in raw]


def _read_lines(texts: Sequence[str]) -> Iterator[Line]:
    code = _code_lines(texts)
    for number, whole in enumerate(texts):
        text = whole.removeprefix("\ufeff") if number == 0 else whole
        heading = None if number in code else _ANY_HEADING.match(text)
        yield Line(text, len(heading[1]) if heading else 0, number in code)


def _code_lines(texts: Sequence[str]) -> set[int]:
    """Returns the lines of fenced blocks; a fence that nobody closed is being typed, and hides nothing."""
    found, opened, fence = set(), 0, ""
    for number, text in enumerate(texts):
        mark = _FENCE.match(text)
        if mark and not fence:
            opened, fence = number, mark[1]
        elif mark and mark[1].startswith(fence) and text.strip() == mark[1]:
            found.update(range(opened, number + 1))
            fence = ""
    return found


def _end_of_section(lines: Sequence[Line], section: str) -> int | None:
    """Returns where the section's own lines end, before its blank lines and before any heading inside it."""
    wanted = section.casefold()
    start = next((at for at, line in enumerate(lines) if (line.section or "").casefold() == wanted and line.depth == 2), None)
    if start is None:
        return None
    end = start + 1
    for at in range(start + 1, len(lines)):
        if lines[at].depth:
            break
        if lines[at].text.strip() or lines[at].is_code:
            end = at + 1
    return end


def _place_of_new(lines: Sequence[Line], section: str, order: Sequence[str]) -> int:
    """Returns the line before which a new section stands: the first one that comes later in the order, else the end."""
    later = {name.casefold() for name in order[order.index(section) + 1 :]} if section in order else set()
    return next((at for at, line in enumerate(lines) if (line.section or "").casefold() in later - {""}), len(lines))


def _ending(raw: Sequence[bytes]) -> bytes:
    """Returns the line ending that the file uses most."""
    windows = sum(line.endswith(b"\r\n") for line in raw)
    return b"\r\n" if windows * 2 > sum(line.endswith(b"\n") for line in raw) else b"\n"


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
