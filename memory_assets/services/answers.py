"""Opens what answers use besides the corpus, and answers a question over all tiers: MEMORY.md, memories, narratives, messages.

It opens and reads; `stages/recall/answering.py` and `stages/recall/cited_answer.py` decide.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import polars as pl

from memory_assets.errors import IndexFailedError
from memory_assets.schema.protocols import Model, TextIndex
from memory_assets.schema.requests import MOST, AnswerRequest
from memory_assets.services.corpus import open_corpus, open_texts
from memory_assets.services.models import masked, open_model, withheld_lines
from memory_assets.services.prices import cost_of, prices_of
from memory_assets.stages.recall import cited_answer
from memory_assets.stages.recall.cited_answer import CitedAnswer, answer_with_citations, lines_about, source_of
from memory_assets.stages.recall.query import DEADLINE_SECONDS, AnswerDependencies
from memory_assets.stages.recall.results import Asker
from memory_assets.stages.recall.search import Corpus, search
from memory_assets.store.settings import harness_of
from memory_assets.store.store import Store
from memory_assets.text.terms import query_terms

RAW_SOURCES = 6
"""Narratives and messages in addition to memories, for facts that the observer did not keep."""

SURE = 0.75
"""Share of the question's terms that a line of MEMORY.md must contain to answer it alone."""

PASSAGE_SURE = 0.5
"""Share of the question that a passage must cover to answer it without a memory."""

_models: dict[tuple[Path, str, str], Model | None] = {}
"""Models by store, name and address, kept while the process runs: opening a client takes half the deadline."""


@dataclass(frozen=True)
class Readable:
    """What a question may be answered from."""

    corpus: Corpus
    missing: tuple[str, ...]
    """Messages about parts that are not there."""
    read_summaries: Callable[[], pl.DataFrame]
    read_memory_md: Callable[[], str]
    texts: TextIndex
    """The index in which frequencies of words are counted."""


def everything_of(store: Store) -> Readable:
    """Returns everything that the store holds."""
    corpus, missing = open_corpus(store)
    return Readable(corpus, missing, lambda: store.tables.read("category_summaries"), store.memory_md, open_texts(store))


def dependencies_of(store: Store, readable: Readable, project: str | None = None) -> AnswerDependencies:
    """Returns what answers from the store use in the project; the model has no time for retries.

    No model rewrites questions from a project that may not be sent, or reranks, and no harness does: starting one is too slow.
    """
    settings, name = store.settings, store.settings.model_of("observer")
    if harness_of(name) or not settings.may_send(project or ""):
        return _dependencies(store, readable, None, DEADLINE_SECONDS)
    key = store.root, name, settings.url_of("observer")
    if key not in _models:
        _models[key] = open_model(store, timeout_seconds=DEADLINE_SECONDS, retries=0)
    return _dependencies(store, readable, _models[key], DEADLINE_SECONDS)


def _dependencies(store: Store, readable: Readable, model: Model | None, deadline_seconds: float) -> AnswerDependencies:
    return AnswerDependencies(
        model=model,
        price=lambda answer: cost_of(answer, prices_of(store.settings), model.name if model else ""),
        read_summaries=readable.read_summaries,
        frequency=lambda word: _frequency_of(readable.texts, word),
        deadline_seconds=deadline_seconds,
        reranks=store.settings.rerank,
        may_send=store.settings.may_send,
    )


def answer_from_all(
    store: Store, readable: Readable, request: AnswerRequest, asker: Asker, model: Model | None = None
) -> CitedAnswer:
    """Returns the answer from what is readable, written by the given model, or else by that of the settings.

    Lines of MEMORY.md are sources only without filters.
    """
    began = perf_counter()
    question, corpus = request.question, readable.corpus
    known = search(question, corpus, asker, profile="balanced", limit=MOST, corpora="memories", filters=request)
    raw = search(question, corpus, asker, profile="deep", limit=RAW_SOURCES, corpora=("segments", "messages"), filters=request)
    lines = [] if request.are_set or request.include else lines_about(question, readable.read_memory_md())
    found = [source_of(result) for result in (*known.results, *raw.results)]
    best = max((source.score for source in found), default=1.0) or 1.0
    found += [replace(line, score=line.score * best) for line in lines]
    weights = cited_answer.weights_of(question, lambda term: _frequency_of(readable.texts, term))
    is_in_passage = any(cited_answer.weighted_share(result.text, weights) >= PASSAGE_SURE for result in raw.results)
    is_in_memories = known.is_known and bool(known.results)
    reader = masked(model, store) if model else _open_reflector(store)
    projects = {asker.project or "", *(result.project for result in (*known.results, *raw.results))}
    waiting = [name for name in sorted(projects) if not store.settings.may_send(name)]
    is_withheld = bool(waiting) or not withheld_lines(store).isdisjoint(_entry_text(line.text) for line in lines)
    notes = (_note_of_withheld(waiting),) if reader and is_withheld else ()
    reader = None if is_withheld else reader
    dependencies = _dependencies(store, readable, reader, cited_answer.DEADLINE_SECONDS)
    sources = {source.id: source for source in sorted(found, key=lambda source: -source.score)}
    is_known = is_in_memories or is_in_passage or any(line.score >= SURE for line in lines)
    said = answer_with_citations(question, list(sources.values()), dependencies, is_known=is_known)
    cost = replace(known.cost + raw.cost + said.cost, seconds=round(perf_counter() - began, 4))
    return replace(said, cost=cost, notes=(*dict.fromkeys((*known.notes, *raw.notes, *readable.missing, *notes)), *said.notes))


def _open_reflector(store: Store) -> Model | None:
    return open_model(store, "reflector", timeout_seconds=cited_answer.DEADLINE_SECONDS, retries=1)


def _note_of_withheld(projects: Sequence[str]) -> str:
    names = f"of {', '.join(projects)}, which" if projects else "of projects that"
    return f"No model was asked: the sources include some {names} no model may be sent (`memory model add`)."


def _entry_text(line: str) -> str:
    """Returns the text of a line of MEMORY.md without its date."""
    return line[len("(2026-01-01) ") :] if line.startswith("(") else line


def _frequency_of(index: TextIndex, word: str) -> int:
    """Returns the number of memories that contain the word; 1 without an index."""
    try:
        texts = index.open("memories")
    except IndexFailedError:
        texts = None
    return 1 if texts is None else min((len(texts.postings(term)[0]) for term in query_terms(word)), default=0)
