"""The measure of repetition: four fifths of the words, equal numbers, equal polarity, one scope; the index loses no pair."""

from fractions import Fraction
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.embed.repeats import find_repeats
from memory_assets_tests.factories import frame, row

SAID = "Run make check before every commit to main."


def memories(*rows_: dict) -> pl.DataFrame:
    plain = {
        "state": "active",
        "kind": "fact",
        "scope": "project",
        "project": "shop",
        "person": "ann",
    }
    return frame(
        "memories",
        *(row("memories", **plain | {"id": f"m{n}"} | each) for n, each in enumerate(rows_)),
    )


def pairs(*rows_: dict) -> list[tuple[str, str]]:
    return find_repeats(memories(*rows_)).pairs.select("id", "repeats_id").rows()


@pytest.mark.parametrize(
    "again",
    [
        SAID,
        "run `make check` BEFORE every commit to main",
        "Before every commit to main, run make check.",
        "Always run make check before every commit to main.",
    ],
)
def test_the_same_words_in_another_dress_repeat(again: str):
    assert pairs({"text": SAID}, {"text": again}) == [("m0", "m1")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The staging database listens on port 5432 at night.",
            "The staging database listens on port 5433 at night.",
        ),
        (
            "Always force-push the release branch to main.",
            "Never force-push the release branch to main.",
        ),
        (
            "We do squash commits before a merge to main.",
            "We don't squash commits before a merge to main.",
        ),
        ("The tag is 1.2.10 for the shop on main.", "The tag is 1.21.0 for the shop on main."),
        (SAID, "Run make lint before a push."),
    ],
)
def test_other_numbers_another_polarity_or_other_words_are_no_repeat(one: str, other: str):
    assert pairs({"text": one}, {"text": other}) == []


@pytest.mark.parametrize(
    ("other", "repeats"),
    [
        ({"project": "blog"}, False),
        ({"scope": "person"}, False),
        ({"state": "held"}, False),
        ({"state": "superseded"}, False),
        ({"state": "stale"}, True),
        ({"kind": "narrative"}, False),
    ],
)
def test_only_allowed_facts_of_one_scope_are_compared(other: dict, repeats: bool):
    assert bool(pairs({"text": SAID}, {"text": SAID, **other})) is repeats


@given(
    st.lists(
        st.lists(st.sampled_from("abcdefghi"), min_size=1, max_size=9).map(" ".join), max_size=12
    )
)
def test_the_index_finds_what_comparing_all_with_all_finds(texts: list[str]):
    wanted = [
        (f"m{i:02}", f"m{j:02}")
        for (i, a), (j, b) in combinations(enumerate(set(text.split()) for text in texts), 2)
        if len(a & b) >= Fraction(4, 5) * len(a | b)
    ]
    assert pairs(*({"id": f"m{n:02}", "text": text} for n, text in enumerate(texts))) == wanted
