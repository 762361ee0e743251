"""Words are looked for however they are written; what they are part of is found with them."""

import json

import pytest

from memory_assets.services.forget.search import PhraseQuery


@pytest.mark.parametrize(
    "raw",
    [
        b"Herons nest",
        b"the HERONS\n  `nest`",
        json.dumps({"text": "herons\nnest"}).encode(),
        json.dumps({"text": json.dumps(["herons\tnest"])}).encode(),
        "herons nest".encode("utf-16"),
        b"\x00\x01\x02herons nest\x00\x07",
        b"aGVyb25zIG5lc3QgYmVzaWRlIHRoZSByZWFjdG9y",
    ],
)
def test_words_are_found_however_they_are_wrapped(raw: bytes):
    assert PhraseQuery.of(["herons nest"]).wordings_in(raw) == {("herons", "nest"): 1}


def test_the_words_at_the_ends_are_found_whole():
    assert set(PhraseQuery.of(["eron nest"]).wordings_in(b"a heron nests, herons nest")) == {
        ("heron", "nests")
    }
    assert PhraseQuery.of(["Kühl"]).wordings_in("das KÜHLWASSER".encode()) == {("kühlwasser",): 1}


def test_words_of_two_strings_are_no_phrase():
    query = PhraseQuery.of(["herons nest"])
    assert query.count_in(b'{"a": "herons", "b": "nest"}\n') == 0
    assert query.count_in(b'{"a": "herons nest", "b": "herons nest"}\n') == 2
