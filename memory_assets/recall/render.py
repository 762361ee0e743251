"""Renders recalled memories as the block that is put in front of a prompt."""

from collections.abc import Iterable
from typing import Protocol


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


def render_block(memories: Iterable[Rendered]) -> str:
    """Returns one line for each memory: `~ text (confidence, age, category)`."""
    return "\n".join(f"~ {m.text} ({m.confidence:.2f}, {m.age_days}d, {m.category})" for m in memories)
