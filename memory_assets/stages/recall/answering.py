"""Answers a question from the first tier that knows, at the price that its asker allows.

Takes a question, what is searched and what may be used beside it (a model, summaries). A broad question is answered from
category summaries where these suffice: nothing is embedded and no index is asked. Any other is cleaned, or rewritten by a
model in the profiles that rewrite, and searched. In budget mode nobody is asked, and five results at most within a number of
tokens are handed out. What all of that took stands in the answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter

import polars as pl

from memory_assets.schema.protocols import Model, ModelAnswer
from memory_assets.schema.requests import MOST, Filters, RecallRequest
from memory_assets.stages.recall.budget import BUDGET_TOKENS, fit, thrift
from memory_assets.stages.recall.profiles import Profile, choose_profile
from memory_assets.stages.recall.query import BREAKER, DEADLINE_SECONDS, Breaker, Query, rewrite
from memory_assets.stages.recall.results import Answer, Asker, Cost, LeftOut, Recalled, as_result, condition
from memory_assets.stages.recall.search import Corpus, search
from memory_assets.stages.recall.summaries import brought_up_to_date
from memory_assets.stages.recall.tiers import SUMMARIES, find_summarised, is_open, read_question
from memory_assets.stages.recall.wording import Frequency

REWRITE, FROM_SUMMARIES = "rewrite", "summaries"


@dataclass(frozen=True)
class Means:
    """What an answer may use beside what is searched."""

    model: Model | None = None
    price: Callable[[ModelAnswer], float | None] = lambda _: None
    read_summaries: Callable[[], pl.DataFrame] | None = None
    frequency: Frequency | None = None
    breaker: Breaker = field(default_factory=lambda: BREAKER)
    deadline_seconds: float = DEADLINE_SECONDS


def answer(request: RecallRequest, corpus: Corpus, asker: Asker, means: Means = Means()) -> Answer:
    """Returns what helps with the question, and what it took."""
    began = perf_counter()
    question, budget, corpora = request.question, request.budget, request.corpus or None
    chosen = choose_profile("lean" if budget else request.profile, question, request.limit)
    found = None
    if means.read_summaries is not None and corpora is None and not chosen.searches_raw:
        found = _from_summaries(question, corpus, asker, request, chosen, means.read_summaries)
    if found is None:
        model = means.model if chosen.rewrites else None
        query = rewrite(
            question,
            asker.recent,
            model=model,
            frequency=means.frequency,
            deadline_seconds=means.deadline_seconds,
            breaker=means.breaker,
        )
        most = MOST if budget else request.limit
        found = search(
            query.text, corpus, asker, profile=chosen.name, limit=most, corpora=corpora, filters=request, context=query.context
        )
        found = _told(found, question, query, means)
    if budget:
        found = within_budget(found, corpus.memories)
    if request.profile == "auto" and not budget:
        found = replace(found, notes=(f"auto chose {found.profile}.", *found.notes))
    return replace(found, cost=replace(found.cost, seconds=round(perf_counter() - began, 4)))


def within_budget(found: Answer, memories: pl.DataFrame) -> Answer:
    """Returns the answer cut to what budget mode hands out: what was dear and never used counts less."""
    ids = [one.memory_id for one in found.results]
    known = memories.filter(pl.col("id").is_in(ids)).select("id", "text", "recall_count", "used_count")
    thrifts = {row["id"]: thrift(row) for row in known.iter_rows(named=True)}
    weighed = [_weighed(one, thrifts.get(one.memory_id, 1.0)) for one in found.results]
    kept = fit(sorted(weighed, key=lambda one: -one.score))
    left = [LeftOut(one.memory_id, "over the budget", one.score) for one in weighed if one not in kept]
    note = (
        f"Budget mode: {len(kept)} of {len(ids)} memories, in at most {BUDGET_TOKENS} tokens; no graph and no model were asked."
    )
    return replace(found, results=kept, left_out=(*left, *found.left_out), notes=(note, *found.notes))


def _from_summaries(
    question: str,
    corpus: Corpus,
    asker: Asker,
    filters: Filters,
    profile: Profile,
    read_summaries: Callable[[], pl.DataFrame],
) -> Answer | None:
    """Returns the facts of the summaries that answer a broad question, or None where they do not suffice."""
    if not is_open(question):
        return None
    summaries = brought_up_to_date(read_summaries(), corpus.memories)
    projects = [name for name in summaries["project"].unique().sort() if name]
    reading = read_question(question, projects, asker.project)
    if reading.tier != SUMMARIES:
        return None
    shown = corpus.memories.filter(condition(filters, corpus.memories.columns))
    cited = shown.filter(pl.col("id").is_in(summaries["memory_ids"].explode().drop_nulls().implode()))
    rows = {row["id"]: row for row in cited.iter_rows(named=True)}
    found = find_summarised(reading, summaries, {id: row["text"] for id, row in rows.items()}, asker.person)
    if found is None:
        return None
    count = len(found.memory_ids)
    results = [
        as_result(rows[id], asker.now, score=round(1.0 - place / (count + 1), 6), arms=(FROM_SUMMARIES,))
        for place, id in enumerate(found.memory_ids)
    ]
    kept, over = results[: profile.limit], results[profile.limit :]
    return Answer(
        question,
        profile.name,
        tuple(kept),
        count,
        asked=question,
        left_out=tuple(LeftOut(one.memory_id, "over the cap", one.score) for one in over),
        uses=(FROM_SUMMARIES,),
        tier=SUMMARIES,
    )


def _told(found: Answer, question: str, query: Query, means: Means) -> Answer:
    """Returns the answer with what became of the question, and what that took."""
    uses = (REWRITE, *found.uses) if query.how == "rewritten" else found.uses
    said = query.answer
    tokens = said.input_tokens + said.cache_read_tokens + said.cache_write_tokens + said.output_tokens if said else 0
    usd = (means.price(said) or 0.0) if said else 0.0
    cost = found.cost + Cost(model_calls=query.model_calls, model_tokens=tokens, usd=usd)
    notes = (query.note, *found.notes) if query.note else found.notes
    return replace(found, question=question, uses=uses, cost=cost, notes=notes)


def _weighed(one: Recalled, factor: float) -> Recalled:
    if factor == 1.0:
        return one
    return replace(one, score=round(one.score * factor, 6), weights={**one.weights, "thrift": round(factor, 4)})
