"""A mention of an entity in a text, and the interface of its recognisers."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memory_assets.schema.records import EntityKind

_CODE = re.compile(r"`([^`\n]{1,200})`")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text: its usual spelling and the one used here."""

    kind: EntityKind
    name: str
    said: str
    start: int
    end: int


Span = tuple[int, int]
Recogniser = Callable[[str, tuple[Span, ...]], Iterable[Mention]]
"""Takes a text and its spans between backticks."""


def code_spans(text: str) -> tuple[Span, ...]:
    """Returns the spans between backticks."""
    return tuple((match.start(1), match.end(1)) for match in _CODE.finditer(text))


def inside(position: int, spans: tuple[Span, ...]) -> bool:
    """Returns whether the position lies in one of the spans."""
    return any(start <= position < end for start, end in spans)


def mention(kind: EntityKind, name: str, match: re.Match[str], group: int | str = 0) -> Mention:
    """Returns the match, or one of its groups, as a mention."""
    return Mention(kind, name, match[group], match.start(group), match.end(group))
