"""Reads the raw bytes of transcript files: plain or compressed, from any byte on, whole lines at a time.

Offsets are those of the decompressed bytes. Nothing is held but the chunk at hand, so a file of any size needs the memory
of one chunk; a line longer than a chunk makes a longer one.
"""

import io
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

import zstandard

from memory_assets.stages.capture.discover import TranscriptFile

CHUNK_BYTES = 8_000_000


def open_file(file: TranscriptFile) -> BinaryIO:
    """Opens the file for reading its decompressed bytes."""
    stream = file.path.open("rb")
    if not file.compressed:
        return stream
    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True, closefd=True))  # type: ignore[arg-type]


def first_lines(file: TranscriptFile, count: int) -> list[bytes]:
    """Returns the file's first lines."""
    with open_file(file) as stream:
        return list(islice(stream, count))


def skip_to(stream: BinaryIO, position: int) -> None:
    """Moves a stream forward to the byte; compressed streams are read up to it."""
    if stream.seekable():
        stream.seek(position)
        return
    rest = position - stream.tell()
    while rest > 0 and (chunk := stream.read(min(rest, CHUNK_BYTES))):
        rest -= len(chunk)


def is_beginning_of(short: TranscriptFile, long: TranscriptFile) -> bool:
    """Returns whether the second file begins with all that the first one holds."""
    with open_file(short) as one, open_file(long) as other:
        while chunk := one.read(CHUNK_BYTES):
            if other.read(len(chunk)) != chunk:
                return False
    return True


class WholeLines:
    """The rest of a stream as chunks of whole lines; what follows the last newline is then in `unfinished`."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.unfinished = b""

    def __iter__(self) -> Iterator[bytes]:
        pieces: list[bytes] = []
        while chunk := self._stream.read(CHUNK_BYTES):
            end = chunk.rfind(b"\n") + 1
            if end:
                yield b"".join([*pieces, chunk[:end]])
                pieces.clear()
            pieces.append(chunk[end:])
        self.unfinished = b"".join(pieces)
