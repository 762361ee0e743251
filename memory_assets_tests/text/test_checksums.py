"""Checksums at the end of JSON objects: one changed byte is noticed, and whoever changes an object on purpose renews it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.text.checksums import is_intact, with_checksum, with_new_checksums

ROW = {"id": "1", "payload": {"text": "naïve } ✗", "n": 3}, "at": "2026-08-03"}


def record(row: dict, indent: int | None = None) -> bytes:
    return with_checksum(json.dumps(row, ensure_ascii=False, indent=indent).encode())


@pytest.mark.parametrize("indent", [None, 1])
def test_an_object_with_a_checksum_is_still_that_object(indent: int | None):
    written = record(ROW, indent)
    found = json.loads(written)
    assert len(found.pop("crc")) == 8
    assert found == ROW
    assert written.count(b"\n") == (
        0 if indent is None else json.dumps({**ROW, "crc": ""}, indent=1).count("\n")
    )
    assert is_intact(written)


@given(at=st.integers(0, 70), bit=st.integers(0, 7), indent=st.sampled_from([None, 1]))
def test_one_flipped_bit_before_the_checksum_is_noticed(at: int, bit: int, indent: int | None):
    written = bytearray(record(ROW, indent))
    written[at] ^= 1 << bit
    assert not is_intact(bytes(written))


@pytest.mark.parametrize("indent", [None, 1])
def test_only_changed_objects_get_a_new_checksum(indent: int | None):
    one, flipped = record(ROW, indent), record({"id": "x2"}, indent).replace(b"x2", b"x3")
    if indent:
        (changed,) = [with_new_checksums(one, one.replace(b"2026", b"****"))]
    else:
        before = b"\n".join([one, flipped, json.dumps(ROW).encode()]) + b"\n"
        changed, still, plain, end = with_new_checksums(
            before, before.replace(b"2026", b"****")
        ).split(b"\n")
        assert (still, end) == (flipped, b"")
        assert not is_intact(still)
        assert json.loads(plain)["at"] == "****-08-03"
    assert is_intact(changed)
    assert json.loads(changed)["at"] == "****-08-03"
