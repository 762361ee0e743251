"""Answers a question from the first tier that knows the answer, within the budget of the request.

Takes a question, what is searched and what may be used beside it (a model, summaries). A broad question is answered from
category summaries where these suffice, without embedding it or asking an index. Any other is cleaned, or rewritten by a model
in the profiles that rewrite, and searched. Budget mode uses no model, and returns at most five results within a number of
tokens; a long memory that was shown before and never used counts less. The answer states its cost.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from time import perf_counter

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.requests import MOST, Filters, RecallRequest
from memory_assets.stages.recall.profiles import Profile, choose_profile
from memory_assets.stages.recall.query import AnswerDependencies, rewrite
from memory_assets.stages.recall.results import (
    Answer,
    Asker,
    Cost,
    LeftOut,
    Recalled,
    condition,
    cost_of_call,
    render_line,
    result_of,
)
from memory_assets.stages.recall.search import Corpus, search
from memory_assets.stages.recall.summaries import with_newer_memories
from memory_assets.stages.recall.tiers import SUMMARIES, choose_tier, find_summarised, is_broad
from memory_assets.text.words import count_tokens

MOST_IN_BUDGET = 5
BUDGET_TOKENS = 400
"""Of the whole block: five facts of the usual length (175 characters) take about 260."""

USUAL_TOKENS = 50
"""Of one fact; the tokens of a longer one count against it."""

LEAST = 0.5
"""Factor of a long memory that was never used."""


def answer(
    request: RecallRequest, corpus: Corpus, asker: Asker, dependencies: AnswerDependencies = AnswerDependencies()
) -> Answer:
    """Returns what helps with the question, and its cost."""
    began = perf_counter()
    question, budget, corpora = request.question, request.budget, request.corpus or None
    chosen = choose_profile("lean" if budget else request.profile, question, request.limit)
    found = None
    if dependencies.read_summaries is not None and corpora is None and not chosen.searches_messages:
        found = _from_summaries(question, corpus, asker, request, chosen, dependencies.read_summaries)
    if found is None:
        allowed = dependencies if chosen.rewrites else replace(dependencies, model=None)
        query = rewrite(question, asker.recent, allowed)
        limit, name = MOST if budget else request.limit, chosen.name
        found = search(
            query.text, corpus, asker, profile=name, limit=limit, corpora=corpora, filters=request, context=query.context
        )
        called = cost_of_call(query.answer, dependencies.price(query.answer)) if query.answer else Cost()
        found = replace(
            found,
            question=question,
            uses=("rewrite", *found.uses) if query.how == "rewritten" else found.uses,
            cost=found.cost + replace(called, model_calls=query.model_calls),
            notes=(query.note, *found.notes) if query.note else found.notes,
        )
    if budget:
        found = within_budget(found, corpus.memories)
    elif request.profile == "auto":
        found = replace(found, notes=(f"auto chose {found.profile}.", *found.notes))
    return replace(found, cost=replace(found.cost, seconds=round(perf_counter() - began, 4)))


def _from_summaries(
    question: str, corpus: Corpus, asker: Asker, filters: Filters, profile: Profile, read_summaries: Callable[[], pl.DataFrame]
) -> Answer | None:
    """Returns the facts of the summaries that answer a broad question, or None where they do not suffice."""
    if not is_broad(question):
        return None
    summaries = with_newer_memories(read_summaries(), corpus.memories)
    choice = choose_tier(question, [name for name in summaries["project"].unique().sort() if name], asker.project)
    if choice.tier != SUMMARIES:
        return None
    cited = pl.col("id").is_in(summaries["memory_ids"].explode().drop_nulls().implode())
    shown = corpus.memories.filter(condition(filters, corpus.memories.columns), cited)
    rows = {row["id"]: row for row in shown.iter_rows(named=True)}
    ids = find_summarised(choice, summaries, {id: row["text"] for id, row in rows.items()}, asker.person)
    if not ids:
        return None
    results = [
        result_of(rows[id], asker.now, score=round(1.0 - place / (len(ids) + 1), 6), arms=("summaries",))
        for place, id in enumerate(ids)
    ]
    return Answer(
        question,
        profile.name,
        tuple(results[: profile.limit]),
        len(ids),
        asked=question,
        left_out=tuple(LeftOut(one.memory_id, "over the cap", one.score) for one in results[profile.limit :]),
        uses=("summaries",),
        tier=SUMMARIES,
    )


def within_budget(found: Answer, memories: pl.DataFrame) -> Answer:
    """Returns the answer with the results that budget mode hands out."""
    ids = [one.memory_id for one in found.results]
    known = memories.filter(pl.col("id").is_in(ids)).select("id", "text", "recall_count", "used_count")
    penalties = {row["id"]: budget_penalty(row) for row in known.iter_rows(named=True)}
    weighed = [_weighed(one, penalties.get(one.memory_id, 1.0)) for one in found.results]
    kept = fit(sorted(weighed, key=lambda one: -one.score))
    left = [LeftOut(one.memory_id, "over the budget", one.score) for one in weighed if one not in kept]
    note = (
        f"Budget mode: {len(kept)} of {len(ids)} memories, in at most {BUDGET_TOKENS} tokens; no graph and no model were asked."
    )
    return replace(found, results=kept, left_out=(*left, *found.left_out), notes=(note, *found.notes))


def budget_penalty(memory: Row) -> float:
    """Returns the factor of a memory's score: less than 1 where it is long, was shown and was never used."""
    if not memory["recall_count"] or memory["used_count"]:
        return 1.0
    excess = max(count_tokens(memory["text"]) - USUAL_TOKENS, 0) / USUAL_TOKENS
    return max(1.0 - excess * min(memory["recall_count"], 5) / 5, LEAST)


def _weighed(one: Recalled, factor: float) -> Recalled:
    if factor == 1.0:
        return one
    return replace(one, score=round(one.score * factor, 6), weights={**one.weights, "thrift": round(factor, 4)})


def fit(results: Iterable[Recalled], tokens: int = BUDGET_TOKENS, most: int = MOST_IN_BUDGET) -> tuple[Recalled, ...]:
    """Returns the best results whose lines fit into the tokens; one that is too long is skipped."""
    kept: list[Recalled] = []
    left = tokens
    for result in results:
        cost = count_tokens(render_line(result) + "\n")
        if len(kept) < most and cost <= left:
            kept.append(result)
            left -= cost
    return tuple(kept)
