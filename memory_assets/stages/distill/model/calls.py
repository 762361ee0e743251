"""Splits a window into model calls: nothing is left out, and the end of the call before is shown again.

Takes the messages of a window and its segments; returns calls of complete segments if they fit. A segment that is too long is
split between its messages, and a message that is too long between its lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_assets.stages.distill.model.serialise import shown
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.text.tokens import CHARS_A_TOKEN, count_tokens

TOKENS_A_CALL = 35_000
"""Longer windows are split, never truncated (DUET)."""

OVERLAP_TOKENS = 700
"""Tokens of the call before that are shown again, to resolve words such as "it" and "yes"."""

STAMP_TOKENS = 8
"""Tokens of the time and the role of a message."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """The messages of one call, and those before it that are shown again."""

    first: int
    """Row number of its first message in the window."""
    last: int
    messages: tuple[Row, ...]
    """In order; of a message that was split, the part that belongs to this call."""
    before: tuple[Row, ...] = ()


_Piece = tuple[int, Row, int]
"""Row number, message or part of one, tokens."""


def plan_calls(messages: Sequence[Row], segments: Sequence[Sequence[int]], tokens: int = TOKENS_A_CALL) -> list[PlannedCall]:
    """Returns the calls in order; together they show every message of the segments."""
    room = tokens - min(OVERLAP_TOKENS, tokens // 10)
    packed: list[list[_Piece]] = []
    for unit in _units(messages, segments, room):
        if packed and _size(packed[-1]) + _size(unit) <= room:
            packed[-1] += unit
        else:
            packed.append(list(unit))
    overlaps = [(), *(_tail(pieces, tokens - room) for pieces in packed[:-1])]
    return [
        PlannedCall(pieces[0][0], pieces[-1][0], tuple(message for _, message, _ in pieces), overlap)
        for pieces, overlap in zip(packed, overlaps, strict=True)
    ]


def _units(messages: Sequence[Row], segments: Sequence[Sequence[int]], room: int) -> Iterator[list[_Piece]]:
    """Yields what should stay together: a segment, else a message, else a part of one."""
    for segment in segments:
        pieces = [piece for row in segment for piece in _pieces(row, messages[row], room)]
        yield from [pieces] if _size(pieces) <= room else ([piece] for piece in pieces)


def _pieces(row: int, message: Row, room: int) -> Iterator[_Piece]:
    """Yields the message, split at line ends if it is too long for one call."""
    tokens = _tokens(message)
    if tokens <= room:
        yield row, message, tokens
        return
    rest, most = message["text"], (room - STAMP_TOKENS) * CHARS_A_TOKEN
    while rest:
        end = len(rest) if len(rest) <= most else rest.rfind("\n", most // 2, most) + 1 or most
        part = {**message, "text": rest[:end], "image_count": message["image_count"] if end == len(rest) else 0}
        yield row, part, _tokens(part)
        rest = rest[end:]


def _tail(pieces: Sequence[_Piece], room: int) -> tuple[Row, ...]:
    """Returns the last messages that fit, without images; if the last one is too long, its end."""
    kept: list[Row] = []
    for _, message, tokens in reversed(pieces):
        if tokens > room and kept:
            break
        text = message["text"] if tokens <= room else message["text"][-(room - STAMP_TOKENS) * CHARS_A_TOKEN :]
        kept.append({**message, "image_count": 0, "text": text})
        room -= tokens
    return tuple(reversed(kept))


def _size(pieces: Sequence[_Piece]) -> int:
    return sum(tokens for _, _, tokens in pieces)


def _tokens(message: Row) -> int:
    return count_tokens(shown(message)) + STAMP_TOKENS
