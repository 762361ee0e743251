"""The pieces of its masked archive that a machine sends to a shared memory.

A piece is a range of whole lines of one transcript that fits into a request. Each piece of a
transcript begins where the one before it ended. A piece that the server has is sent again only if
words in it were masked since.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import zstandard
from pydantic import BaseModel, ConfigDict, Field

from memory_assets.schema.vocabulary import Harness
from memory_assets.store.archive import Archive, Range, count_lines
from memory_assets.text.masking.redact import cover, mask_text, strings_of

LONGEST_PIECE = 64 * 1024 * 1024
"""Bytes of the largest piece that a server takes, decompressed."""

MOST_BYTES = 2 * LONGEST_PIECE
"""Bytes of all pieces in one request, decompressed: a picture that is masked needs few bytes."""

MOST_PIECES = 500
"""Pieces that a server takes in one request."""

PIECE_BYTES = 1_500_000
"""Bytes up to which lines are joined in one piece; a longer line is a piece by itself."""

LONGEST_STRING = 64_000
"""Bytes of a string in a line that is a piece by itself. A longer string, such as a picture, is
sent as asterisks.
"""

OTHER_BYTES = "its bytes do not have the length and the hash that it names"

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
ClientId = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
Name = Annotated[str, Field(min_length=1, max_length=4_096)]
Offset = Annotated[int, Field(ge=0, lt=2**50)]

Held = tuple[int, int, int, str]
"""A piece that a server has: generation, first byte, byte after the last one, SHA-256 as sent."""


class Piece(BaseModel):
    """Whole lines of a transcript, masked."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    source_id: str = Field(pattern=r"^[0-9a-f]{20}$")
    harness: Harness
    path: Name
    session_id: Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^@\x00-\x1f]+$")]
    generation: Annotated[int, Field(ge=0, lt=1_000)]
    byte_from: Offset
    byte_to: Offset
    line_from: Offset
    line_to: Offset
    sha256: Digest
    repositories: Annotated[dict[Name, Name], Field(max_length=1_000)] = {}
    folder: Annotated[str, Field(max_length=4_096)] = ""
    starts_with_newline: bool = False
    content: str
    """Zstandard, in base64."""
    noted: dict[str, Any] = {}
    """What else the archive notes about its range, for another machine of the same person."""

    @property
    def held(self) -> Held:
        """The piece as a server lists it."""
        return self.generation, self.byte_from, self.byte_to, self.sha256

    def read(self) -> bytes:
        """Returns the bytes; raises `ValueError` unless size, hash and lines are those stated."""
        packed = base64.b64decode(self.content, validate=True)
        try:
            size = zstandard.frame_content_size(packed)
            if not 0 < size <= LONGEST_PIECE:
                raise ValueError(f"it has {size:,} bytes; the limit is {LONGEST_PIECE:,}")
            if size != self.byte_to - self.byte_from:
                raise ValueError(OTHER_BYTES)
            content = zstandard.ZstdDecompressor().decompress(packed, max_output_size=LONGEST_PIECE)
        except zstandard.ZstdError as error:
            raise ValueError(f"it cannot be decompressed: {error}") from None
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise ValueError(OTHER_BYTES)
        if count_lines(content, self.starts_with_newline) != self.line_to - self.line_from:
            raise ValueError("it has another number of lines than it says")
        return content


class Push(BaseModel):
    """The body of one request of a push."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    client: ClientId
    pieces: Annotated[list[Piece], Field(min_length=1, max_length=MOST_PIECES)]


@dataclass(frozen=True)
class Holdings:
    """The pieces that a server has of one client."""

    person: str
    project: str
    digest: str
    """Digest of the list of pieces; equal to the client's unless one of them lost a piece."""
    pieces: int
    bytes: int
    """Bytes that it has of all clients of the person."""
    held: Mapping[str, Sequence[Held]] | None = None
    """Source → its pieces, if the request asked for the list."""


@dataclass(frozen=True)
class Stored:
    """How many pieces of a request were new, replaced, or known."""

    stored: int = 0
    """New pieces."""
    replaced: int = 0
    """Pieces in which words were masked since."""
    known: int = 0
    """Pieces that it had already."""
    apart: tuple[str, ...] = ()
    """Sources of which both machines of a person have different bytes: nothing was stored."""


@dataclass(frozen=True)
class RawPiece:
    """A piece as the archive has it, before it is masked again and sent."""

    entry: Range
    byte_from: int
    line_from: int
    raw: bytes
    sent_before: str = ""
    """SHA-256 of the piece as the server has it; empty for a new piece."""

    @property
    def starts_with_newline(self) -> bool:
        """Whether its first byte ends the line before it."""
        return self.entry.starts_with_newline and self.byte_from == self.entry.byte_from

    @property
    def line_to(self) -> int:
        """The line after its last one."""
        return self.line_from + count_lines(self.raw, self.starts_with_newline)


def pieces_of(
    archive: Archive, ranges: Sequence[Range], held: Sequence[Held], longest: int = 0
) -> Iterator[RawPiece]:
    """Yields all pieces of one source in order: those that the server has, then new ones of the
    `longest` size at most, by default `PIECE_BYTES`, or of one line.

    Raises `TranscriptError` where the archive lacks bytes that the server has.
    """
    for generation in sorted({entry.generation for entry in ranges}):
        entries = [entry for entry in ranges if entry.generation == generation]
        end = 0
        line = 0
        of_generation = [row for row in held if row[0] == generation]
        for _, byte_from, byte_to, sha256 in of_generation:
            raw = archive.read(entries[0].source_id, generation, byte_from, byte_to)
            # There is such a range, or these bytes could not be read.
            entry = next(entry for entry in entries if entry.byte_to > byte_from)
            piece = RawPiece(entry, byte_from, line, raw, sha256)
            yield piece
            end = byte_to
            line = piece.line_to
        for entry in entries:
            if entry.byte_to > end:
                yield from _cut(archive, entry, max(end, entry.byte_from), longest)


def to_piece(raw_piece: RawPiece, content: bytes) -> Piece:
    """Returns the piece to send, with these masked bytes as its content."""
    entry = raw_piece.entry
    return Piece(
        source_id=entry.source_id,
        harness=entry.harness,
        path=mask_text(entry.path)[0],
        session_id=mask_text(entry.conversation_id)[0],
        generation=entry.generation,
        byte_from=raw_piece.byte_from,
        byte_to=raw_piece.byte_from + len(content),
        line_from=raw_piece.line_from,
        line_to=raw_piece.line_to,
        sha256=hashlib.sha256(content).hexdigest(),
        repositories=mask_names(entry.repositories or {}),
        folder=mask_text(entry.folder)[0],
        starts_with_newline=raw_piece.starts_with_newline,
        content=pack(content),
    )


def mask_names(repositories: Mapping[str, str]) -> dict[str, str]:
    """Returns the folders and names of repositories with secrets masked."""
    return {mask_text(folder)[0]: mask_text(name)[0] for folder, name in repositories.items()}


def pack(content: bytes) -> str:
    """Returns the bytes as the content of a piece."""
    return base64.b64encode(zstandard.ZstdCompressor(level=9).compress(content)).decode()


def digest_of(pieces_by_source: Mapping[str, Iterable[Held]]) -> str:
    """Returns the digest of all pieces, by source."""
    rows = sorted(
        f"{source}:{':'.join(map(str, piece))}"
        for source, pieces in pieces_by_source.items()
        for piece in pieces
    )
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def without_long_strings(content: bytes) -> bytes:
    """Returns the content of a piece; of one long line, with asterisks in its long strings."""
    if len(content) <= PIECE_BYTES:
        return content
    spans = strings_of(content) or ()
    # The quotation marks at both ends stay.
    inner = [(start + 1, end - 1) for start, end in spans if end - start > LONGEST_STRING]
    return cover(content, inner)


def _cut(archive: Archive, entry: Range, start: int, longest: int) -> Iterator[RawPiece]:
    """Yields the range from the byte `start` on as pieces of as many whole lines as fit.

    Each piece has one line at least.
    """
    content = archive.read(entry.source_id, entry.generation, entry.byte_from, entry.byte_to)
    at = start - entry.byte_from
    line = entry.line_from
    if at:
        line += content.count(b"\n", 0, at) - entry.starts_with_newline
    while at < len(content):
        end = _end_of_piece(content, at, longest or PIECE_BYTES)
        piece = RawPiece(entry, entry.byte_from + at, line, content[at:end])
        yield piece
        at = end
        line = piece.line_to


def _end_of_piece(content: bytes, at: int, longest: int) -> int:
    """Returns the byte after the last line of the piece that begins at the byte `at`."""
    if len(content) - at <= longest:
        return len(content)
    end = content.rfind(b"\n", at, at + longest) + 1
    if end > at + 1:
        return end
    end_of_long_line = content.find(b"\n", at + 1) + 1
    return end_of_long_line or len(content)
