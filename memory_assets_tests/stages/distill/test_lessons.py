"""Corrections, rules and preferences of the owner become lessons in their own words; questions, stories and errands do not."""

import polars as pl
import pytest

from memory_assets.stages.distill.lessons import find_lessons
from memory_assets_tests.factories import START, frame, message, row

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


def test_a_correction_becomes_a_lesson_with_what_to_use_instead_of_what():
    (lesson,) = taught(
        "Add a dependency.", "I run pip install httpx.", "no, use uv, not pip", "Understood."
    ).to_dicts()
    assert (lesson["text"], lesson["wanted"], lesson["unwanted"]) == (
        "Use uv, not pip.",
        "uv",
        "pip",
    )
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


@pytest.mark.parametrize(
    ("said", "wanted", "unwanted"),
    [
        ("Use pnpm instead of npm here", "pnpm", "npm here"),
        ("don't use pip, use uv", "uv", "pip"),
        ("not npm, use pnpm", "pnpm", "npm"),
        ("I'd prefer httpx over requests", "httpx", "requests"),
        ("instead of bower, use pnpm", "pnpm", "bower"),
        ("never commit directly to main", "", ""),
        ("please do not touch the lock file", "", ""),
        ("we should not touch the default ssh config", "", ""),
        ("always run make check before you commit", "", ""),
        ("from now on the tests live beside the code", "", ""),
        ("I don't want any console logs in the harbour service", "", ""),
    ],
)
def test_what_a_lesson_sounds_like(said: str, wanted: str, unwanted: str):
    (lesson,) = taught(said).to_dicts()
    assert (lesson["wanted"], lesson["unwanted"]) == (wanted, unwanted)


@pytest.mark.parametrize(
    "said",
    [
        "did you never use uv?",
        "I never saw that line",
        "it goes up to 27 but never gets past that",
        "I tested it and don't like it",
        "hm, that should never happen",
        "Review this branch. Do not make code changes.",
        "let's say we would use replicate to not recreate the repo fully but move every ref from the source repo",
        "ok, continue",
        "Maria owns billing.",
        "I'd rather we simply export deltaSelector from the packfile package",
        "I'd like another review of the harbour service",
    ],
)
def test_what_teaches_nothing(said: str):
    assert taught(said).is_empty()
