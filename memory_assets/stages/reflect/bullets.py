"""Bullets: the lines that reflections and distillates are made of, each a fact with the ids it rests on.

    **operations**
    - 🔴 Deploy with `make deploy`. [mem_0f3a5c1e9b2d, mem_77c0de9a1b2c]

`render` writes them under their categories, `parse_bullets` reads them again, so that a week is made from what its days say.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory_assets.stages.distill.rows import short_id

MARKS = {"high": "🔴", "medium": "🟡", "low": "🟢"}
ORDER = {"high": 0, "medium": 1, "low": 2}
_PRIORITY_OF = {mark: priority for priority, mark in MARKS.items()}
_CATEGORY = re.compile(r"^\*\*([a-z-]+)\*\*$")
_BULLET = re.compile(r"^- ([🔴🟡🟢]) (.+) \[((?:mem_[0-9a-f]{12}(?:, )?)+)\]$")


@dataclass(frozen=True)
class Bullet:
    """One fact and all observations that say it, the oldest first."""

    category: str
    priority: str
    text: str
    ids: tuple[str, ...]

    @property
    def line(self) -> str:
        """The bullet as it is written."""
        return f"- {MARKS[self.priority]} {' '.join(self.text.split())} [{', '.join(map(short_id, self.ids))}]"

    @property
    def weight(self) -> int:
        """Characters that it adds, its line ending included."""
        return len(self.line) + 1


def in_order(bullets: Sequence[Bullet]) -> list[Bullet]:
    """Returns the bullets in their order on the page: by category, 🔴 first, else as they came."""
    return sorted(bullets, key=lambda bullet: (bullet.category, ORDER[bullet.priority]))


def heading(category: str) -> str:
    """Returns the line above the bullets of a category."""
    return f"**{category}**"


def render(bullets: Sequence[Bullet]) -> str:
    """Returns Markdown: the bullets, given in their order on the page, under their categories."""
    lines: list[str] = []
    for before, bullet in zip([None, *bullets], bullets, strict=False):
        if before is None or before.category != bullet.category:
            lines.append(heading(bullet.category))
        lines.append(bullet.line)
    return "\n".join(lines)


def parse_bullets(text: str, ids: Sequence[str]) -> Iterator[Bullet]:
    """Yields the bullets of a rendered text; `ids` are the observations that it cites, in whole."""
    whole: Mapping[str, str] = {short_id(id): id for id in ids}
    category = ""
    for line in text.splitlines():
        if found := _CATEGORY.match(line):
            category = found[1]
        elif found := _BULLET.match(line):
            cited = tuple(whole[short] for short in found[3].split(", "))
            yield Bullet(category, _PRIORITY_OF[found[1]], found[2], cited)
