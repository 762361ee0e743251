"""Cuts a window into the calls that ask a model about it: nothing left out, a little of the call before shown again.

Takes the messages of a window and its segments; gives calls of whole segments while they fit. A segment that is too
long is split between its messages, and a message that is too long between its lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_assets.stages.distill.model.serialise import shown
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.text.tokens import CHARS_A_TOKEN, count_tokens

TOKENS_A_CALL = 35_000
"""A longer window is split, never cut (DUET)."""

OVERLAP_TOKENS = 700
"""Of the call before, so much is shown again: enough to tell what "it" and "yes" mean."""

STAMP_TOKENS = 8
"""What the stamp and the role of a message take."""


@dataclass(frozen=True, slots=True)
class Call:
    """The messages of one call, and those before it that are shown again."""

    first: int
    """Row number of its first message in the window."""
    last: int
    messages: tuple[Row, ...]
    """In order; of a message that was split, the part that belongs to this call."""
    before: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    row: int
    message: Row
    tokens: int


def plan_calls(messages: Sequence[Row], segments: Sequence[Sequence[int]], tokens: int = TOKENS_A_CALL) -> list[Call]:
    """Returns the calls in order; together they show every message of the segments."""
    room = tokens - min(OVERLAP_TOKENS, tokens // 10)
    packed: list[list[_Piece]] = []
    used = 0
    for unit in _units(messages, segments, room):
        cost = sum(piece.tokens for piece in unit)
        if packed and used + cost <= room:
            packed[-1] += unit
            used += cost
        else:
            packed.append(list(unit))
            used = cost
    overlaps = [(), *(_tail(pieces, tokens - room) for pieces in packed[:-1])]
    return [
        Call(pieces[0].row, pieces[-1].row, tuple(piece.message for piece in pieces), overlap)
        for pieces, overlap in zip(packed, overlaps, strict=True)
    ]


def _units(messages: Sequence[Row], segments: Sequence[Sequence[int]], room: int) -> Iterator[list[_Piece]]:
    """Yields what should stay together: a segment, else a message, else a part of one."""
    for segment in segments:
        pieces = [piece for row in segment for piece in _pieces(row, messages[row], room)]
        if sum(piece.tokens for piece in pieces) <= room:
            yield pieces
        else:
            yield from ([piece] for piece in pieces)


def _pieces(row: int, message: Row, room: int) -> Iterator[_Piece]:
    """Yields the message, in parts that end at a line's end where it is too long for a call of its own."""
    tokens = _tokens(message)
    if tokens <= room:
        yield _Piece(row, message, tokens)
        return
    rest, most = message["text"], (room - STAMP_TOKENS) * CHARS_A_TOKEN
    while rest:
        end = len(rest) if len(rest) <= most else rest.rfind("\n", most // 2, most) + 1 or most
        part = {**message, "text": rest[:end], "image_count": message["image_count"] if end == len(rest) else 0}
        yield _Piece(row, part, _tokens(part))
        rest = rest[end:]


def _tail(pieces: Sequence[_Piece], tokens: int) -> tuple[Row, ...]:
    """Returns the last messages that fit, without their pictures; of one that is too long, its end."""
    kept: list[Row] = []
    for piece in reversed(pieces):
        message = {**piece.message, "image_count": 0}
        if piece.tokens > tokens:
            if not kept:
                kept.append({**message, "text": message["text"][-(tokens - STAMP_TOKENS) * CHARS_A_TOKEN :]})
            break
        kept.append(message)
        tokens -= piece.tokens
    return tuple(reversed(kept))


def _tokens(message: Row) -> int:
    return count_tokens(shown(message)) + STAMP_TOKENS
