"""A message is cut to its sentences that match; every gap is marked, and the whole sentences can be read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.text.excerpts import (
    CUT,
    LONGEST,
    around,
    cut_to_match,
    excerpt,
    matching_words,
    prose_of,
    whole_sentences,
    words_around,
)

MOVED = "We move to Hetzner. The bill was too high. The feed blocks shared addresses."


def passage(text: str, start: int = 0, end: int | None = None) -> dict:
    return {"whole": text, "char_from": start, "char_to": len(text) if end is None else end}


def test_of_a_long_message_the_sentences_with_most_words_of_the_question_are_shown_and_the_gaps_marked():
    filler = "Nothing of interest happens in this sentence at all. " * 20
    text = f"{filler}{MOVED} {filler}"
    start = text.index("We move")
    shown = excerpt(passage(text, start - 200, start + 300), {"bill", "feed"}, 120)
    assert shown == f"{CUT} {MOVED} {CUT}"


@pytest.mark.parametrize("place", [0, 5, 9])
def test_the_match_is_inside_the_cut_wherever_it_stands_in_the_passage(place: int):
    sentences = [f"Sentence number {number} says something plain." for number in range(10)]
    sentences[place] = "The tunnel runs over tailscale."
    assert "The tunnel runs over tailscale." in excerpt(
        passage(" ".join(sentences)), {"tailscal", "tunnel"}, 120
    )


def test_lines_stay_lines_and_a_wrapped_sentence_goes_on_in_the_next_one():
    text = "The plan:\n- use uv\n- drop pip\n\nThe reason is that a lock file\nnames every hash."
    assert (
        excerpt(passage(text))
        == "The plan:\n- use uv\n- drop pip\nThe reason is that a lock file\nnames every hash."
    )
    assert list(whole_sentences(excerpt(passage(text)))) == [
        "The plan:",
        "- use uv",
        "- drop pip",
        "The reason is that a lock file names every hash.",
    ]


@given(st.text(max_size=900), st.data())
def test_an_excerpt_is_never_too_long_and_has_the_text_of_the_message_alone(
    text: str, data: st.DataObject
):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 500)))
    shown = excerpt(passage(text, start, end), ("a", "b"))
    assert len(shown) <= LONGEST
    squeezed = "".join(text.split())
    assert "".join(shown.removeprefix(CUT).removesuffix(CUT).split()) in squeezed


def test_a_passage_is_shown_with_what_stands_around_it():
    text = "a " * 400 + "the tunnel runs over tailscale" + " b" * 400
    shown = around(text, 800, 830, 100)
    assert "the tunnel runs over tailscale" in shown
    assert 80 <= len(shown) <= 100
    assert (shown[0], shown[-1]) == (CUT, CUT)
    assert around("short text", 0, 5) == "short text"


def test_up_to_three_sentences_that_match_are_shown_within_the_words_and_a_longer_one_is_cut():
    text = f"First. Second is here. {MOVED} Last."
    assert cut_to_match(text, {"bill", "feed"}, 30) == f"{CUT} {MOVED} {CUT}"
    assert cut_to_match(text, {"bill", "feed"}, 5) == f"{CUT} The bill was too high. {CUT}"
    assert cut_to_match(f"{CUT} {MOVED} {CUT}", {"feed"}, 30) == f"{CUT} {MOVED} {CUT}"
    long = f"{'so ' * 50}the feed blocks{' us' * 50}"
    assert "feed" in cut_to_match(long, {"feed"}, 6)
    assert [long[slice(*span)] for span in matching_words(long, {"feed", "block"})] == [
        "feed",
        "blocks",
    ]
    assert cut_to_match("", {"feed"}, 5) == ""
    assert (
        words_around(f"{MOVED} {MOVED}", {"feed"}, 44)
        == "…The feed blocks shared addresses. We mo…"
    )
    assert words_around("We\nmove.", {"feed"}, 44) == "We move."


def test_of_markdown_the_sentences_outside_of_tables_and_code_are_shown_unless_a_term_is_lost():
    code = "```sh\nmake deploy\nmake ship\n```"
    text = f"… We **moved** to:\n\n- one host\n- two disks\n\n{code}\n| port | 5435 |\n|---|---|\n…"
    assert prose_of(text, {"host"}) == f"{CUT} We moved to:\n- one host\n- two disks {CUT}"
    assert prose_of(text, {"ship"}) == prose_of(text, {"5435"}) == text


@given(st.text(max_size=300), st.integers(1, 20))
def test_what_is_cut_has_at_most_the_words_and_its_gaps_are_marked(text: str, most: int):
    shown = cut_to_match(text, {"a"}, most)
    words = shown.removeprefix(f"{CUT} ").removesuffix(f" {CUT}").split()
    assert len(words) <= most
    assert " ".join(words) in " ".join(text.split())
    assert shown.startswith(CUT) or text.split()[:1] == words[:1]
