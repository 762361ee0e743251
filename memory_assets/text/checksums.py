"""JSON objects that end with a checksum of their bytes, so that a changed byte is noticed although
the rest is valid JSON.

The checksum is the last member, `"crc": "1c291ca3"`: the CRC-32 of every byte before it. It guards
against faulty disks and slips of an editor, not against an attacker.
"""

import re
import zlib

_TAIL = re.compile(rb',\s*"crc": "([0-9a-f]{8})"\s*\}\Z')
_TAIL_BYTES = 64
"""More than the last member and its white space."""


def with_checksum(record: bytes) -> bytes:
    """Returns the JSON object with its checksum as the last member, on a line of its own if the
    others are.
    """
    body = record.rstrip().removesuffix(b"}")
    content = body.rstrip()
    space = body[len(content) :]
    return (
        content
        + b","
        + (space + b" " if space else b" ")
        + b'"crc": "%08x"' % zlib.crc32(content)
        + space
        + b"}"
    )


def is_intact(record: bytes) -> bool:
    """Returns whether the object's bytes fit its checksum; one without a checksum, of an earlier
    release, passes.
    """
    checksum = _find(record)
    return checksum is None or int(checksum[1], 16) == zlib.crc32(record[: checksum.start()])


def with_new_checksums(old_content: bytes, new_content: bytes) -> bytes:
    """Returns `new_content`, a changed copy of `old_content` of the same length, with new checksums
    of the records that differ.

    Both are one object, or lines with one object each.
    """
    if _find(old_content):
        return _with_new_checksum(old_content, new_content)
    pairs = zip(old_content.split(b"\n"), new_content.split(b"\n"), strict=True)
    return b"\n".join(_with_new_checksum(*pair) for pair in pairs)


def _with_new_checksum(old_record: bytes, new_record: bytes) -> bytes:
    checksum = None if old_record == new_record else _find(old_record)
    if checksum is None:
        return new_record
    return (
        new_record[: checksum.start(1)]
        + b"%08x" % zlib.crc32(new_record[: checksum.start()])
        + new_record[checksum.end(1) :]
    )


def _find(record: bytes) -> re.Match[bytes] | None:
    return _TAIL.search(record, max(0, len(record) - _TAIL_BYTES))
