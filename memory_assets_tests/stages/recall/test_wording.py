"""What a typed question is about: without its manners, with its names, and with what "that one" means."""

import pytest

from memory_assets.stages.recall.wording import clean, in_context, is_vague, rare_terms

RECENT = [
    "The staging database of shop-api moved to postgres 17.",
    "It listens on 5433 now, see infra/staging.toml.",
]


@pytest.mark.parametrize(
    ("asked", "searched"),
    [
        (
            "Hi there, could you please tell me which port staging uses? Thanks!",
            "which port staging uses?",
        ),
        ("hey claude - quick question: how do we deploy?", "how do we deploy?"),
        (
            "Good morning! Do you know where `src/app.py` lives, please?",
            "where `src/app.py` lives?",
        ),
        ("ok so, can you remind me what --force-blind does", "what --force-blind does"),
        ("I was wondering whether we use uv or pip", "we use uv or pip"),
        ("By the way, sorry to bother you, why is CI red?", "why is CI red?"),
        ("which port does staging use?", "which port does staging use?"),
        ("What did Hello.java print?", "What did Hello.java print?"),
        ("does the greeting say hello, please or thanks", "does the greeting say hello or"),
        ("thanks", "thanks"),
        ("hello", "hello"),
        ("please.py", "please.py"),
        ("", ""),
    ],
)
def test_manners_are_left_out_and_names_stay(asked: str, searched: str):
    assert clean(asked) == searched


@pytest.mark.parametrize(
    ("question", "vague"),
    [
        ("what about that one?", True),
        ("and the port?", True),
        ("where does it run?", True),
        ("why?", True),
        ("who set that up", True),
        ("is it still broken", True),
        ("which port does staging use?", False),
        ("kubernetes", False),
        ("what does --force-blind do", False),
        ("where does it read config.toml from", False),
        ("do we still write that temporary file before uploading the pack", False),
        ("how do we install packages here", False),
    ],
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
