"""What a typed question is about: without its manners, with its names, and with what "that one" means."""

import pytest

from memory_assets.stages.recall.wording import clean, in_context, is_vague, rare_terms
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)

RECENT = [
    "The staging database of shop-api moved to postgres 17.",
    "It listens on 5433 now, see infra/staging.toml.",
]


@pytest.mark.parametrize(("asked", "searched"), LABELLED["manners are left out and names stay"])
def test_manners_are_left_out_and_names_stay(asked: str, searched: str):
    assert clean(asked) == searched


@pytest.mark.parametrize(
    ("question", "vague"), LABELLED["a vague question points at what it does not name"]
)
def test_a_vague_question_points_at_what_it_does_not_name(question: str, vague: bool):
    assert is_vague(question) is vague


def test_a_vague_question_gets_the_rare_words_of_the_last_messages():
    text, context = in_context("hey, what about that one?", RECENT)
    assert text == "what about that one?"
    assert {"5433", "infra/staging.toml"} <= set(context.split())


def test_words_that_no_memory_holds_add_nothing_and_rare_ones_come_first():
    counts = {"staging": 40, "database": 90, "postgres": 3, "listens": 1, "5433": 0}
    terms = rare_terms(RECENT, "what about that one?", lambda word: counts.get(word, 0))
    assert set(terms) == {"staging", "database", "postgres", "listens"}
    many = {f"word{number}x": number for number in range(1, 30)}
    kept = rare_terms([" ".join(many)], "and that?", lambda word: many.get(word, 0))
    assert set(kept) == {f"word{number}x" for number in range(1, 7)}
