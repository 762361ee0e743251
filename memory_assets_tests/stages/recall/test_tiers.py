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

PROJECTS = ("shop-api", "blog", "git-sync", "gauge feed")

BROAD = [
    ("what are our conventions", "rules-conventions", None),
    ("What are the rules here?", "rules-conventions", None),
    ("which conventions do we follow in shop-api?", "rules-conventions", "shop-api"),
    ("list our coding guidelines", "rules-conventions", None),
    ("what rules apply to the blog", "rules-conventions", "blog"),
    ("Hi, could you give me an overview of the conventions, please?", "rules-conventions", None),
    (
        "what should I know about the standards in git-sync before I start?",
        "rules-conventions",
        "git-sync",
    ),
    ("what do I know about the deployment of project shop-api", "operations", "shop-api"),
    ("tell me about the deployment of the blog", "operations", "blog"),
    ("what do we know about releases?", "operations", None),
    ("summarize operations for shop api", "operations", "shop-api"),
    ("everything you know about CI", "operations", None),
    ("what is the architecture of git-sync?", "system-architecture", "git-sync"),
    ("how is shop-api structured", "system-architecture", "shop-api"),
    ("give me a rundown of the system design", "system-architecture", None),
    ("what are my preferences?", "preferences", None),
    ("what do you know about my habits", "preferences", None),
    ("who's who in the team", "people-relationships", None),
    ("what do we know about the people here?", "people-relationships", None),
    ("what is the status of the blog", "projects", "blog"),
    ("what are the goals of gitsync?", "projects", "git-sync"),
    ("tell me everything about git-sync", "", "git-sync"),
    ("overview of shop-api", "", "shop-api"),
    ("catch me up on the gauge feed", "", "gauge feed"),
    ("what have we learnt about the blog so far?", "", "blog"),
    ("what are our conventions for commits", "rules-conventions", None),
    ("what do we know about staging deployments", "operations", None),
]
NARROW = [
    "which port does staging use?",
    "how do we install packages here",
    "why do we not force-push?",
    "what is the rule for --force-with-lease",
    "what are the rules in src/app.py",
    "when did we change our conventions?",
    "what did we decide yesterday about the blog",
    "who decided on the architecture?",
    "how many people are in the team",
    "what is the command for the container-based end-to-end check",
    "remind me of the deploy command",
    "what is the difference between our conventions and the blog's",
    "what do we know about port 5433",
    "what do we know about ADR-0012",
    "tell me about the memory leak in the alert queue of the worker",
    "what do we know about tidal gauges in leith",
    "summarize this",
    "what did you learn",
    "overview",
    "",
    "deployment",
    "conventions",
    "can the caller tell which half of a push was refused?",
    "is the architecture page still right?",
    "what was the error in the last release",
    "tell me about kubernetes",
    "what naming style do the fields in the output use?",
    "how strict should the checks on pull requests be here?",
    "what are our rules about naming branches after customers in releases",
]


@pytest.mark.parametrize(("question", "category", "project"), BROAD)
def test_a_broad_question_is_answered_from_summaries(
    question: str, category: str, project: str | None
):
    found = choose_tier(question, PROJECTS)
    assert (found.tier, found.categories, found.project) == (
        SUMMARIES,
        (category,) if category else (),
        project,
    ), found


@pytest.mark.parametrize("question", NARROW)
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
