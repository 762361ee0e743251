"""Answers a question from the first tier that knows the answer, within the budget of the request.

Takes a question, what is searched and what may be used beside it (a model, summaries). A broad
question is answered from category summaries where these suffice, without embedding it or asking an
index. Any other is cleaned, or rewritten by a model in the profiles that rewrite, and searched.
Budget mode uses no model, and returns at most five results within a number of tokens; a long memory
that was shown before and never used counts less. The answer states its cost.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import monotonic, perf_counter

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.requests import RecallRequest
from memory_assets.stages.recall.needs import merge_answers, split_needs
from memory_assets.stages.recall.parsed_question import known_names, parse_scope
from memory_assets.stages.recall.profiles import Profile, choose_profile
from memory_assets.stages.recall.query import AnswerDependencies, rewrite
from memory_assets.stages.recall.rerank import Reranker
from memory_assets.stages.recall.results import (
    Answer,
    Asker,
    Cost,
    LeftOut,
    Recalled,
    condition,
    cost_of_call,
    fit,
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
    request: RecallRequest,
    corpus: Corpus,
    asker: Asker,
    dependencies: AnswerDependencies = AnswerDependencies(),
) -> Answer:
    """Returns what helps with the question, and its cost."""
    began = perf_counter()
    question, budget, corpora = request.question, request.budget, request.corpus or None
    chosen = _profile_of(request)
    found = None
    is_listing = corpora is not None or request.by is not None
    if dependencies.read_summaries is not None and not is_listing and not chosen.is_wide:
        how = (request, chosen, dependencies.read_summaries)
        found = _from_summaries(question, corpus, asker, *how)
    if found is None:
        needs = () if request.are_a_selection else split_needs(question)
        alone = replace(dependencies, model=None)
        reranks = dependencies.reranks and not needs
        allowed = replace(dependencies, reranks=reranks) if chosen.asks_model else alone
        found = _answer(question, asker, request, corpus, allowed)
        if needs:
            askers = _askers(needs, asker, request, corpus)
            asked = zip(needs, askers, strict=True)
            parts = [_answer(need, one, request, corpus, alone) for need, one in asked]
            found = merge_answers(found, parts, chosen, is_listing=bool(request.corpus))
    if budget:
        found = within_budget(found, corpus.memories)
    elif request.profile == "auto":
        found = replace(found, notes=(f"auto chose {found.profile}.", *found.notes))
    return replace(found, cost=replace(found.cost, seconds=round(perf_counter() - began, 4)))


def _profile_of(request: RecallRequest) -> Profile:
    name, limit = ("budget", None) if request.budget else (request.profile, request.limit)
    return choose_profile(name, request.question, limit)


def _askers(
    needs: Sequence[str], asker: Asker, request: RecallRequest, corpus: Corpus
) -> Iterator[Asker]:
    """Yields who asks each need: in the project that the whole question names, after the needs
    before it.
    """
    known_projects, _ = known_names(corpus.memories)
    projects = parse_scope(request.question, asker, request, known_projects, ()).projects
    project = next(iter(projects)) if len(projects) == 1 else asker.project
    for place in range(len(needs)):
        yield replace(asker, project=project, recent=(*asker.recent, *needs[:place]))


def _answer(
    question: str,
    asker: Asker,
    request: RecallRequest,
    corpus: Corpus,
    dependencies: AnswerDependencies,
) -> Answer:
    """Returns the answer to a question, or to one need of it, by a search."""
    if dependencies.model is not None:
        dependencies.prepare()
    until = monotonic() + dependencies.deadline_seconds
    query, profile = rewrite(question, asker.recent, dependencies), _profile_of(request).name
    limit = None if request.budget else request.limit
    reranker = Reranker(query.text, dependencies, until)
    found = search(
        query.text,
        corpus,
        asker,
        profile=profile,
        limit=limit,
        page=request.page,
        lists_candidates=request.lists_candidates,
        corpora=request.corpus,
        filters=request,
        context=query.context,
        rerank=reranker.rank,
    )
    called = Cost()
    if query.answer:
        called = cost_of_call(query.answer, dependencies.price(query.answer))
    return replace(
        found,
        question=question,
        uses=(
            *(("rewrite",) if query.how == "rewritten" else ()),
            *(("rerank",) if reranker.is_used else ()),
            *found.uses,
        ),
        cost=found.cost + replace(called, model_calls=query.model_calls) + reranker.cost,
        notes=(*filter(None, (query.note, reranker.note)), *found.notes),
    )


def _from_summaries(
    question: str,
    corpus: Corpus,
    asker: Asker,
    filters: RecallRequest,
    profile: Profile,
    read_summaries: Callable[[], pl.DataFrame],
) -> Answer | None:
    """Returns the facts of the summaries that answer a broad question, or None where they do not
    suffice.
    """
    if not is_broad(question):
        return None
    summaries = with_newer_memories(read_summaries(), corpus.memories)
    choice = choose_tier(
        question, [name for name in summaries["project"].unique().sort() if name], asker.project
    )
    if choice.tier != SUMMARIES:
        return None
    cited = pl.col("id").is_in(summaries["memory_ids"].explode().drop_nulls().implode())
    shown = corpus.memories.filter(condition(filters, corpus.memories.columns), cited)
    rows = {row["id"]: row for row in shown.iter_rows(named=True)}
    ids = find_summarised(
        choice, summaries, {id: row["text"] for id, row in rows.items()}, asker.person
    )
    if not ids:
        return None
    scores = (1.0 - place / (len(ids) + 1) for place in range(len(ids)))
    results = [
        result_of(rows[id], asker.now, score=score, arms=("summaries",))
        for id, score in zip(ids, scores, strict=True)
    ]
    end = profile.limit * filters.page
    start = end - profile.limit
    return Answer(
        question,
        profile.name,
        tuple(results[start:end]),
        len(ids),
        asked=question,
        left_out=tuple(LeftOut(one.memory_id, "over the cap", one.score) for one in results[end:]),
        uses=("summaries",),
        tier=SUMMARIES,
        page=filters.page,
    )


def within_budget(found: Answer, memories: pl.DataFrame) -> Answer:
    """Returns the answer with the results that budget mode hands out."""
    ids = [one.memory_id for one in found.results]
    known = memories.filter(pl.col("id").is_in(ids)).select(
        "id", "text", "recall_count", "used_count"
    )
    penalties = {row["id"]: budget_penalty(row) for row in known.iter_rows(named=True)}
    weighed = [_weighed(one, penalties.get(one.memory_id, 1.0)) for one in found.results]
    ordered = sorted(weighed, key=lambda one: -one.score)
    kept = fit(ordered, BUDGET_TOKENS, MOST_IN_BUDGET)
    left = (one for one in weighed if one not in kept)
    omissions = [LeftOut(one.memory_id, "over the budget", one.score) for one in left]
    note = (
        f"Budget mode: {len(kept)} of {len(ids)} memories, in at most {BUDGET_TOKENS} tokens; "
        "no model was asked."
    )
    left_out = (*omissions, *found.left_out)
    return replace(found, results=kept, left_out=left_out, notes=(note, *found.notes))


def budget_penalty(memory: Row) -> float:
    """Returns the factor of a memory's score: less than 1 where it is long, was shown and was never
    used.
    """
    if not memory["recall_count"] or memory["used_count"]:
        return 1.0
    excess = max(count_tokens(memory["text"]) - USUAL_TOKENS, 0) / USUAL_TOKENS
    return max(1.0 - excess * min(memory["recall_count"], 5) / 5, LEAST)


def _weighed(one: Recalled, factor: float) -> Recalled:
    if factor == 1.0:
        return one
    weights = {**one.weights, "thrift": round(factor, 4)}
    return replace(one, score=round(one.score * factor, 6), weights=weights)
