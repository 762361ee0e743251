"""Separates a person's own words from text that harnesses write in the user's role.

Takes the text of a message in the user's role. Returns its author, the words, and whether they are
a turn, which asks the agent for something. Also finds and removes memories that were put into a
text. The readers know whether a record is of the main thread or of a sub-agent.
"""

import re
from dataclasses import dataclass
from typing import Literal

from memory_assets.text.patterns import data_beside, patterns_beside
from memory_assets.text.published_block import strip_published

Voice = Literal["person", "harness", "summary"]

_PATTERNS = patterns_beside(__file__)
_MEMORY_BLOCK = _PATTERNS["memory_block"]
_MEMORY_LINE = _PATTERNS["memory_line"]
_STARTS = {name: tuple(texts) for name, texts in data_beside(__file__)["starts"].items()}

BRIEFING = "# Memory briefing"
"""The heading of a briefing. Harnesses put the whole briefing into the context as one text; some
write a line of their own above it.
"""

NOTE = "#"
"""In place of a tool's name, of a note."""

_IMAGE = re.compile(r"\[Image #\d+\]")


@dataclass(frozen=True, slots=True)
class UserText:
    """The words of a user-role text, and their author."""

    voice: Voice
    text: str
    is_turn: bool
    is_note: bool = False
    """Whether it is a line for the harness's memory, which begins with `#` in Claude Code."""


def parse_user_text(text: str) -> UserText:
    """Returns the person's own words in a user-role text; without any it is the harness's."""
    start = text.lstrip()
    if start.startswith(_STARTS["summary"]):
        return UserText("summary", text, False)
    if start.startswith(_STARTS["harness"]):
        return UserText("harness", text, False)
    action = parse_action(text)
    if action:
        return action
    if start.startswith(_STARTS["context"]):
        text = _PATTERNS["request"].split(text)[-1]
    typed = _PATTERNS["referenced_files"].split(text)[0]
    words = strip_scaffolding(typed).strip() if "<" in typed else typed.strip()
    return UserText("person", words, True) if words else UserText("harness", text, False)


def strip_scaffolding(text: str) -> str:
    """Returns the text without the blocks that harnesses add; a tag quoted inside a sentence stays.

    A block ends at the last closing tag of its name, because what is inside may be output that
    contains such a tag.
    """
    pieces = []
    at = 0
    opening = _PATTERNS["tag_opens"].search(text)
    while opening:
        pieces.append(text[at : opening.start()])
        closing_at = text.rfind(f"</{opening[1].split()[0]}", opening.end())
        end = text.find(">", closing_at) if closing_at >= 0 else -1
        at = end + 1 if end >= 0 else len(text)
        opening = _PATTERNS["tag"].match(text, at) or _PATTERNS["tag_opens"].search(text, at)
    return "".join(pieces) + text[at:]


def strip_memories(text: str) -> str:
    """Returns the text without recalled and published memories, so that they are not stored
    again.
    """
    text = strip_published(text)
    if "~" in text and _PATTERNS["memory_hint"].search(text):
        text = _PATTERNS["memory_heading"].sub("", _MEMORY_LINE.sub("", text))
    if "<memory-" in text or "observation" in text:
        text = _PATTERNS["memory_tail"].sub("", _MEMORY_BLOCK.sub("", text))
    return text


def find_memories(text: str) -> list[str]:
    """Returns the memories that were put into the text.

    They are one whole briefing, or the blocks in order and then the lines outside of blocks.
    """
    briefing = _PATTERNS["briefing"].search(text)
    if briefing:
        return [briefing[0].removeprefix(": ").strip()]
    blocks = _MEMORY_BLOCK.finditer(text) if "<" in text else ()
    outside = _MEMORY_BLOCK.sub("", text) if "<" in text else text
    lines = _MEMORY_LINE.finditer(outside) if "~" in outside else ()
    return [match[0].strip() for match in (*blocks, *lines)]


def count_images(text: str) -> int:
    """Returns the number of image placeholders in a text."""
    return len(set(_IMAGE.findall(text))) if "[Image #" in text else 0


def parse_action(text: str) -> UserText | None:
    """Returns the slash command, shell command or note that is the whole text, else None."""
    shell_command = _PATTERNS["bash_input"].match(text)
    if shell_command:
        return UserText("person", f"! {shell_command[1].strip()}", False)
    note = _PATTERNS["memory_input"].match(text)
    if note:
        return UserText("person", note[1].strip(), True, is_note=True)
    command = _PATTERNS["command"].match(text)
    if command is None:
        return None
    words = (command[2] or "").strip()
    return UserText("person", f"{command[1].strip()} {words}".strip(), bool(words))
