"""The lines of reflections and distillates: each a fact with the ids it rests on.

    **operations**
    - 🔴 Deploy with `make deploy`. [mem_0f3a5c1e9b2d, mem_77c0de9a1b2c]

`render` writes them below their categories; `parse_bullets` parses them again, so that a week is
made from its days.
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
        return (
            f"- {_MARK_OF[self.priority]} {' '.join(self.text.split())} "
            f"[{', '.join(map(short_id, self.ids))}]"
        )

    @property
    def weight(self) -> int:
        """Characters of the line and its line ending."""
        return len(self.line) + 1


def bullet_of(row: Mapping[str, Any]) -> Bullet:
    """Returns an observation as a bullet."""
    return Bullet(row["category"], row["priority"], row["text"], (row["id"],))


def in_order(bullets: Sequence[Bullet]) -> list[Bullet]:
    """Returns the bullets in their order on the page: by category, 🔴 first, else as they came."""
    return sorted(bullets, key=lambda bullet: (bullet.category, ORDER[bullet.priority]))


def ids_of(bullets: Iterable[Bullet]) -> tuple[str, ...]:
    """Returns the ids that the bullets rest on, each once."""
    return tuple(dict.fromkeys(id for bullet in bullets for id in bullet.ids))


def merged(bullets: Sequence[Bullet]) -> Bullet:
    """Returns the bullets as one, in the words of the last and with the highest priority."""
    priority = min((bullet.priority for bullet in bullets), key=ORDER.__getitem__)
    return replace(bullets[-1], priority=priority, ids=ids_of(bullets))


def heading(category: str) -> str:
    """Returns the line above the bullets of a category."""
    return f"**{category}**"


def render(bullets: Sequence[Bullet]) -> str:
    """Returns Markdown: the bullets, given in their order on the page, below their categories."""
    lines: list[str] = []
    for category, members in groupby(bullets, key=lambda bullet: bullet.category):
        lines += [heading(category), *(bullet.line for bullet in members)]
    return "\n".join(lines)


def parse_bullets(text: str, ids: Sequence[str]) -> Iterator[Bullet]:
    """Yields the bullets of a rendered text; `ids` are the whole ids of the observations that it
    cites.
    """
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
