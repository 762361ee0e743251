"""Opens what answers use besides the corpus: the configured model, category summaries, word counts; each when needed."""

from pathlib import Path

from memory_assets.errors import IndexFailedError
from memory_assets.schema.protocols import Model
from memory_assets.services.corpus import open_texts
from memory_assets.services.models import open_model
from memory_assets.services.prices import cost_of, prices_of
from memory_assets.stages.recall.answering import AnswerDependencies
from memory_assets.stages.recall.query import DEADLINE_SECONDS
from memory_assets.store.store import Store
from memory_assets.text.terms import query_terms

_models: dict[tuple[Path, str, str], Model | None] = {}
"""Models by store, name and address, kept while the process runs: opening a client takes half the deadline."""


def dependencies_of(store: Store) -> AnswerDependencies:
    """Returns what answers from the store use."""
    settings = store.settings
    return AnswerDependencies(
        model=rewriting_model(store),
        price=lambda answer: cost_of(answer, prices_of(settings)),
        read_summaries=lambda: store.tables.read("category_summaries"),
        frequency=lambda word: frequency_of(store, word),
    )


def rewriting_model(store: Store) -> Model | None:
    """Returns the model that rewrites questions, if one is configured; there is no time for retries."""
    key = store.root, store.settings.model, store.settings.model_url
    if key not in _models:
        _models[key] = open_model(store, timeout_seconds=DEADLINE_SECONDS, retries=0)
    return _models[key]


def frequency_of(store: Store, word: str) -> int:
    """Returns the number of memories that contain the word; 1 without an index."""
    try:
        texts = open_texts(store).open("memories")
    except IndexFailedError:
        texts = None
    if texts is None:
        return 1
    return min((len(texts.postings(term)[0]) for term in query_terms(word)), default=0)
