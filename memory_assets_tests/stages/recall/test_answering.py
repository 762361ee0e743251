"""The first tier that knows answers, at the price that its asker allows, and the answer says what it took."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.runs.steps.recall import write_category
from memory_assets.schema.requests import RecallRequest
from memory_assets.stages.embed.memories import RECALLED
from memory_assets.stages.recall import answering
from memory_assets.stages.recall.answering import (
    BUDGET_TOKENS,
    answer,
    within_budget,
)
from memory_assets.stages.recall.log import log_recalls
from memory_assets.stages.recall.query import AnswerDependencies, Breaker
from memory_assets.stages.recall.results import (
    Answer,
    Asker,
    Cost,
    result_of,
)
from memory_assets.stages.recall.summaries import summarise
from memory_assets.stages.recall.tiers import SUMMARIES
from memory_assets.text.words import count_tokens
from memory_assets_tests.factories import START, frame, row
from memory_assets_tests.stages.distill.models import ScriptedModel

FACTS = {
    "d1": "Deploys of shop-api go through Buildkite.",
    "d2": "A deploy needs `make check` to pass first.",
    "o1": "Backups of the orders database run at night.",
}
RECENT = ["The staging database of shop-api moved to leith-1.", "It listens on 5433 now."]


def memories(**changes: dict[str, Any]) -> pl.DataFrame:
    plain = {
        "kind": "fact",
        "state": "active",
        "scope": "project",
        "project": "shop-api",
        "category": "operations",
        "event_at": START,
    }
    return frame(
        "memories",
        *(
            row("memories", **plain | {"id": id, "text": text} | changes.get(id, {}))
            for id, text in FACTS.items()
        ),
    )


class Searched:
    """Stands in for the search: remembers what it was asked, and answers with all memories."""

    def __init__(self, found: pl.DataFrame) -> None:
        self.memories = found
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, question: str, corpus: Any, asker: Asker, **options: Any) -> Answer:
        self.asked.append((question, options))
        rows = self.memories.iter_rows(named=True)
        results = [
            result_of(one, asker.now, score=1 - place / 10, arms=("keyword",))
            for place, one in enumerate(rows)
        ]
        return Answer(
            question,
            options["profile"],
            tuple(results),
            len(results),
            asked=question,
            cost=Cost(1, 2),
        )


class Corpus:
    def __init__(self, found: pl.DataFrame) -> None:
        self.memories = found


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Searched:
    found = Searched(memories())
    monkeypatch.setattr(answering, "search", found)
    return found


def ask(
    searched: Searched,
    question: str,
    *,
    dependencies: AnswerDependencies | None = None,
    recent: Sequence[str] = (),
    **options: Any,
) -> Answer:
    dependencies = dependencies or AnswerDependencies(
        read_summaries=lambda: summarise(searched.memories), breaker=Breaker()
    )
    asker = Asker(START, "shop-api", "ann", recent=recent)
    request = RecallRequest.of(question, **options)
    return answer(request, Corpus(searched.memories), asker, dependencies)  # type: ignore[arg-type]


# Tiers


def test_a_broad_question_stops_at_the_summaries_and_asks_no_index(searched: Searched):
    found = ask(searched, "what do we know about the deployment of shop-api?")
    assert [one.memory_id for one in found.results] == ["d1", "d2"]
    assert (found.tier, found.uses, found.cost) == (SUMMARIES, ("summaries",), Cost())
    assert {one.arms for one in found.results} == {("summaries",)}
    assert searched.asked == []


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("which port does staging use?", {}),
        ("what do we know about backup operations?", {}),
        ("what do we know about the deployment of shop-api?", {"profile": "deep"}),
        ("what do we know about the deployment of shop-api?", {"corpus": "messages"}),
        ("what do we know about the deployment of shop-api?", {"category": ["preferences"]}),
        (
            "what do we know about the deployment of shop-api?",
            {"dependencies": AnswerDependencies()},
        ),
    ],
)
def test_where_summaries_do_not_suffice_memories_are_searched(
    searched: Searched, question: str, options: dict[str, Any]
):
    assert ask(searched, question, **options).tier == 2
    assert len(searched.asked) == 1


def test_what_was_noted_since_the_summaries_were_written_comes_first(searched: Searched):
    old = summarise(searched.memories)
    later = START + timedelta(hours=1)
    note = row(
        "memories", id="n1", text="Deploys of shop-api wait for Mondays.", kind="fact", state="active", scope="project",
        project="shop-api", category="operations", event_at=later,
    )  # fmt: skip
    rule = {**note, "id": "n2", "text": "Never deploy drunk.", "category": "rules-conventions"}
    searched.memories = pl.concat([searched.memories, frame("memories", note, rule)])
    dependencies = AnswerDependencies(read_summaries=lambda: old)
    found = ask(
        searched, "what do we know about the deployment of shop-api?", dependencies=dependencies
    )
    assert [one.memory_id for one in found.results] == ["n1", "d1", "d2"]
    assert [
        one.memory_id
        for one in ask(searched, "what are our conventions?", dependencies=dependencies).results
    ] == ["n2"]


def test_what_is_over_the_profile_is_named(searched: Searched):
    found = ask(searched, "what do we know about operations?", limit=1)
    assert (len(found.results), [one.reason for one in found.left_out]) == (
        1,
        ["over the cap", "over the cap"],
    )


# The question


def test_a_model_rewrites_in_balanced_and_deep_and_never_in_lean_or_in_budget_mode(
    searched: Searched,
):
    model = ScriptedModel("<query>port of the staging database of shop-api</query>")
    dependencies = AnswerDependencies(model, price=lambda said: 0.5, breaker=Breaker())
    for profile in ("balanced", "deep"):
        found = ask(
            searched, "and which port?", dependencies=dependencies, recent=RECENT, profile=profile
        )
        assert (found.question, searched.asked[-1][0]) == (
            "and which port?",
            "port of the staging database of shop-api",
        )
        assert (found.asked, found.uses, found.cost.model_calls) == (
            searched.asked[-1][0],
            ("rewrite",),
            1,
        )
        assert (found.cost.embeddings, found.cost.index_queries, found.cost.usd) == (1, 2, 0.5)
        assert found.cost.model_tokens > 0
    asked = len(model.asked)
    assert (
        ask(
            searched, "and which port?", dependencies=dependencies, recent=RECENT, profile="lean"
        ).uses
        == ()
    )
    assert (
        ask(
            searched, "and which port?", dependencies=dependencies, recent=RECENT, budget=True
        ).cost.model_calls
        == 0
    )
    assert len(model.asked) == asked


# Several needs


PROMPT = (
    "Deploys of the shop stopped this morning after somebody changed the pipeline. Find out which database backups ran last "
    "night. Then write down what the release of the staging cluster needs to pass."
)


def test_each_need_of_a_long_prompt_is_searched_and_the_model_is_asked_once_at_most(
    searched: Searched,
):
    model = ScriptedModel("<query>deploys, backups and releases of shop-api</query>")
    found = ask(searched, PROMPT, dependencies=AnswerDependencies(model, breaker=Breaker()))
    whole, *parts = [question for question, _ in searched.asked]
    assert (whole, " ".join(parts)) == ("deploys, backups and releases of shop-api", PROMPT)
    assert (len(parts), len(model.asked), found.cost.embeddings) == (3, 1, 4)
    assert (found.question, found.uses, found.asked) == (
        PROMPT,
        ("rewrite", "needs"),
        " | ".join(parts),
    )


# Budget


def test_budget_mode_hands_out_five_within_its_tokens(
    searched: Searched, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(FACTS, "long", "word " * 110)
    for number in range(8):
        monkeypatch.setitem(FACTS, f"x{number}", f"Fact number {number} of the shop.")
    searched.memories = memories()
    found = ask(searched, "which port?", budget=True, limit=9, profile="deep")
    assert searched.asked[0][1]["profile"] == "budget"
    assert len(found.results) == 5
    assert count_tokens(found.render()) <= BUDGET_TOKENS
    assert {one.reason for one in found.left_out} == {"over the budget"}


def test_in_budget_mode_what_was_dear_and_never_used_comes_later():
    dear = "The long story of the deploy pipeline. " * 6
    known = memories(d1={"text": dear, "recall_count": 5, "used_count": 0})
    results = [
        result_of(one, START, score=1.0 - place / 100, arms=())
        for place, one in enumerate(known.iter_rows(named=True))
    ]
    found = within_budget(Answer("q", "lean", tuple(results), 3), known)
    assert [one.memory_id for one in found.results] == ["d2", "o1", "d1"]
    assert found.results[-1].weights == {"thrift": 0.82}


# Through the facade


def test_the_tier_and_the_cost_of_every_answer_are_in_the_log(monkeypatch: pytest.MonkeyPatch):
    from memory_assets_tests.small_store import index, small_store

    store = small_store()
    index(store)
    found = summarise(store.tables.read("memories").with_columns(kind=pl.lit("fact")))
    write_category(store, "rules-conventions", found)
    agent = MemoryAgent()
    assert agent.recall("what are our conventions?").tier == SUMMARIES
    assert agent.recall("how do we install packages here").tier == 2
    assert agent.recall("how do we install packages here", budget=True).profile == "budget"
    assert agent.recall("sourdough hydration of rye").is_known is False
    noted = log_recalls(store.ledger.events([RECALLED]), store.settings.zone)
    assert noted["outcome"].to_list() == ["summaries", "memories", "memories", "not in memory"]
    assert noted["is_budget"].to_list() == [False, False, True, False]
    assert noted["is_reranked"].to_list() == [False] * 4
    assert noted["embeddings"].to_list()[:2] == [0, 1]
