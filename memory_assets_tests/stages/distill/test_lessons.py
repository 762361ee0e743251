"""Corrections, rules and preferences of the owner become lessons in their own words; questions, stories and errands do not."""

import polars as pl
import pytest

from memory_assets.stages.distill.lessons import find_lessons
from memory_assets_tests.factories import START, frame, message, row
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)

WINDOW = "w" * 64


def taught(*texts: str, status: str = "observed", authors: tuple[str, ...] = ()) -> pl.DataFrame:
    """The lessons of a window in which the owner and the assistant take turns."""
    authors = authors or ("owner", "assistant") * len(texts)
    said = [
        message(text, number, author=author)
        for number, (text, author) in enumerate(zip(texts, authors, strict=False))
    ]
    window = row(
        "windows",
        window_id=WINDOW,
        status=status,
        day=START.date(),
        project="shop",
        person="mira",
        session_id="s1",
    )
    return find_lessons(frame("messages", *said), frame("windows", window))


def test_a_correction_becomes_a_lesson_with_its_place():
    (lesson,) = taught(
        "Add a dependency.", "I run pip install httpx.", "no, use uv, not pip", "Understood."
    ).to_dicts()
    assert lesson["text"] == "Use uv, not pip."
    assert (lesson["message_id"], lesson["line"], lesson["project"], lesson["person"]) == (
        f"msg_{2:020x}",
        2,
        "shop",
        "mira",
    )


def test_what_is_taken_back_in_the_same_session_is_no_lesson():
    later = "no, keep the lock file in git, never delete the lock file of the shop"
    assert taught("never commit the lock file of the shop", "Ok.", later)["text"].to_list() == [
        f"{later[4:].capitalize()}."
    ]


@pytest.mark.parametrize("said", LABELLED["what a lesson sounds like"])
def test_what_a_lesson_sounds_like(said: str):
    assert taught(said).height == 1


@pytest.mark.parametrize("said", LABELLED["what teaches nothing"])
def test_what_teaches_nothing(said: str):
    assert taught(said).is_empty()
