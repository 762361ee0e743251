"""Adds a checksum to JSON objects, and checks it: a changed byte may leave valid JSON.

The checksum is the last member, `"crc": "1c291ca3"`: the CRC-32 of every byte before it. It guards
against faulty disks and slips of an editor, not against an attacker.
"""

import re
import zlib

_TAIL = re.compile(rb',\s*"crc": "([0-9a-f]{8})"\s*\}\Z')
_TAIL_BYTES = 64
"""Bytes at the end that are searched; the member with its white space is shorter."""


def with_checksum(record: bytes) -> bytes:
    """Returns the JSON object with its checksum as the last member.

    The member is on a line of its own if the closing bracket is.
    """
    body = record.rstrip().removesuffix(b"}")
    content = body.rstrip()
    space = body[len(content) :]
    member = b' "crc": "%08x"' % zlib.crc32(content)
    return content + b"," + space + member + space + b"}"


def is_intact(record: bytes) -> bool:
    """Returns whether the object's bytes match its checksum.

    An object without a checksum, which an earlier release wrote, passes.
    """
    checksum = _find(record)
    return checksum is None or int(checksum[1], 16) == zlib.crc32(record[: checksum.start()])


def with_new_checksums(old_content: bytes, new_content: bytes) -> bytes:
    """Returns `new_content` with new checksums of the records that differ from `old_content`.

    Both have the same length, and are one object, or lines with one object each.
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
