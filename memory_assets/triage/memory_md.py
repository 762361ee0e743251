"""MEMORY.md: read as text with sections and entries, changed by inserting lines, never by rewriting.

An entry is `- (YYYY-MM-DD) text` under a `## Section`. Whatever else the file holds was written by hand and keeps every byte:
an insertion puts one line after the last line of its section, with the file's own line ending.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

MANY_ENTRIES = 200
"""More entries than a briefing can carry; time to prune."""

NEW_FILE = "# MEMORY\n\nWhat every session should know. Edit freely: what you write stays.\n"
_ENTRY = re.compile(r"^\s*[-*]\s+\((\d{4}-\d{2}-\d{2})\)\s+(.*\S)\s*$")
_HEADING = re.compile(r"^##\s+(.*?)\s*#*\s*$")


@dataclass(frozen=True)
class Entry:
    """One dated line."""

    number: int
    """Line number, from 1."""
    section: str
    on: date
    text: str


def read_entries(content: str) -> list[Entry]:
    """Returns the dated entries of the file, in order."""
    section, found = "", []
    for number, line in enumerate(content.replace("\r\n", "\n").split("\n"), 1):
        if heading := _HEADING.match(line):
            section = heading[1]
        elif (entry := _ENTRY.match(line)) and (on := _date(entry[1])):
            found.append(Entry(number, section, on, entry[2]))
    return found


def render_entry(on: date, text: str) -> str:
    """Returns the line of an entry."""
    return f"- ({on.isoformat()}) {' '.join(text.split())}"


def insert(content: bytes, section: str, line: str, order: Sequence[str] = ()) -> bytes:
    """Returns the file with the line at the end of its section; a section that is not there yet is appended.

    Every byte that was there stays, in order. `order` names the sections in the order in which new ones should stand.
    """
    ending = b"\r\n" if b"\r\n" in content else b"\n"
    lines = content.splitlines(keepends=True) if content else NEW_FILE.encode().splitlines(keepends=True)
    found = _section_end(lines, section)
    if found is None:
        place = _place_of_new(lines, section, order)
        new = [ending if place and lines[place - 1].strip() else b"", f"## {section}".encode() + ending, ending, line.encode() + ending]
        if place < len(lines):
            new.append(ending)
    else:
        place, new = found, [line.encode() + ending]
    before = lines[:place]
    if before and not before[-1].endswith((b"\n", b"\r")):
        new.insert(0, ending)
    return b"".join([*before, *new, *lines[place:]])


def normal(text: str) -> str:
    """Returns the text as it is compared: lower case, without markup, punctuation and spacing."""
    return " ".join(re.findall(r"[\w./:@#~+-]*\w", text.lower()))


def _section_end(lines: list[bytes], section: str) -> int | None:
    inside, end = False, None
    for index, raw in enumerate(lines):
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if re.match(r"^#{1,2}\s", line):
            if inside:
                return end
            heading = _HEADING.match(line)
            inside = heading is not None and heading[1].casefold() == section.casefold()
            end = index + 1
        elif inside and line.strip():
            end = index + 1
    return end if inside else None


def _place_of_new(lines: list[bytes], section: str, order: Sequence[str]) -> int:
    later = {name.casefold() for name in order[order.index(section) + 1 :]} if section in order else set()
    for index, raw in enumerate(lines):
        heading = _HEADING.match(raw.decode("utf-8", "replace").rstrip("\r\n"))
        if heading and heading[1].casefold() in later:
            return index
    return len(lines)


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
