"""Reads MEMORY.md into sections, and fits sections into the budget of a briefing.

A line that does not fit ends its section, not the briefing, and a note names what was cut. Texts
are quoted material: no line can open or close markup.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from memory_assets.stages.recall.results import one_line
from memory_assets.stages.triage.memory_md import FILE_HINT
from memory_assets.text.words import CHARS_A_TOKEN

NAMED_CUTS = 4
WHOLE_LINE = 2_000
"""Characters of a line; people may write long ones into MEMORY.md."""


FIRST_SECTIONS = ("Hard Rules",)
"""Sections of MEMORY.md that come first, wherever they are in the file; the owner's follows them.
"""


@dataclass(frozen=True)
class BriefingSection:
    """One section of the briefing; `lines` can be cut from the end."""

    title: str
    lines: list[str]


Sections = list[BriefingSection]


def fit_sections(
    head: Sequence[str], sections: Sequence[BriefingSection], tokens: int, rest: str
) -> str:
    """Returns the sections in order, each as far as it fits; `rest` says where the rest is."""
    parts = [_quoted(section) for section in sections if section.lines]
    budget = tokens * CHARS_A_TOKEN
    everything = [*head, *chain.from_iterable(map(_block, parts))]
    if _length(everything) <= budget:
        return "\n".join(everything) + "\n"
    # What is cut is not known yet: there is room for the longest note.
    longest_first = sorted(parts, key=lambda part: -len(_name(part)))
    room = budget - _length([*head, "", _cut_note(longest_first, rest)])
    lines = [*head]
    cut: list[BriefingSection] = []
    for part in parts:
        shown = BriefingSection(part.title, _fitting(part, room))
        lines += _block(shown)
        room -= _length(_block(shown))
        if len(shown.lines) < len(part.lines):
            cut.append(part)
    return "\n".join([*lines, "", _cut_note(cut, rest)]) + "\n"


def _fitting(part: BriefingSection, room: int) -> list[str]:
    room -= _length(_heading(part))
    for count, line in enumerate(part.lines):
        room -= len(line) + 1
        if room < 0:
            return part.lines[:count]
    return part.lines


def _block(part: BriefingSection) -> list[str]:
    return [*_heading(part), *part.lines] if part.lines else []


def _heading(part: BriefingSection) -> list[str]:
    return ["", f"## {part.title}"] if part.title else [""]


def _cut_note(parts: Sequence[BriefingSection], rest: str) -> str:
    names = [_name(part) for part in parts]
    more = f" and {len(names) - NAMED_CUTS} more" if len(names) > NAMED_CUTS else ""
    named = ", ".join(names[:NAMED_CUTS]) + more
    return f"_Cut to fit: {named}. {rest}_"


def _name(part: BriefingSection) -> str:
    return (part.title or "the beginning of MEMORY.md")[:40]


def _length(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _quoted(part: BriefingSection) -> BriefingSection:
    return BriefingSection(one_line(part.title), [*map(_quoted_line, part.lines)])


def _quoted_line(line: str) -> str:
    """Returns the line so that it cannot open or close markup or hide characters; its indentation
    stays.
    """
    plain = line.expandtabs(4)
    indent = plain[: len(plain) - len(plain.lstrip())]
    return f"{indent}{one_line(plain, WHOLE_LINE)}"


def memory_sections(memory_md: str, owner: str) -> tuple[Sections, Sections]:
    """Returns the rules of MEMORY.md, and its other sections, the owner's first, without title and
    blank lines.
    """
    top = BriefingSection("", [])
    section = top
    sections: dict[str, BriefingSection] = {}
    for line in memory_md.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        if line.startswith("## "):
            title = line[3:].strip()
            section = sections.setdefault(title.casefold(), BriefingSection(title, []))
        elif line.strip() and not line.startswith("# ") and not line.endswith(FILE_HINT):
            section.lines.append(line.rstrip())
    names = map(str.casefold, FIRST_SECTIONS)
    rules = [top, *(sections.pop(name) for name in names if name in sections)]
    of_owner = sections.pop(owner.casefold(), None)
    return rules, [*filter(None, [of_owner]), *sections.values()]
