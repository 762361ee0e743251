"""Damaged lines cost only themselves: whole records before, between and after what is torn are found, in linear time."""

import time

import orjson
import pytest

from memory_assets.harnesses.damaged_lines import records_in, split_damaged, whole_part

AT = "2026-08-03T09:00:00.000Z"


def claude(text: str) -> dict:
    return {
        "type": "user",
        "sessionId": "s",
        "uuid": text,
        "message": {"role": "user", "content": text},
    }


def codex(text: str) -> dict:
    content = [{"type": "input_text", "text": text}]
    return {
        "timestamp": AT,
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": content},
    }


def pi(text: str) -> dict:
    return {
        "type": "message",
        "id": text,
        "parentId": None,
        "timestamp": AT,
        "message": {"role": "user", "content": text},
    }


def raw(record: dict) -> bytes:
    return orjson.dumps(record)


@pytest.mark.parametrize("record", [claude, codex, pi])
@pytest.mark.parametrize(
    "line",
    [
        b"%(a)s\0\0\0%(b)s\n",
        b"\0\0%(a)s\0\0%(b)s\0\0\n",
        b"%(a)s%(b)s\n",
        b"%(a)s \t%(b)s \r\n",
        b"%(a)s%(torn)s%(b)s\n",
        b'%(torn)s, and then %(a)s"}]}}%(b)s\n',
        b'%(a)s{"type":"user","message":%(b)s\n',
        b'%(a)s{"type":"user","message":{"content":"x\\%(b)s\n',
        b'{"type":"a","b":[%(nested)s,{"c":%(nested)s},"torn %(a)s\0%(b)s\n',
        b'","toolUseResult":%(nested)s}%(a)s\0\0%(escaped)s\0\0%(b)s\n',
        b"\xff\xfe\x80%(a)s\xed\xa0\x80%(b)s\n",
    ],
)
def test_the_whole_records_of_a_damaged_line_are_lines_of_their_own(record, line: bytes):
    """What an object or a string of a torn record holds is no record; the bytes stay as they are."""
    a, b, inner = (raw(record(text)) for text in ('say "hi" to {"a": 1}', "two", "never"))
    escaped = raw(record(inner.decode()))[:-8]
    content = line % {
        b"a": a,
        b"b": b,
        b"nested": inner,
        b"torn": a[: len(a) // 2],
        b"escaped": escaped,
    }
    pieces = split_damaged(raw(claude("before")) + b"\n" + content + raw(claude("after")) + b"\n")
    assert b"".join(pieces).endswith(content + raw(claude("after")) + b"\n")
    lines = [part for piece in pieces for part in piece.splitlines()]
    whole = [
        part.strip()
        for part in lines
        if part.startswith(b"{") and records_in(part) == [_json(part)]
    ]
    assert whole == [raw(claude("before")), a, b, raw(claude("after"))]
    assert records_in(content) == [orjson.loads(a), orjson.loads(b)]


def _json(line: bytes):
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def test_bytes_that_are_not_utf_8_cost_a_letter_and_not_the_record():
    line = raw(claude("caf\u00e9 at noon")).replace("\u00e9".encode(), b"\xe9")
    assert split_damaged(line) == [line]
    assert records_in(line) == [claude("caf\ufffd at noon")]


def test_an_unfinished_line_ends_at_its_last_whole_record():
    a, b = raw(claude("one")), raw(claude("two"))
    assert whole_part(a) == a
    assert whole_part(a + b"\0\0") == whole_part(a + b[:-3]) == a
    assert whole_part(b[:-3]) == whole_part(b"") == b""


@pytest.mark.parametrize(
    "hostile",
    [
        b'{"a":' * 200_000,
        b'{"a":' + b"[" * 1_000_000,
        b'{"a":[' * 900 + b"1," * 500_000,
        b'{"a":[{"b":1},' * 70_000,
        b'{"a":x' * 170_000,
        b'x{"k":[",",",",' * 70_000,
        b'{"a":"' + b"\\" * 1_000_000,
        b"{" + b" " * 500_000 + b":" + b" " * 500_000,
        b"\0" * 1_000_000,
    ],
)
def test_a_line_made_to_be_slow_takes_linear_time_and_raises_nothing(hostile: bytes):
    began = time.process_time()
    pieces = split_damaged(hostile + b"\n" + raw(claude("after")) + b"\n")
    assert time.process_time() - began < 5
    assert b"".join(pieces) == hostile + b"\n" + raw(claude("after")) + b"\n"
