"""The lines of reflections and distillates: each is a fact with the ids of its observations.

    **operations**
    - 🔴 Deploy with `make deploy`. [mem_0f3a5c1e9b2d, mem_77c0de9a1b2c]

`render` writes the lines below their categories. `parse_bullets` reads them back from the text of
days, from which weeks are made.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from memory_assets.schema.vocabulary import MARKS
from memory_assets.text.short_ids import short_id

ORDER: dict[str, int] = {priority: rank for rank, priority in enumerate(MARKS)}
_PRIORITY_OF: dict[str, str] = {mark: priority for priority, mark in MARKS.items()}
_MARK_OF: dict[str, str] = {**MARKS}
_CATEGORY = re.compile(r"^\*\*([a-z-]+)\*\*$")
_BULLET = re.compile(r"^- ([🔴🟡🟢]) (.+) \[((?:mem_[0-9a-f]{12}(?:, )?)+)\]$")


@dataclass(frozen=True)
class Bullet:
    """One fact and all its observations, the oldest first."""

    category: str
    priority: str
    text: str
    ids: tuple[str, ...]

    @property
    def line(self) -> str:
        """The rendered bullet."""
        text = " ".join(self.text.split())
        citations = ", ".join(map(short_id, self.ids))
        return f"- {_MARK_OF[self.priority]} {text} [{citations}]"

    @property
    def weight(self) -> int:
        """Characters of the line and its line ending."""
        return len(self.line) + 1


def bullet_of(row: Mapping[str, Any]) -> Bullet:
    """Returns an observation as a bullet."""
    return Bullet(row["category"], row["priority"], row["text"], (row["id"],))


def in_order(bullets: Sequence[Bullet]) -> list[Bullet]:
    """Returns the bullets in the order of the page: by category, and by priority within it."""
    return sorted(bullets, key=lambda bullet: (bullet.category, ORDER[bullet.priority]))


def ids_of(bullets: Iterable[Bullet]) -> tuple[str, ...]:
    """Returns the ids of the bullets' observations, each once."""
    return tuple(dict.fromkeys(id for bullet in bullets for id in bullet.ids))


def merged(bullets: Sequence[Bullet]) -> Bullet:
    """Returns one bullet for all, with the text of the last and the highest priority."""
    priority = min((bullet.priority for bullet in bullets), key=ORDER.__getitem__)
    return replace(bullets[-1], priority=priority, ids=ids_of(bullets))


def heading(category: str) -> str:
    """Returns the line above the bullets of a category."""
    return f"**{category}**"


def render(bullets: Sequence[Bullet]) -> str:
    """Returns the bullets as Markdown below their categories; they must be in order of the page."""
    lines: list[str] = []
    for category, members in groupby(bullets, key=lambda bullet: bullet.category):
        lines += [heading(category), *(bullet.line for bullet in members)]
    return "\n".join(lines)


def parse_bullets(text: str, ids: Sequence[str]) -> Iterator[Bullet]:
    """Yields the bullets of a rendered text; `ids` are the full ids of the cited observations."""
    full_ids = {short_id(id): id for id in ids}
    category = ""
    for line in text.splitlines():
        category_match = _CATEGORY.match(line)
        bullet_match = _BULLET.match(line)
        if category_match:
            category = category_match[1]
        elif bullet_match:
            mark, bullet_text, short_ids = bullet_match.groups()
            cited = tuple(full_ids[short] for short in short_ids.split(", "))
            yield Bullet(category, _PRIORITY_OF[mark], bullet_text, cited)
