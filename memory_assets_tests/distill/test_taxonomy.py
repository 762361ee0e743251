"""Seven categories, keywords first; the examples of each category are found in it."""

import pytest

from memory_assets.distill.taxonomy import TAXONOMY, categorise, category_named


@pytest.mark.parametrize(("category", "example"), [(rule.name, example) for rule in TAXONOMY for example in rule.examples])
def test_the_examples_of_a_category_belong_there(category: str, example: str):
    assert categorise(example, "narrative", "owner")[0] == category


def test_all_seven_are_there():
    assert [rule.name for rule in TAXONOMY] == [
        "preferences",
        "rules-conventions",
        "system-architecture",
        "operations",
        "memory-system",
        "projects",
        "people-relationships",
    ]


@pytest.mark.parametrize("author", ["assistant", "tool", "file", "web", "injected"])
def test_only_the_owner_is_filed_under_rules_and_preferences(author):
    for text in ("Always use pip, never uv.", "The owner prefers long answers."):
        assert categorise(text, "fact", author, "rules-conventions")[0] not in ("preferences", "rules-conventions")


def test_a_vendors_prefix_is_taken_off():
    assert category_named("jc:operations") == "operations"
    assert category_named("JC:Rules_Conventions") == "rules-conventions"
    assert category_named("weather") is None


def test_a_hint_decides_where_the_words_are_silent():
    assert categorise("Seven of nine.", "fact", "assistant", "people-relationships")[0] == "people-relationships"


def test_clear_words_give_more_confidence_than_none():
    assert (
        categorise("`make deploy` runs the release pipeline in CI.", "fact", "assistant")[1]
        > categorise("Seven of nine.", "fact", "assistant")[1]
    )
