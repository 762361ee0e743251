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


def strip_published(text: str, *, keeps_numbers: bool = False) -> str:
    """Returns the text without published blocks; of one that was cut, without all behind its
    beginning.

    With `keeps_numbers` empty lines replace them, so that later lines have the same numbers.
    """
    pieces: list[str] = []
    at = 0
    mark = text.find(BEGIN)
    while mark >= 0:
        end = text.find(END, mark)
        if end < 0 and any(map(str.isalpha, text[text.rfind("\n", 0, mark) + 1 : mark])):
            break  # a sentence that names the mark
        pieces.append(text[at:mark])
        at = end + len(END) if end >= 0 else len(text)
        pieces.append("\n" * text.count("\n", mark, at) if keeps_numbers else "")
        mark = text.find(BEGIN, at)
    return "".join([*pieces, text[at:]])


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
