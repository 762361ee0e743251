"""Which words of the owner hold in general, and which are unmistakably meant to last."""

import pytest

from memory_assets.english.standing import is_standing_order
from memory_assets.stages.reflect.durable import is_durable


@pytest.mark.parametrize(
    ("text", "author", "category", "is_one"),
    [
        ("Redis runs in Docker on port 6380", "owner", "operations", True),
        ("The owner said: “we decided to keep the old names”.", "owner", "projects", True),
        ("Answers in German are what the owner wants.", "owner", "preferences", True),
        ("Redis runs in Docker on port 6380", "assistant", "operations", False),
        ("The owner said: “commit this now”.", "owner", "projects", False),
        ("How is Redis started?", "owner", "projects", False),
    ],
)
def test_a_durable_statement_is_the_owners_and_no_errand(
    text: str, author: str, category: str, is_one: bool
):
    assert is_durable({"text": text, "author": author, "category": category}) == is_one


@pytest.mark.parametrize(
    ("sentence", "is_one"),
    [
        ("From now on, squash before merging.", True),
        ("always run the linter in this repo", True),
        ("In our repositories never push to main.", True),
        ("I told you again: never push to main.", True),
        ("I've already said this twice. Use tabs.", True),
        ("How often do I have to say it: no mocks!", True),
        ("As a rule, errors name the file.", True),
        ("Always use uv.", False),
        ("I told her about this repo.", False),
        ("The loader always fails.", False),
    ],
)
def test_a_standing_order_says_that_it_lasts_or_had_to_be_repeated(sentence: str, is_one: bool):
    assert is_standing_order(sentence) == is_one
