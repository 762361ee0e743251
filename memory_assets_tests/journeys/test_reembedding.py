"""Another embedding model takes over beside the old one: recall always has an answer, and questions fit the vectors they meet."""

import threading
from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest

from memory_assets.errors import ModelError
from memory_assets.memory import MemoryAgent
from memory_assets.runs.inputs import UNTIL
from memory_assets.runs.materialise import materialise
from memory_assets.runs.staleness import stale_partitions
from memory_assets.schema.requests import RecallRequest
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.search import corpus
from memory_assets.services.search.corpus import is_switching_models, model_in_use, open_vectors
from memory_assets.store.settings import USUAL_EMBEDDING_MODEL
from memory_assets.store.store import Store
from memory_assets_tests.factories import START, ReadsWhole, WordEmbedder, row
from memory_assets_tests.small_store import (
    DAY,
    FACT,
    HASH,
    MEMORY,
    WINDOW,
    bring_up_to_date,
    small_store,
    write,
)

QUESTION, NEXT, OTHER = (
    "How are packages installed with uv?",
    DAY + timedelta(days=1),
    "Staging listens on port 5433.",
)
OTHER_ID = "1f3a5c1e-0000-5000-8000-000000000001"


class Numbered(ReadsWhole):
    """Vectors of another dimension, of a model in a folder; counts what it is asked."""

    name, version, dimension = "numbered", "7", 8

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts):
        return np.stack([self._of(text) for text in texts])

    def encode_query(self, text):
        self.asked.append(text)
        return self._of(text)

    def _of(self, text: str) -> np.ndarray:
        vector = np.ones(self.dimension, dtype=np.float32)
        vector[len(text) % self.dimension] += 1
        return vector / np.linalg.norm(vector)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, ReadsWhole]:
    """The built-in model and a new one, as fakes, by what the setting says."""
    found = {USUAL_EMBEDDING_MODEL: WordEmbedder({}), "/models/numbered": Numbered()}
    found[USUAL_EMBEDDING_MODEL].name = USUAL_EMBEDDING_MODEL
    monkeypatch.setattr(corpus, "open_embedder", found.__getitem__)
    return found


def fact_store() -> Store:
    """A store with a fact on each of two days."""
    store = small_store()
    plain = {
        "kind": "fact",
        "gate": "allow",
        "window_id": WINDOW,
        "author": "owner",
        "person": "mira",
        "session_id": "session-1",
    }
    write(
        store,
        "observations",
        str(DAY),
        row("observations", id=MEMORY, text=FACT, text_hash=HASH, event_at=START, **plain),
    )
    other = row(
        "observations", id=OTHER_ID, text=OTHER, text_hash="f" * 64, event_at=START, **plain
    )
    write(store, "observations", str(NEXT), other)
    bring_up_to_date(store)
    return store


@pytest.fixture
def store(models: dict[str, ReadsWhole]) -> Store:
    """A store with a fact on each of two days, embedded and indexed with the built-in model."""
    store = fact_store()
    encode(store, str(DAY), str(NEXT))
    rebuild(store)
    return store


def encode(store: Store, *days: str) -> None:
    for day in days:  # as if the days were stale
        for name in ("embeddings", "passage_vectors"):
            store.tables.write(name, day, store.tables.read(name, [day]), inputs="-")
    materialise(store, [TABLES["embedding_failures"], TABLES["embeddings"]], days)
    materialise(store, [TABLES["passages"]], days)
    materialise(store, [TABLES["passage_vectors"]], days)


def rebuild(store: Store) -> None:
    for name in ("merges", "memories", "vector_index", "text_index"):
        materialise(store, [TABLES[name]], [WHOLE])


def with_new_model(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MEMORY_EMBEDDING_MODEL", "/models/numbered")
    return MemoryAgent().store


def recall() -> list[str]:
    answer = MemoryAgent().recall(RecallRequest(question=QUESTION, probe=True))
    assert answer.degraded is None, answer.notes
    return [one.memory_id for one in answer.results if one.kind == "fact"]


def test_recall_answers_throughout_the_switch(
    store: Store, models: dict[str, ReadsWhole], monkeypatch: pytest.MonkeyPatch
):
    before = open_vectors(store).generation()
    assert recall()[0] == MEMORY
    changed, numbered = with_new_model(store, monkeypatch), models["/models/numbered"]
    assert isinstance(numbered, Numbered)
    assert recall()[0] == MEMORY, "the setting alone changes nothing"
    encode(changed, str(NEXT))
    rebuild(changed)
    assert is_switching_models(changed)
    assert open_vectors(changed).model() == USUAL_EMBEDDING_MODEL
    assert recall()[0] == MEMORY
    assert numbered.asked == [], "questions are compared with the old vectors"
    encode(changed, str(DAY))
    assert (recall()[0], numbered.asked) == (MEMORY, []), "until the new index is published"
    rebuild(changed)
    assert not is_switching_models(changed)
    assert model_in_use(changed) == ("numbered", "7")
    assert open_vectors(changed).model() == "/models/numbered"
    assert MEMORY in recall()
    assert len(numbered.asked) == 1
    assert open_vectors(changed).ids() == {MEMORY, OTHER_ID}
    assert (
        not (changed.root / "index" / "quarantine").exists()
        and before != open_vectors(changed).generation()
    )


def test_recall_never_answers_nothing_while_both_indexes_are_rebuilt(store: Store):
    answers: list[list[str]] = []
    is_done = threading.Event()

    def ask() -> None:
        while not is_done.is_set():
            answers.append(recall())

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(4):
            materialise(store, [TABLES["reembedding"]], [WHOLE])
            rebuild(store)
    finally:
        is_done.set()
        asking.join()
    assert len(answers) > 4
    assert all(MEMORY in answer for answer in answers)


def test_a_monthly_run_builds_indexes_from_nothing_and_marks_vectors_of_other_versions(
    store: Store, models: dict[str, ReadsWhole]
):
    before = open_vectors(store).generation()
    assert materialise(store, [TABLES["reembedding"]], [WHOLE]).figures["days_to_encode"] == 0
    made = materialise(store, [TABLES["vector_index"]], [WHOLE]).figures
    assert (made["rows"], made["upserted"]) == (2, 2)
    assert open_vectors(store).generation() != before
    encode(store, str(DAY), str(NEXT))
    assert not {str(DAY), str(NEXT)} & stale(store)
    models[USUAL_EMBEDDING_MODEL].version = "2"
    assert materialise(store, [TABLES["reembedding"]], [WHOLE]).figures["days_to_encode"] == 2
    assert {str(DAY), str(NEXT)} <= stale(store)
    materialise(store, [TABLES["embedding_failures"], TABLES["embeddings"]], [str(DAY), str(NEXT)])
    assert store.tables.read("embeddings")["model_version"].unique().to_list() == ["2"]


def stale(store: Store) -> set[str]:
    """The days whose texts have to be encoded."""
    return set(stale_partitions(store, TABLES["embeddings"]))


class Failing(ReadsWhole):
    """A model that loads and can encode nothing."""

    name, version = USUAL_EMBEDDING_MODEL, "1"

    def encode(self, texts):
        raise RuntimeError("out of memory")

    def encode_query(self, text):
        raise ModelError("out of memory")


def unloadable(name: str) -> ReadsWhole:
    raise ModelError(f"There is no embedding model in {name}.")


@pytest.mark.parametrize("opened", [unloadable, lambda name: Failing()])
def test_without_a_working_model_recall_answers_by_words_and_vectors_follow(
    opened: Callable, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(corpus, "open_embedder", opened)
    store = fact_store()
    encode(store, str(DAY), str(NEXT))
    rebuild(store)
    answer = MemoryAgent().recall(RecallRequest(question="packages with uv", probe=True))
    assert (answer.degraded, answer.results[0].memory_id) == ("keyword", MEMORY)
    assert not store.tables.read("embedding_failures").is_empty()
    assert UNTIL in store.tables.parts("embeddings")[str(DAY)].inputs, "it is tried again"
    monkeypatch.setattr(corpus, "open_embedder", lambda name: WordEmbedder({}))
    encode(store, str(DAY), str(NEXT))
    rebuild(store)
    assert recall()[0] == MEMORY
    assert store.tables.read("embedding_failures").is_empty()
