"""Finds the block of published lines in a project's AGENTS.md or CLAUDE.md; `extras.project` writes
it.

    <!-- memory: begin published lines 3f2a9c1e0b7d, 2026-11-29. … -->
    ## Project memory

    ### Hard Rules

    - (2026-04-08) Use uv, never pip.
    <!-- memory: end published lines -->

Clients load these files. So the lines are removed from transcripts, and from the briefing of a
client that loads them. Imports the standard library only, because a harness waits for it.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection

BEGIN = "<!-- memory: begin published lines"
END = "<!-- memory: end published lines -->"
_BEFORE_LINES = " \t\r\n0123456789>|+:→-"
"""What tools print before a line: its number, the sign of a diff or of a quotation."""


def strip_published(text: str, *, keeps_numbers: bool = False) -> str:
    """Returns the text without published blocks; of one that was cut, without the lines that have
    the form of its own.

    A mark begins a block only at the beginning of a line; behind other words, it is named there.
    With `keeps_numbers` empty lines replace them, so that later lines have the same numbers.
    """
    pieces: list[str] = []
    at = 0
    mark = text.find(BEGIN)
    while mark >= 0:
        following = text.find(BEGIN, mark + 1)
        if not text[text.rfind("\n", 0, mark) + 1 : mark].strip(_BEFORE_LINES):
            pieces.append(text[at:mark])
            at = _end_of_block(text, mark)
            pieces.append("\n" * text.count("\n", mark, at) if keeps_numbers else "")
            following = text.find(BEGIN, at)
        mark = following
    return "".join([*pieces, text[at:]])


def _end_of_block(text: str, mark: int) -> int:
    """Returns where the block that begins at the mark ends; a cut one ends before the first line
    that is no heading, no entry and not empty.
    """
    end = text.find(END, mark)
    if end >= 0 and text.find(BEGIN, mark + 1, end) < 0:
        return end + len(END)
    at = _next_line(text, mark)
    while at < len(text):
        following = _next_line(text, at)
        shown = text[at:following].strip(_BEFORE_LINES)
        if shown and not shown.startswith(("#", "(2")):
            break
        at = following
    return at


def _next_line(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def published_lines(text: str) -> "frozenset[str]":
    """Returns the lines of the first block in the text; none where it has no end, or where a
    comment hides some.
    """
    block, end, _ = text.partition(BEGIN)[2].partition(END)
    head, *lines = block.split("\n")
    if not end or hides_lines(head, lines):
        return frozenset()
    return frozenset(map(str.strip, lines))


def hides_lines(head: str, lines: "list[str]") -> bool:
    """Returns whether a comment hides lines of a block from those who read the file: the line of
    its first mark does not end it, or a line below begins or ends one.
    """
    is_open = not head.rstrip().endswith("-->")
    return is_open or any("<!--" in line or "-->" in line for line in lines)


def without_lines(briefing: str, lines: "Collection[str]") -> str:
    """Returns the briefing without its entries that are among the lines, and without sections that
    have no other.
    """
    sections = briefing.split("\n\n## ")
    for number, section in enumerate(sections):
        texts = section.split("\n")
        others = [text for text in texts if not (text.startswith("- ") and text in lines)]
        is_empty = number > 0 and len(others) < len(texts) and not any(others[1:])
        sections[number] = "" if is_empty else "\n".join(others)
    return "\n\n## ".join([sections[0], *filter(None, sections[1:])]).rstrip("\n") + "\n"
