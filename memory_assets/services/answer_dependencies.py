"""What answers may use beside what is searched: the model that the settings name, category summaries, the counts of words.

Stands beside `corpus.py`; nothing is opened before it is needed.
"""

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

_readers: dict[tuple[Path, str, str], Model | None] = {}
"""Models by store, name and address, kept for the life of the process: opening a client takes half the deadline."""


def dependencies_of(store: Store) -> AnswerDependencies:
    """Returns what answers from the store may use."""
    settings = store.settings
    return AnswerDependencies(
        model=reader_of(store),
        price=lambda answer: cost_of(answer, prices_of(settings)),
        read_summaries=lambda: store.tables.read("category_summaries"),
        frequency=lambda word: frequency_of(store, word),
    )


def reader_of(store: Store) -> Model | None:
    """Returns the model that rewrites questions, where the settings name one; it is asked once and has no time to retry."""
    key = store.root, store.settings.model, store.settings.model_url
    if key not in _readers:
        _readers[key] = open_model(store, timeout_seconds=DEADLINE_SECONDS, retries=0)
    return _readers[key]


def frequency_of(store: Store, word: str) -> int:
    """Returns how many memories hold the word; one where that cannot be told."""
    try:
        texts = open_texts(store).open("memories")
    except IndexFailedError:
        return 1
    if texts is None:
        return 1
    return min((len(texts.postings(term)[0]) for term in query_terms(word)), default=0)
