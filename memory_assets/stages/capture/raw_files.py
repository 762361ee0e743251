"""Reads the raw bytes of transcript files: plain or compressed, from any byte on, in chunks of whole lines.

Offsets are those of the decompressed bytes. Only one chunk is in memory at a time; a longer line makes a longer chunk.
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
    """Returns whether the second file begins with all bytes of the first one."""
    with open_file(short) as one, open_file(long) as other:
        while chunk := one.read(CHUNK_BYTES):
            if other.read(len(chunk)) != chunk:
                return False
    return True


def line_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the rest of a stream in chunks of whole lines, then the bytes after the last newline, if any."""
    pieces: list[bytes] = []
    while chunk := stream.read(CHUNK_BYTES):
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*pieces, chunk[:end]])
            pieces.clear()
        pieces.append(chunk[end:])
    if rest := b"".join(pieces):
        yield rest
