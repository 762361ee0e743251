"""What is forgotten is recognised from hashes alone, however it is written, and masked with its length kept."""

import base64
import json

import pytest

from memory_assets.stages.capture.tombstones import Tombstones, make_tombstone, rows_of, words_of

KEY = b"a key of the store"
PHRASE = "Herons nest beside the reactor"


def stones(*phrases: str, key: bytes = KEY) -> Tombstones:
    return Tombstones([make_tombstone(words_of(phrase), key) for phrase in phrases], key)


def line(text: str) -> bytes:
    return (
        json.dumps({"type": "user", "message": {"role": "user", "content": text}}).encode() + b"\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Remember: herons nest beside the reactor.",
        "HERONS  nest beside\nthe reactor",
        "**Herons** `nest` beside\n> the _reactor_",
        json.dumps({"note": "herons nest beside\tthe reactor"}),
        json.dumps({"deep": json.dumps({"note": "herons nest\nbeside the reactor"})}),
        "\x1b[1mherons\x1b[0m nest beside the reactor",
        "/search?q=herons+nest+beside+the+reactor&x=%20",
        "&lt;b&gt;herons nest beside the reactor&lt;/b&gt;",
        base64.b64encode(b"we saw that herons nest beside the reactor at night").decode(),
        "".join(f"{letter}\x00" for letter in "herons nest beside the reactor"),
    ],
)
def test_words_are_recognised_however_they_are_written(text: str):
    raw = line(text)
    masked = stones(PHRASE).mask(raw)
    assert masked != raw and len(masked) == len(raw)
    assert json.loads(masked)["type"] == "user"
    assert not stones(PHRASE).holds(masked)
    assert stones(PHRASE).mask(masked) == masked


def test_only_the_words_are_masked_and_the_text_around_them_stays():
    raw = b"Note that herons nest, beside the reactor, in spring.\n"
    assert stones(PHRASE).mask(raw) == b"Note that ***********, ******************, in spring.\n"


@pytest.mark.parametrize(
    "text",
    [
        "Herons nest beside a reactor",
        "herons nest beside the reactors",
        "heron's nest beside the reactor",
        "",
        "nest",
    ],
)
def test_other_words_stay(text: str):
    assert stones(PHRASE).mask(line(text)) == line(text)


def test_words_in_other_scripts_are_recognised():
    found = stones("Das Kühlwasser fließt", "鷺の巣")
    assert (
        found.mask_text("das KÜHLWASSER fließt.")
        == "*" * len("das KÜHLWASSER fließt".encode()) + "."
    )
    assert "鷺" not in found.mask_text("x 鷺の巣 y")
    escaped = json.dumps("das kühlwasser fließt").encode()
    assert b"hlwasser" not in found.mask(escaped)


def test_what_runs_over_lines_of_a_text_is_masked():
    raw = b"- herons nest\n  beside the reactor\n- another\n"
    assert stones(PHRASE).mask(raw) == b"- ***********\n  ******************\n- another\n"


def test_a_tombstone_says_nothing_without_the_key():
    (row,) = rows_of([make_tombstone(words_of(PHRASE), KEY)])
    (other,) = rows_of([make_tombstone(words_of(PHRASE), b"another key")])
    assert row["digest"] != other["digest"]
    assert not any(word in json.dumps(row) for word in words_of(PHRASE))
    assert stones(PHRASE, key=b"another key").holds(line(PHRASE))
    assert not Tombstones([make_tombstone(words_of(PHRASE), KEY)], b"another key").holds(
        line(PHRASE)
    )
