"""Renders recalled memories as the block that is put in front of a prompt: one line each, never more than ten.

What a memory says is quoted material, whoever said it: on its line it cannot begin another line, close or open markup, or
change the direction of writing, and a long one is cut. The lines are those that capture takes out of a transcript again, so
that what was injected is never learnt a second time.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Protocol

from memory_assets.stages.recall.profiles import MOST

LONGEST_LINE = 600
"""Characters of one memory's text in the block; distilled facts have at most 300."""

_MARKUP = re.compile(r"<(?=[/!?|]?[A-Za-z|])([^<>\n]{0,200})>?")
_LINE_MARK = re.compile(r"(?<!\S)~(?!\S)")
_FENCE = re.compile(r"`{3,}|~{3,}")
_TAG = re.compile(r"[^\w .:-]")


class Rendered(Protocol):
    """What a line of the block needs."""

    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def confidence(self) -> float: ...  # noqa: D102
    @property
    def age_days(self) -> int: ...  # noqa: D102
    @property
    def category(self) -> str: ...  # noqa: D102
    @property
    def tags(self) -> Sequence[str]: ...  # noqa: D102


def render_block(memories: Iterable[Rendered]) -> str:
    """Returns one line for each of the first ten memories: `~ text [tag] (confidence, age, category)`."""
    return "\n".join(map(render_line, islice(memories, MOST)))


def render_line(memory: Rendered) -> str:
    """Returns the line of one memory."""
    tags = "".join(f" [{_TAG.sub('', tag).replace(':', ' ')}]" for tag in memory.tags)
    category = _TAG.sub("", memory.category)
    return f"~ {one_line(memory.text)}{tags} ({memory.confidence:.2f}, {memory.age_days}d, {category})"


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Returns the text on one line, without what could pass for another line of the block, or for markup around it."""
    visible = "".join(_visible(character) for character in text)
    quoted = _MARKUP.sub(r"‹\1›", _LINE_MARK.sub("≈", _FENCE.sub("''", " ".join(visible.split()))))
    return quoted if len(quoted) <= longest else quoted[: longest - 1].rstrip() + "…"


def _visible(character: str) -> str:
    """Returns the character; a blank for one that breaks or controls, nothing for one that nobody sees."""
    category = unicodedata.category(character)
    if category in ("Cf", "Cs", "Co", "Cn"):
        return ""
    return " " if category in ("Cc", "Zl", "Zp", "Zs") else character
