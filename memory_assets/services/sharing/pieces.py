"""Cuts archived transcripts into pieces of whole lines that fit into a request, from where a
server's last piece ended.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_assets.schema.pushes import LONGEST_PIECE, Held, Piece, pack
from memory_assets.store.archive import Archive, Range
from memory_assets.text.masking.redact import cover, mask_text, strings_of

PIECE_BYTES = 1_500_000
"""Of lines that are joined in one piece."""

LONGEST_STRING = 64_000
"""Bytes of a string in a line that is longer than a piece by itself: a longer one, such as a
picture, is sent as asterisks.
"""


@dataclass(frozen=True)
class RawPiece:
    """Bytes of the archive that may be sent, before they are masked again."""

    entry: Range
    byte_from: int
    line_from: int
    raw: bytes
    sent_before: str = ""
    """SHA-256 of what the server has in its place; empty for a new piece."""


def pieces_of(
    archive: Archive, ranges: Sequence[Range], held: Sequence[Held]
) -> Iterator[RawPiece]:
    """Yields the pieces that the server has, to be compared, and new ones, in order.

    Raises `TranscriptError` where the archive does not have bytes that the server has.
    """
    for generation in sorted({entry.generation for entry in ranges}):
        own = [entry for entry in ranges if entry.generation == generation]
        known = [piece for piece in held if piece[0] == generation]
        lines = 0
        for _, first, last, sha256 in known:
            raw = archive.read(own[0].source_id, generation, first, last)
            # exists, as these bytes were read.
            entry = next(one for one in own if one.byte_from <= first < one.byte_to)
            piece = RawPiece(entry, first, lines, raw, sha256)
            lines += _lines_in(piece)
            yield piece
        end = known[-1][2] if known else 0
        for entry in own:
            if entry.byte_to > end:
                yield from _cut(archive, entry, max(end, entry.byte_from))


def packed(piece: RawPiece, content: bytes) -> Piece:
    """Returns the piece with these masked bytes as it is sent."""
    entry, first = piece.entry, piece.byte_from
    return Piece(
        source_id=entry.source_id,
        harness=entry.harness,
        path=mask_text(entry.path)[0],
        session_id=mask_text(entry.conversation_id)[0],
        generation=entry.generation,
        byte_from=first,
        byte_to=first + len(content),
        line_from=piece.line_from,
        line_to=piece.line_from + _lines_in(piece),
        sha256=hashlib.sha256(content).hexdigest(),
        repositories={
            mask_text(folder)[0]: mask_text(name)[0]
            for folder, name in (entry.repositories or {}).items()
        },
        starts_with_newline=_starts_with_newline(piece),
        content=pack(content),
    )


def without_long_strings(content: bytes) -> bytes:
    """Returns the lines of one piece; of a line that is longer than a piece, without what its
    longest strings say.
    """
    if len(content) <= PIECE_BYTES:
        return content
    long = [
        (start + 1, end - 1)
        for start, end in strings_of(content) or ()
        if end - start > LONGEST_STRING
    ]
    return cover(content, long)


def _cut(archive: Archive, entry: Range, start: int) -> Iterator[RawPiece]:
    content = archive.read(entry.source_id, entry.generation, start, entry.byte_to)
    before = (
        archive.read(entry.source_id, entry.generation, entry.byte_from, start)
        if start > entry.byte_from
        else b""
    )
    line = entry.line_from + before.count(b"\n") - (entry.starts_with_newline and bool(before))
    at = 0
    while at < len(content):
        end = _end_of(content, at)
        piece = RawPiece(entry, start + at, line, content[at:end])
        yield piece
        at, line = end, line + _lines_in(piece)


def _end_of(content: bytes, at: int) -> int:
    """Returns where the piece ends: after as many whole lines as fit, and after one at least."""
    if len(content) - at <= PIECE_BYTES:
        return len(content)
    end = content.rfind(b"\n", at, at + PIECE_BYTES) + 1
    return end if end > at + 1 else (content.find(b"\n", at + 1) + 1 or len(content))


def _starts_with_newline(piece: RawPiece) -> bool:
    return piece.entry.starts_with_newline and piece.byte_from == piece.entry.byte_from


def _lines_in(piece: RawPiece) -> int:
    lines = piece.raw[1:] if _starts_with_newline(piece) else piece.raw
    return lines.count(b"\n") + (lines != b"" and not lines.endswith(b"\n"))


def is_sendable(content: bytes) -> bool:
    """Returns whether a server takes a piece of this length."""
    return len(content) <= LONGEST_PIECE
