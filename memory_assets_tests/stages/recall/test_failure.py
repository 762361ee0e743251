"""When a part of the memory is missing or broken, the rest answers, and the answer names the loss."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.runs.materialise import materialise
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.store.settings import read_settings
from memory_assets_tests.stages.recall.leaving_out import build, suite

QUESTION = "Which bucket are the photos kept in?"
ANSWER = "heron-photos"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("facts") / "store").settings.data


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "broken"))


def agent_of(store: Path, **changes) -> MemoryAgent:
    return MemoryAgent(
        read_settings(
            data=store, timezone="UTC", owner=suite()["asker"], now=suite()["now"], **changes
        )
    )


def published(store: Path, name: str) -> Path:
    folder = store / "index" / name
    return folder / (folder / "current").read_text().strip()


def no_vectors(store: Path) -> None:
    shutil.rmtree(store / "index" / "vectors")


def pointer_to_nothing(store: Path) -> None:
    (store / "index" / "vectors" / "current").write_text("000099")


def corrupt_vectors(store: Path) -> None:
    for path in published(store, "vectors").glob("*.*"):
        path.write_bytes(b"broken" * 1000)


def cut_off_vectors(store: Path) -> None:
    for path in published(store, "vectors").glob("*.*"):
        path.write_bytes(path.read_bytes()[:100])


def half_built_vectors(store: Path) -> None:
    for path in published(store, "vectors").iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def no_texts(store: Path) -> None:
    shutil.rmtree(store / "index" / "texts")


def corrupt_texts(store: Path) -> None:
    for path in published(store, "texts").rglob("keys.npy"):
        path.write_bytes(b"broken")


LOSSES = [
    *((breaks, "keyword") for breaks in (no_vectors, pointer_to_nothing, corrupt_vectors)),
    *((breaks, "keyword") for breaks in (cut_off_vectors, half_built_vectors)),
    *((breaks, "vector") for breaks in (no_texts, corrupt_texts)),
]


@pytest.mark.parametrize(("breaks", "degraded"), LOSSES)
def test_without_one_index_the_other_answers_and_says_so(
    store: Path, breaks: Callable[[Path], None], degraded: str
):
    breaks(store)
    answer = agent_of(store).recall(QUESTION, probe=True)
    assert ANSWER in [one.memory_id for one in answer.results]
    assert answer.degraded == degraded
    assert any("memory data rebuild --indexes" in note for note in answer.notes)


def test_without_either_there_is_no_answer_and_that_is_said(store: Path):
    shutil.rmtree(store / "index")
    answer = agent_of(store).recall(QUESTION, probe=True)
    assert (answer.results, answer.is_known, answer.degraded) == ((), False, "nothing")
    assert any("memory data rebuild --indexes" in note for note in answer.notes)


def test_with_an_embedding_model_that_is_not_there_the_vectors_of_the_index_answer_and_that_is_said(
    store: Path,
):
    answer = agent_of(store, embedding_model="/no/such/model").recall(QUESTION, probe=True)
    assert answer.results[0].memory_id == ANSWER
    assert answer.degraded is None
    assert any("/no/such/model" in note for note in answer.notes)


def test_what_was_broken_is_whole_again_after_a_rebuild_of_the_indexes(store: Path):
    corrupt_vectors(store)
    agent = agent_of(store)
    assert agent.recall(QUESTION, probe=True).degraded == "keyword"
    for name in ("vector_index", "text_index"):
        materialise(agent.store, [TABLES[name]], [WHOLE])
    answer = agent_of(store).recall(QUESTION, probe=True)
    assert ([one.memory_id for one in answer.results], answer.degraded, answer.notes) == (
        [ANSWER],
        None,
        (),
    )
