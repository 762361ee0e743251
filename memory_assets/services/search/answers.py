"""Opens what answers use besides the corpus, and answers a question from what a recall of it
returns and from MEMORY.md.

It opens and reads; `stages/recall/answering.py` and `stages/recall/cited_answer.py` decide.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter

import polars as pl

from memory_assets.adapters.anthropic_model import load_sdk
from memory_assets.errors import IndexFailedError
from memory_assets.schema.protocols import Model, Row, TextReader
from memory_assets.schema.requests import AnswerRequest, RecallRequest
from memory_assets.services.health.built_share import built_share
from memory_assets.services.models.open_models import masked, open_model, withheld_lines
from memory_assets.services.models.prices import cost_of, prices_of
from memory_assets.services.search.corpus import open_corpus
from memory_assets.services.search.named import mark_gone
from memory_assets.stages.distill.authorship import typed_paragraphs
from memory_assets.stages.recall import cited_answer
from memory_assets.stages.recall.answering import answer
from memory_assets.stages.recall.cited_answer import CitedAnswer, answer_with_citations
from memory_assets.stages.recall.parsed_question import known_names
from memory_assets.stages.recall.query import DEADLINE_SECONDS, AnswerDependencies
from memory_assets.stages.recall.query_coverage import terms_of
from memory_assets.stages.recall.replaced import holds
from memory_assets.stages.recall.results import Answer, Asker
from memory_assets.stages.recall.retrievers import Corpus
from memory_assets.stages.recall.sources import AnswerSource, lines_about, sources_of
from memory_assets.stages.recall.statements import Wording
from memory_assets.store.settings import harness_of
from memory_assets.store.store import Store
from memory_assets.text.terms import query_terms

_models: dict[tuple[Path, str, str], Model | None] = {}
"""Models by store, name and address, kept while the process runs: opening a client takes half the
deadline.
"""


@dataclass(frozen=True)
class Readable:
    """What a question may be answered from."""

    corpus: Corpus
    missing: tuple[str, ...]
    """Messages about parts that are not there."""
    read_summaries: Callable[[], pl.DataFrame]
    read_memory_md: Callable[[], str]


def everything_of(store: Store) -> Readable:
    """Returns everything that the store holds."""
    corpus, missing = open_corpus(store)
    read_summaries = partial(store.tables.read, "category_summaries")
    missing = (*missing, *filter(None, [built_share(store)]))
    return Readable(corpus, missing, read_summaries, store.memory_md)


def dependencies_of(
    store: Store, readable: Readable, project: str | None = None
) -> AnswerDependencies:
    """Returns what answers from the store use in the project; the model has no time for retries.

    No model rewrites questions from a project that may not be sent, or reranks, and no harness
    does: starting one is too slow.
    """
    settings = store.settings
    name = settings.model_of("observer")
    if harness_of(name) or not settings.may_send(project or ""):
        return _dependencies(store, readable, None)
    key = (store.root, name, settings.url_of("observer"))
    if key not in _models:
        _models[key] = open_model(store, timeout_seconds=DEADLINE_SECONDS, retries=0)
    return _dependencies(store, readable, _models[key])


def _dependencies(store: Store, readable: Readable, model: Model | None) -> AnswerDependencies:
    name = model.name if model else ""
    return AnswerDependencies(
        model=model,
        price=lambda answer: cost_of(answer, prices_of(store.settings), name),
        read_summaries=readable.read_summaries,
        frequency=lambda word: _frequency_of(readable.corpus.texts, word),
        prepare=load_sdk,
        reranks=store.settings.rerank,
        may_send=store.settings.may_send,
    )


def answer_from_all(
    store: Store,
    readable: Readable,
    request: AnswerRequest,
    asker: Asker,
    model: Model | None = None,
) -> CitedAnswer:
    """Returns the answer from what is readable, written by the given model, or else by that of the
    settings.

    What a recall of the question finds known is known here. Lines of MEMORY.md are sources only
    without filters.
    """
    began = perf_counter()
    reader = masked(model, store) if model else _open_reflector(store)
    given = {name: getattr(request, name) for name in request.model_fields_set}
    asked = RecallRequest(**given, profile="deep" if reader else "balanced")
    dependencies = _dependencies(store, readable, None)
    recalled = mark_gone(store, answer(asked, readable.corpus, asker, dependencies))
    is_filtered = request.are_set or request.include
    memory_md = "" if is_filtered else readable.read_memory_md()
    lines = lines_about(request.question, memory_md)
    matches = _sources_among(recalled, readable.corpus)
    withheld = _why_withheld(store, asker, recalled, lines)
    dependencies = _dependencies(store, readable, None if withheld else reader)
    likelihood = 1.0 if lines else recalled.likelihood
    written = answer_with_citations(
        _wording(request.question, readable.corpus, likelihood),
        [*lines, *matches],
        replace(dependencies, deadline_seconds=cited_answer.DEADLINE_SECONDS),
        is_known=bool(lines) or (recalled.is_known and bool(matches)),
    )
    notes = (*recalled.notes, *readable.missing, *(withheld if reader else ()))
    seconds = round(perf_counter() - began, 4)
    cost = replace(recalled.cost + written.cost, seconds=seconds)
    return replace(written, cost=cost, notes=(*dict.fromkeys(notes), *written.notes))


def _open_reflector(store: Store) -> Model | None:
    seconds = cited_answer.DEADLINE_SECONDS
    return open_model(store, "reflector", timeout_seconds=seconds, retries=1)


def _sources_among(recalled: Answer, corpus: Corpus) -> list[AnswerSource]:
    """Returns the sources that hold, all where none does, else what is nearest, with their whole
    messages: of an owner's what was typed.
    """
    assert corpus.read_passages is not None
    present = [*filter(holds, recalled.results)] or recalled.results
    present = present or [*filter(None, [recalled.nearest])]
    halves = filter(None, (result.other_half for result in present))
    ids = {*(result.memory_id for result in present), *(half.message_id for half in halves)}
    passages = corpus.read_passages([f"{id}#0" for id in ids])
    wholes = {row["message_id"]: _said_in(row) for row in passages.iter_rows(named=True)}
    return [source for result in present for source in sources_of(result, wholes)]


def _said_in(message: Row) -> str:
    is_owners = message["author"] == "owner"
    whole = message["whole"]
    return "\n\n".join(typed_paragraphs(whole)) if is_owners else whole


def _wording(question: str, corpus: Corpus, likelihood: float) -> Wording:
    """Returns the question as statements are compared with it; without an embedder by words."""
    texts = corpus.texts.open("messages") or corpus.texts.open("memories")
    names = [name for names in known_names(corpus.memories) for name in names]
    terms = terms_of(question, texts, names=names, aliases=corpus.aliases) if texts else ()
    embedder = corpus.embedder
    if embedder is None:
        return Wording(question, terms, likelihood)
    vector = embedder.encode_query(question)
    return Wording(question, terms, likelihood, lambda texts: embedder.encode(texts) @ vector)


def _why_withheld(
    store: Store, asker: Asker, recalled: Answer, lines: Sequence[AnswerSource]
) -> tuple[str, ...]:
    """Returns a note if a source may not be sent to a model."""
    projects = {asker.project or "", *(result.project for result in recalled.results)}
    waiting = [name for name in sorted(projects) if not store.settings.may_send(name)]
    entries = {_entry_text(line.text) for line in lines}
    if not waiting and withheld_lines(store).isdisjoint(entries):
        return ()
    names = f"of {', '.join(waiting)}, which" if waiting else "of projects that"
    note = f"No model was asked: the sources include some {names} no model may be sent"
    return (f"{note} (`memory model add`).",)


def _entry_text(line: str) -> str:
    """Returns the text of a line of MEMORY.md without its date."""
    return line[len("(2026-01-01) ") :] if line.startswith("(") else line


def _frequency_of(index: TextReader, word: str) -> int:
    """Returns the number of memories that contain the word; 1 without an index."""
    try:
        texts = index.open("memories")
    except IndexFailedError:
        return 1
    if texts is None:
        return 1
    return min((len(texts.postings(term)[0]) for term in query_terms(word)), default=0)
