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
    found = _find(record)
    return found is None or int(found[1], 16) == zlib.crc32(record[: found.start()])


def with_new_checksums(before: bytes, after: bytes) -> bytes:
    """Returns `after`, a changed copy of `before` of the same length, with new checksums of the
    records that differ.

    Both are one object, or lines with one object each.
    """
    if _find(before):
        return _with_new_checksum(before, after)
    pairs = zip(before.split(b"\n"), after.split(b"\n"), strict=True)
    return b"\n".join(_with_new_checksum(*pair) for pair in pairs)


def _with_new_checksum(before: bytes, after: bytes) -> bytes:
    found = None if before == after else _find(before)
    if found is None:
        return after
    return (
        after[: found.start(1)]
        + b"%08x" % zlib.crc32(after[: found.start()])
        + after[found.end(1) :]
    )


def _find(record: bytes) -> re.Match[bytes] | None:
    return _TAIL.search(record, max(0, len(record) - _TAIL_BYTES))
