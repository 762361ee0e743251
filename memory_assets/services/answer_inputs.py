"""Gathers what an answer over all tiers can rest on (MEMORY.md, memories, what was said word for word) and has it answered.

Stands beside `corpus.py`: it opens and reads; `stages/recall/cited_answer.py` decides.
"""

from dataclasses import dataclass, replace
from time import perf_counter

from memory_assets.schema.protocols import Model
from memory_assets.schema.requests import MOST, AnswerRequest
from memory_assets.services.answer_dependencies import frequency_of
from memory_assets.services.corpus import open_corpus
from memory_assets.services.models import masked, open_model
from memory_assets.services.prices import cost_of, prices_of
from memory_assets.stages.recall.cited_answer import (
    DEADLINE_SECONDS,
    CitedAnswer,
    Source,
    answer_with_citations,
    lines_about,
    source_of,
    weighted_share,
    weights_of,
)
from memory_assets.stages.recall.results import Asker, Cost
from memory_assets.stages.recall.search import search
from memory_assets.store.store import Store

RAW_SOURCES = 6
"""Narratives and messages in addition to memories, for facts that the observer did not keep."""

SURE = 0.75
"""Share of the question's terms that a line of MEMORY.md must contain to answer it alone."""

TOLD = 0.5
"""Share of the question that a passage must cover to answer it without a memory."""


@dataclass(frozen=True)
class Gathered:
    """Sources, best first, and how they were found."""

    sources: tuple[Source, ...]
    is_known: bool
    cost: Cost
    notes: tuple[str, ...]


def answer_from_all(store: Store, request: AnswerRequest, asker: Asker, model: Model | None = None) -> CitedAnswer:
    """Returns the answer, put together by the model that is given, or by the one that the settings name."""
    began = perf_counter()
    question, found = request.question, gather(store, request, asker)
    reader = masked(model, store) if model else open_model(store, timeout_seconds=DEADLINE_SECONDS, retries=1)
    prices = prices_of(store.settings)
    said = answer_with_citations(
        question,
        found.sources,
        is_known=found.is_known,
        model=reader,
        price=lambda answer: cost_of(answer, prices),
        frequency=lambda term: frequency_of(store, term),
    )
    cost = replace(found.cost + said.cost, seconds=round(perf_counter() - began, 4))
    return replace(said, cost=cost, notes=(*found.notes, *said.notes))


def gather(store: Store, filters: AnswerRequest, asker: Asker) -> Gathered:
    """Returns the sources about the question; lines of MEMORY.md only without filters."""
    question, (corpus, missing) = filters.question, open_corpus(store)
    known = search(question, corpus, asker, profile="balanced", limit=MOST, corpora="memories", filters=filters)
    raw = search(question, corpus, asker, profile="deep", limit=RAW_SOURCES, corpora=("segments", "messages"), filters=filters)
    lines = [] if filters.are_set or filters.include else lines_about(question, store.memory_md())
    found = [source_of(result) for result in (*known.results, *raw.results)]
    best = max((source.score for source in found), default=1.0) or 1.0
    stated = [replace(line, score=line.score * best) for line in lines]
    sources = {source.id: source for source in sorted((*found, *stated), key=lambda source: -source.score)}
    wanted = weights_of(question, lambda term: frequency_of(store, term))
    is_told = any(weighted_share(result.text, wanted) >= TOLD for result in raw.results)
    is_known = (known.is_known and bool(known.results)) or is_told or any(line.score >= SURE for line in lines)
    notes = tuple(dict.fromkeys((*known.notes, *raw.notes, *missing)))
    return Gathered(tuple(sources.values()), is_known, known.cost + raw.cost, notes)
