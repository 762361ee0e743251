"""Renders, finds and replaces the block of published lines in the bytes of a file.

Every other byte of the file stays: line endings, a mark of byte order, a missing end of the last
line. A block that cannot be read for certain is an error, and never guessed at.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain

from memory_assets.errors import ReviewError
from memory_assets.stages.triage.memory_md import line_ending, read_entries
from memory_assets.text.files import UTF8_BOM
from memory_assets.text.published_block import BEGIN, END, hides_lines
from memory_assets.text.words import squeezed, text_hash

ID_DIGITS = 12
TITLE = "## Project memory"
CONFLICT = tuple(mark * 7 for mark in "<=>|")
"""How the lines begin that git puts around a conflict."""


@dataclass(frozen=True)
class BlockLine:
    """A line between the marks: the section above it and its text, without bullet and date."""

    section: str
    text: str
    written: str
    """The line as it is in the file."""


@dataclass(frozen=True)
class PublishedBlock:
    """The block of a file: where it is, which publication it comes from, and its lines."""

    start: int
    end: int
    id: str
    """Empty where the mark has none."""
    lines: tuple[BlockLine, ...]


def find_block(content: bytes, name: str) -> PublishedBlock | None:
    """Returns the block in the file of this name; raises `ReviewError` if it is damaged."""
    beginnings = content.count(BEGIN.encode())
    ends = content.count(END.encode())
    if not beginnings and not ends:
        return None
    start = content.find(BEGIN.encode())
    end = content.find(END.encode())
    head, *lines = content[start:end].decode("utf-8", "replace").split("\n")
    problem = ""
    if (beginnings, ends) != (1, 1) or start > end:
        problem = f"has {beginnings} beginnings and {ends} ends"
    elif any(line.startswith(CONFLICT) for line in lines):
        problem = "has marks of a merge conflict"
    elif hides_lines(head, lines):
        problem = "has lines inside of a comment"
    if problem:
        raise ReviewError(
            f"The published block of {name} {problem}. Resolve that by hand, or delete the block "
            "with its marks, then run `memory project publish`."
        )
    id = head.removeprefix(BEGIN).partition(",")[0].strip()
    return PublishedBlock(start, end + len(END), id, tuple(_parse_lines(lines)))


def _parse_lines(lines: Sequence[str]) -> Iterator[BlockLine]:
    section = ""
    for line in map(str.strip, lines):
        if line.startswith("#"):
            section = line.strip("# ")
        elif line:
            entries = read_entries(line)
            text = entries[0].text if entries else line.lstrip("-*+ ")
            yield BlockLine(section, squeezed(text), line)


def block_id(lines: Sequence[str]) -> str:
    """Returns the id of a publication of these lines."""
    return text_hash("\n".join(lines))[:ID_DIGITS]


def render_block(sections: Mapping[str, Sequence[str]], day: date) -> list[str]:
    """Returns the lines of the block for sections with entries; none without any."""
    entries = [*chain.from_iterable(sections.values())]
    how = "`memory project publish` writes them; its owner is asked about your edits."
    block = [f"{BEGIN} {block_id(entries)}, {day}. {how} -->", TITLE]
    for section, lines in sections.items():
        block += ["", f"### {section or 'Notes'}", "", *lines] if lines else []
    return [*block, END] if entries else []


def with_block(content: bytes, block: PublishedBlock | None, lines: Sequence[str]) -> bytes:
    """Returns the file with these lines in place of the block, or at its end."""
    ending = line_ending(content)
    new = ending.join(line.encode() for line in lines)
    if block:
        return content[: block.start] + new + content[block.end :]
    blank = ending if content.endswith(b"\n") else ending * 2
    return content + (blank if content.removeprefix(UTF8_BOM) else b"") + new + ending
