"""What a developer's machine sends to a shared memory: pieces of its masked archive, and what the
server has of them.

A piece is a range of whole lines of one transcript. The server continues a transcript where its
last piece ended; a piece that it has already is sent again only when words in it were masked since.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import zstandard
from pydantic import BaseModel, ConfigDict, Field

from memory_assets.schema.vocabulary import Harness

LONGEST_PIECE = 64 * 1024 * 1024
"""Bytes of a piece once it is decompressed."""

MOST_PIECES = 500
"""Pieces of one request."""

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
ClientId = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
Name = Annotated[str, Field(min_length=1, max_length=4_096)]
Offset = Annotated[int, Field(ge=0, lt=2**50)]

Held = tuple[int, int, int, str]
"""Generation, first byte, byte after the last one, and SHA-256 as sent, of a piece that a server
has.
"""


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
    starts_with_newline: bool = False
    content: str
    """Zstandard, in base64."""

    @property
    def held(self) -> Held:
        """What a server that has it says of it."""
        return self.generation, self.byte_from, self.byte_to, self.sha256

    def read(self) -> bytes:
        """Returns the bytes; raises `ValueError` where they are not what the piece says."""
        packed = base64.b64decode(self.content, validate=True)
        try:
            size = zstandard.frame_content_size(packed)
            if not 0 < size <= LONGEST_PIECE:
                raise ValueError(f"it has {size:,} bytes; the limit is {LONGEST_PIECE:,}")
            raw = zstandard.ZstdDecompressor().decompress(packed, max_output_size=LONGEST_PIECE)
        except zstandard.ZstdError as error:
            raise ValueError(f"it cannot be decompressed: {error}") from None
        if (
            len(raw) != self.byte_to - self.byte_from
            or hashlib.sha256(raw).hexdigest() != self.sha256
        ):
            raise ValueError("its bytes do not have the length and the hash that it names")
        return raw


class Push(BaseModel):
    """One request of a push."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    client: ClientId
    pieces: Annotated[list[Piece], Field(min_length=1, max_length=MOST_PIECES)]


@dataclass(frozen=True)
class Holdings:
    """What a server has of one client."""

    person: str
    project: str
    digest: str
    """Of all pieces: equal to that of the client's own list if nothing was lost on either side."""
    pieces: int
    bytes: int
    held: Mapping[str, Sequence[Held]] | None = None
    """The pieces of each source, where they were asked for."""


@dataclass(frozen=True)
class Stored:
    """What one request changed on the server."""

    stored: int = 0
    """New pieces."""
    replaced: int = 0
    """Pieces in which words were masked since."""
    known: int = 0
    """Pieces that it had already."""


def pack(raw: bytes) -> str:
    """Returns the bytes as the content of a piece."""
    return base64.b64encode(zstandard.ZstdCompressor(level=9).compress(raw)).decode()


def digest_of(pieces_by_source: Mapping[str, Iterable[Held]]) -> str:
    """Returns the digest of the pieces of each source."""
    rows = sorted(
        f"{source}:{':'.join(map(str, piece))}"
        for source, pieces in pieces_by_source.items()
        for piece in pieces
    )
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()
