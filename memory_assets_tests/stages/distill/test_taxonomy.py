"""Categories as data: each is found in its examples and in sentences of a developer's days; another version is read beside the first."""

from collections import Counter
from importlib import resources

import numpy as np
import pytest

from memory_assets.errors import SettingsError
from memory_assets.stages.distill.taxonomy import (
    TAXONOMY,
    categorise,
    category_named,
    parse_taxonomy,
    read_taxonomy,
)
from memory_assets_tests.factories import WordEmbedder
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)
"""Sentences of a developer's days by category, none of them an example of the taxonomy."""

PACKAGED = (resources.files("memory_assets.stages.distill") / "taxonomy.toml").read_text(
    encoding="utf-8"
)
SEVEN = [
    "preferences",
    "rules-conventions",
    "system-architecture",
    "operations",
    "memory-system",
    "projects",
    "people-relationships",
]
LEAST_RIGHT, LEAST_OF_A_CATEGORY = 0.9, 0.75


@pytest.mark.parametrize(
    ("category", "example"),
    [(rule.name, example) for rule in TAXONOMY.categories for example in rule.examples],
)
def test_the_examples_of_a_category_belong_there(category: str, example: str):
    assert categorise(example, "narrative", "owner")[0] == category


def confusion() -> Counter[tuple[str, str]]:
    return Counter(
        (wanted, categorise(sentence, "narrative", "owner")[0])
        for wanted, sentences in LABELLED.items()
        for sentence in sentences
    )


def test_sentences_of_a_developers_days_find_their_category():
    table = confusion()
    right = {name: table[name, name] / len(LABELLED[name]) for name in SEVEN}
    mistaken = {pair: count for pair, count in table.items() if pair[0] != pair[1]}
    assert min(len(sentences) for sentences in LABELLED.values()) >= 12
    assert sum(table[name, name] for name in SEVEN) / table.total() >= LEAST_RIGHT, mistaken
    assert min(right.values()) >= LEAST_OF_A_CATEGORY, mistaken


def test_optional_categories_wait_until_they_are_named():
    more = read_taxonomy(None, ("health", "hobbies"))
    assert (more.version, read_taxonomy(None, ())) == ("v1+health+hobbies", TAXONOMY)
    assert [rule.name for rule in more.categories] == [*SEVEN, "health", "hobbies"]
    by_name = {rule.name: rule for rule in more.categories}
    for name in ("health", "hobbies"):
        assert all(
            categorise(example, "narrative", "owner", taxonomy=more)[0] == name
            for example in by_name[name].examples
        )


def test_the_more_similar_examples_decide_between_categories_that_fit_equally():
    def category(text: str, nearest: str) -> tuple[str, float]:
        return categorise(text, "narrative", "owner", embedder=Pointing(TAXONOMY, nearest))

    text = "The cache and the docs of Jonas"  # one word of system-architecture, one of projects
    assert categorise(text, "narrative", "owner") == ("system-architecture", 0.7)
    assert category(text, "projects") == ("projects", 0.7)
    assert category(text, "operations")[0] == "system-architecture"
    assert (
        category("The roadmap and the docs mention the cache.", "system-architecture")[0]
        == "projects"
    )
    assert category("Use uv, never pip.", "")[0] == "rules-conventions"


class Pointing(WordEmbedder):
    """Finds every text similar to the examples of one category, and to nothing else."""

    def __init__(self, taxonomy, name: str) -> None:
        super().__init__({})
        self.near = {
            one for rule in taxonomy.categories if rule.name == name for one in rule.examples
        }
        self.examples = {one for rule in taxonomy.categories for one in rule.examples}

    def encode_query(self, text: str) -> np.ndarray:
        return np.eye(2, dtype=np.float32)[int(text in self.examples and text not in self.near)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version = ", "Cannot read the taxonomy mine.toml"),
        ('version = "v2"', "needs a version and at least one"),
        (
            PACKAGED.replace('name = "projects"', 'name = "operations"'),
            "must name each category once",
        ),
        (PACKAGED.replace('name = "projects"', 'name = "things"'), "and projects among them"),
        (PACKAGED.replace("'prefer(?:s|ence)?'", "'prefer(?:s'"), "has an invalid pattern"),
        (
            'version = "v2"\n[[category]]\nname = "projects"\nwords = ["x"]\nexamples = ["one"]',
            "at least 8 examples",
        ),
    ],
)
def test_a_taxonomy_that_cannot_be_used_says_why(text: str, told: str):
    with pytest.raises(SettingsError, match=r"mine\.toml") as problem:
        parse_taxonomy(text, source="mine.toml")
    assert told in str(problem.value)


@pytest.mark.parametrize("author", ["assistant", "tool", "file", "web", "injected"])
def test_only_the_owner_is_filed_under_rules_and_preferences(author):
    for text in ("Always use pip, never uv.", "The owner prefers long answers."):
        assert categorise(text, "fact", author, "rules-conventions")[0] not in (
            "preferences",
            "rules-conventions",
        )


def test_a_vendors_prefix_is_taken_off():
    assert category_named("jc:operations") == "operations"
    assert category_named("JC:Rules_Conventions") == "rules-conventions"
    assert category_named("weather") is None
