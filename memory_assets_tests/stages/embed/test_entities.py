"""What a text names: by shape or by list, under its usual name; plain English is never an entity, backticks or not."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.embed.entities import find_identifiers, mentions_in, mentions_of_name
from memory_assets.stages.embed.names import _any_of, _table
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)


def named(text: str) -> set[str]:
    return {f"{mention.kind}/{mention.name}" for mention in mentions_in(text)}


@pytest.mark.parametrize(("text", "wanted"), LABELLED["named"])
def test_a_name_is_recognised_under_its_usual_name(text: str, wanted: list[str]):
    assert sorted(named(text)) == wanted


@pytest.mark.parametrize("text", LABELLED["nothing"])
def test_plain_words_numbers_and_placeholders_are_no_entities(text: str):
    assert named(text) == set()


def test_a_name_alone_is_read_as_if_between_backticks():
    assert [(one.kind, one.name) for one in mentions_of_name("git credential fill")] == [
        ("command", "git credential")
    ]
    assert mentions_of_name("have") == ()


def test_the_first_recogniser_keeps_its_place():
    """`docs.github.com` in an address is a host, and GitHub is not named a second time."""
    assert named("https://docs.github.com/en/rest") == {"host/docs.github.com"}


def test_every_listed_name_is_recognised_as_itself():
    for kind in ("service", "tool", "package"):
        for spelling in _table()[kind]["any"]:
            assert f"{kind}/{spelling}" in named(
                f"We use {spelling} here."
            ) or spelling.lower() in map(
                str.lower, (one.said for one in mentions_in(f"We use {spelling} here."))
            ), spelling


@given(st.text(alphabet="abcdXYZ019 `/.-_#@:()\n", max_size=120))
def test_mentions_lie_in_the_text_in_order_and_never_overlap(text: str):
    found = mentions_in(text)
    assert all(text[one.start : one.end] == one.said for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(st.text(max_size=300))
def test_recognising_never_fails(text: str):
    assert list(find_identifiers(text, ())) is not None
    assert mentions_in(text) is not None


@given(st.lists(st.sampled_from("go golang got o gol react rea re".split()), max_size=30))
def test_of_names_with_a_common_beginning_the_longest_that_fits_is_found(words: list[str]):
    names = ("go", "golang", "react", "re")
    text = " ".join(words)
    longest_first = re.compile(rf"\b(?:{'|'.join(sorted(names, key=len, reverse=True))})\b")
    assert re.findall(rf"\b{_any_of(names)}\b", text) == longest_first.findall(text)
