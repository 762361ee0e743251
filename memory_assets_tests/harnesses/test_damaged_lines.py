"""Damaged lines cost only themselves: whole records before, between and after what is torn are found, in linear time."""

import json
import time

import orjson
import pytest

from memory_assets.harnesses.damaged_lines import records_in, split_damaged, whole_part

MESSAGES = {
    "claude": '{"type":"user","sessionId":"s","uuid":"x","message":{"role":"user","content":%s}}',
    "codex": '{"type":"response_item","payload":{"type":"message","role":"user","content":%s}}',
    "pi": '{"type":"message","id":"x","parentId":null,"timestamp":"t","message":{"content":%s}}',
}  # fmt: skip


def record(text: str, harness: str = "claude") -> bytes:
    return (MESSAGES[harness] % json.dumps(text, ensure_ascii=False)).encode()


@pytest.mark.parametrize("harness", MESSAGES)
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
def test_the_whole_records_of_a_damaged_line_are_lines_of_their_own(harness: str, line: bytes):
    """What an object or a string of a torn record holds is no record; the bytes stay as they are."""
    a, b, inner = (record(text, harness) for text in ('say "hi" to {"a": 1}', "two", "never"))
    texts = {b"nested": inner, b"torn": a[: len(a) // 2], b"escaped": record(inner.decode())[:-8]}
    content = line % {b"a": a, b"b": b, **texts}
    pieces = split_damaged(record("before") + b"\n" + content + record("after") + b"\n")
    assert b"".join(pieces) == record("before") + b"\n" + content + record("after") + b"\n"
    parts = [part.strip() for piece in pieces for part in piece.splitlines()]
    assert [part for part in parts if part in (record("before"), a, b, inner, record("after"))] == [
        record("before"), a, b, record("after")
    ]  # fmt: skip
    assert records_in(content) == [orjson.loads(a), orjson.loads(b)]


def test_bytes_that_are_not_utf_8_cost_a_letter_and_not_the_record():
    line = record("caf\u00e9 at noon").replace("\u00e9".encode(), b"\xe9")
    assert split_damaged(line) == [line]
    assert records_in(line) == [orjson.loads(record("caf\ufffd at noon"))]


def test_a_number_that_json_does_not_have_makes_a_record_damaged():
    line = record("one").replace(b'"one"', b'"one", "n": NaN')
    assert records_in(line) == []


def test_an_unfinished_line_ends_at_its_last_whole_record():
    a, b = record("one"), record("two")
    assert whole_part(a) == a
    assert whole_part(a + b"\0\0") == whole_part(a + b[:-3]) == a
    assert whole_part(b[:-3]) == whole_part(b"") == b""


@pytest.mark.parametrize(
    "hostile",
    [
        b'{"a":' * 200_000, b'{"a":' + b"[" * 1_000_000, b'{"a":[' * 900 + b"1," * 500_000,
        b'{"a":[{"b":1},' * 70_000, b'{"a":x' * 170_000, b'x{"k":[",",",",' * 70_000,
        b'{"a":"' + b"\\" * 1_000_000, b"{" + b" " * 500_000 + b":" + b" " * 500_000,
        b"\0" * 1_000_000,
    ],
)  # fmt: skip
def test_a_line_made_to_be_slow_takes_linear_time_and_raises_nothing(hostile: bytes):
    began = time.process_time()
    pieces = split_damaged(hostile + b"\n" + record("after") + b"\n")
    assert time.process_time() - began < 5
    assert b"".join(pieces) == hostile + b"\n" + record("after") + b"\n"
