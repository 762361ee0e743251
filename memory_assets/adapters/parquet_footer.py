"""Reads a table file's metadata without a Parquet library: the status line has a few milliseconds.

The metadata is JSON under the key `memory_assets` of the footer, so that one rename publishes it
together with the rows. `parquet_tables` writes it.
"""

import os

KEY = "memory_assets"
MAGIC = b"PAR1"
END_BYTES = 8
"""Last bytes of a file: the length of the footer (4 bytes, little endian) and the magic bytes."""

TAIL_BYTES = 1 << 12
"""Bytes at the end of a file that are read first. They nearly always contain the metadata, which is
the last long entry of a footer.
"""

_FIELD = b"\x18"
"""Header of a string field that follows the field before it, in Thrift's compact protocol."""

_MARK = bytes([len(KEY)]) + KEY.encode() + _FIELD
"""The key as stored in the footer, up to the length of its value."""


def read_facts(path: str) -> str:
    """Returns the metadata as JSON, empty if there is none; raises `OSError` if the file cannot be
    read.
    """
    with open(path, "rb", buffering=0) as file:
        return facts_of(file.fileno())


def facts_of(descriptor: int) -> str:
    """Returns the metadata of an open file as JSON; empty if there is none."""
    size = os.fstat(descriptor).st_size
    tail = _bytes_at(descriptor, max(0, size - TAIL_BYTES), TAIL_BYTES)
    if not tail.endswith(MAGIC):
        return ""
    return _facts_in(tail) or _facts_in(footer_of(descriptor))


def footer_of(descriptor: int) -> bytes:
    """Returns the footer of an open Parquet file, with its length and magic bytes; empty if it has
    none.
    """
    size = os.fstat(descriptor).st_size
    end = _bytes_at(descriptor, max(0, size - END_BYTES), END_BYTES)
    length = int.from_bytes(end[:4], "little") + END_BYTES
    is_parquet = end.endswith(MAGIC) and length <= size
    return _bytes_at(descriptor, size - length, length) if is_parquet else b""


def _facts_in(footer: bytes) -> str:
    """Returns the value of the key in these bytes; empty if they do not contain all of it."""
    # Rows that contain the same bytes come before the metadata, so the last match is the right one.
    mark = footer.rfind(_MARK)
    if mark < 0:
        return ""
    # The length of the value is a varint of Thrift: seven bits per byte, the lowest first.
    length = 0
    shift = 0
    for start, byte in enumerate(footer[mark + len(_MARK) :], mark + len(_MARK) + 1):
        length = length | (byte & 0x7F) << shift
        shift = shift + 7
        if byte < 0x80:
            value = footer[start : start + length]
            return value.decode() if len(value) == length else ""
    return ""


def _bytes_at(descriptor: int, start: int, length: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    return os.read(descriptor, length)
