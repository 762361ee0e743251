"""Which tier a question is answered from: broad ones from summaries where these suffice, all others from memories and below."""

from typing import Any

import polars as pl
import pytest

from memory_assets.stages.recall.summaries import summarise
from memory_assets.stages.recall.tiers import (
    MEMORIES,
    SUMMARIES,
    choose_tier,
    find_summarised,
)
from memory_assets_tests.factories import frame, row
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)

PROJECTS = ("shop-api", "blog", "git-sync", "gauge feed")


@pytest.mark.parametrize(("question", "category", "project"), LABELLED["broad"])
def test_a_broad_question_is_answered_from_summaries(
    question: str, category: str, project: str | None
):
    found = choose_tier(question, PROJECTS)
    assert (found.tier, found.categories, found.project) == (
        SUMMARIES,
        (category,) if category else (),
        project,
    ), found


@pytest.mark.parametrize("question", LABELLED["narrow"])
def test_a_question_for_something_in_particular_is_not(question: str):
    assert choose_tier(question, PROJECTS).tier == MEMORIES, choose_tier(question, PROJECTS)


# What the summaries hold


def fact(id: str, text: str, **changes: Any) -> dict[str, Any]:
    plain = {
        "kind": "fact",
        "state": "active",
        "scope": "project",
        "project": "shop-api",
        "category": "operations",
        "person": "ann",
    }
    return row("memories", **plain | {"id": id, "text": text} | changes)


FACTS = [
    fact("d1", "Deploys of shop-api go through Buildkite.", priority="high"),
    fact("d2", "A deploy needs `make check` to pass first."),
    fact("o1", "Backups of the orders database run at night."),
    fact("b1", "The blog is deployed with rsync.", project="blog"),
    fact("r1", "Never push to main.", category="rules-conventions"),
    fact("p1", "Prefers short answers.", category="preferences", scope="person"),
    fact("p2", "Prefers tabs.", category="preferences", scope="person", person="bob"),
    fact("held", "Perhaps deploys should wait for Mondays.", state="held"),
]


def ask(
    question: str, *facts: dict[str, Any], project: str | None = None, person: str = "ann"
) -> list[str] | None:
    memories = frame("memories", *(facts or FACTS))
    texts = dict(memories.filter(pl.col("state") == "active").select("id", "text").iter_rows())
    found = find_summarised(
        choose_tier(question, PROJECTS, project), summarise(memories), texts, person
    )
    return found or None


def test_a_topic_is_answered_with_the_facts_about_it():
    assert ask("what do I know about the deployment of project shop-api") == ["d1", "d2"]


def test_a_summary_that_holds_too_little_about_the_topic_does_not_suffice():
    assert ask("what do we know about backup operations of shop-api") is None
    assert ask("what do we know about the deployment of the blog") is None


def test_an_overview_of_a_project_takes_from_each_category_in_turn_and_not_what_follows_a_person():
    assert ask("overview of shop-api") == ["d1", "r1", "d2", "o1"]
