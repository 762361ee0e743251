"""Finds the whole records in a line of a transcript that is not JSON.

A crash leaves NUL bytes in a file, a full disk ends a record in its middle, and two processes that
append at once mix theirs. The other records in such a line are still whole. A record may also begin
inside a torn one. What lies inside a string of a torn record is no record, because its quotation
marks are escaped; an object between a comma or colon and another comma or bracket is part of a
record.
"""

import json
import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from itertools import chain, islice
from typing import Any

import orjson

from memory_assets.harnesses.normal_form import load_line
from memory_assets.harnesses.recognisers import recognise

MOST_RECORDS = 1_000
"""Records that are read from one line; a damaged line of a real file has a few."""

MOST_WORK = 16
"""Bytes that are read for each byte of a line. Objects inside a torn record are read more than
once; without a limit, a line made for it would take the square of its length.
"""

FAILED_SHARE = 16
"""The place of an error costs a line count from the start of the text, which takes about this share
of the time of reading it.
"""

TOO_DEEP_WORK = 20_000
"""Bytes counted for an attempt at an object with more levels than can be read."""

_BEGINS = re.compile(r'(?P<inner>[:,\[][ \t]*)?(?P<object>\{[ \t]*"\w+"[ \t]*:)')
_INNER_END = re.compile(r"[ \t\r]*[,}\]]")
_LINE_END = re.compile(r"[ \t\r]*\n?")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


def records_in(line: bytes) -> list[Mapping[str, Any]]:
    """Returns the record of a line, or the whole records of a damaged one."""
    try:
        record = load_line(line)
    except orjson.JSONDecodeError:
        spans = _find_records(line)
        return [load_line(line[start:end]) for start, end in spans]
    return [record] if isinstance(record, dict) else []


def split_damaged(lines: bytes) -> list[bytes]:
    """Returns the lines in pieces, cut before and after each whole record of a damaged line."""
    cuts = [0]
    line_start = 0
    for line in BytesIO(lines):
        if is_damaged(line):
            places = chain.from_iterable(_find_records(line))
            cuts += [line_start + place for place in places]
        line_start += len(line)
    ends = [*cuts[1:], len(lines)]
    return [lines[start:end] for start, end in zip(cuts, ends, strict=True) if start < end]


def whole_part(line: bytes) -> bytes:
    """Returns an unfinished line up to the end of its last whole record, which may be all of it."""
    if not is_damaged(line):
        return line
    ends = [end for _, end in _find_records(line)]
    return line[: max(ends, default=0)]


def is_damaged(line: bytes) -> bool:
    """Returns whether the line is not JSON."""
    try:
        load_line(line)
    except orjson.JSONDecodeError:
        return True
    return False


def _find_records(line: bytes) -> Iterator[tuple[int, int]]:
    """Yields where each whole record begins and ends; blanks after it belong to it."""
    # In this encoding each byte is one character, so that places in the text are those in the line.
    text = line.decode("latin-1")
    for start, record_end in islice(_find_objects(text), MOST_RECORDS):
        end = next(_LINE_END.finditer(text, record_end)).end()
        if not is_damaged(line[start:end]):
            yield start, end


def _find_objects(text: str) -> Iterator[tuple[int, int]]:
    """Yields where each record begins and ends."""
    work_left = MOST_WORK * len(text)
    read_until = 0
    is_too_deep = False
    for beginning in _BEGINS.finditer(text):
        is_inner = beginning["inner"] is not None
        start = beginning.start("object")
        if start < read_until or work_left < 0 or (is_inner and is_too_deep):
            continue
        record, end, work = _decode(text, start)
        is_too_deep = work == TOO_DEEP_WORK
        work_left -= work
        if record is None:
            continue
        read_until = end
        is_part = is_inner and _INNER_END.match(text, end)
        if not is_part and recognise(record):
            yield start, end


def _decode(text: str, start: int) -> tuple[Mapping[str, Any] | None, int, int]:
    """Returns the object at the place, or None if it is torn; its end; and the work of reading."""
    try:
        record, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, error.pos, error.pos - start + error.pos // FAILED_SHARE
    except RecursionError:
        return None, start, TOO_DEEP_WORK
    return record, end, end - start
