"""Nearest first by cosine, changes on top of the generation before, and a way back from broken ones."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from memory_assets.adapters import array_index
from memory_assets.adapters.array_index import ArrayIndex
from memory_assets.errors import IndexFailedError


def rows(**vectors: list[float]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": list(vectors),
            "vector": list(vectors.values()),
            "category": ["operations"] * len(vectors),
        },
        schema={"id": pl.String, "vector": pl.List(pl.Float32), "category": pl.String},
    )


@pytest.fixture
def index(tmp_path: Path) -> Iterator[ArrayIndex]:
    made = ArrayIndex(tmp_path)
    made.update(rows(east=[1.0, 0.0], north=[0.0, 1.0], between=[0.6, 0.8]), [])
    yield made
    made.close()


def found(index: ArrayIndex, *vector: float) -> list[str]:
    return [hit.id for hit in index.find(np.array(vector, dtype=np.float32), 10)]


def test_the_nearest_come_first_with_their_cosine(index: ArrayIndex):
    hits = index.find(np.array([1.0, 0.0], dtype=np.float32), 2)
    assert [hit.id for hit in hits] == ["east", "between"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.6], abs=1e-6)


def test_changes_and_deletions_build_on_the_generation_before(index: ArrayIndex):
    first = index.generation()
    index.update(rows(east=[0.0, 1.0], west=[-1.0, 0.0]), ["north"])
    assert index.generation() != first
    assert index.ids() == {"east", "between", "west"}
    assert found(index, 0.0, 1.0)[0] == "east"


def test_a_broken_generation_is_moved_aside_and_the_next_update_starts_from_nothing(tmp_path: Path):
    index, aside = ArrayIndex(tmp_path), []
    for fails in (index.ids, lambda: index.update(rows(b=[1.0, 0.0]), [])):
        name = index.update(rows(a=[1.0, 0.0]), [])
        (tmp_path / "vectors" / name / "vectors.npy").write_bytes(b"no array" * 500)
        with pytest.raises(IndexFailedError, match="memory data rebuild --indexes"):
            fails()
        assert index.generation() is None
        aside.append(f"vectors-{name}-{len(aside)}")
    assert sorted(path.name for path in (tmp_path / "quarantine").iterdir()) == aside
    index.update(rows(again=[1.0, 0.0]), [])
    assert index.ids() == {"again"}


@pytest.mark.parametrize("limit", [1, 7, 60, 500])
def test_vectors_with_equal_signs_have_the_nearest_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
):
    numbers = np.random.default_rng(4)
    vectors = numbers.standard_normal((400, 32)).astype(np.float32)
    index = ArrayIndex(tmp_path)
    named = {f"v{number}": vector.tolist() for number, vector in enumerate(vectors)}
    index.update(rows(**dict([*named.items()][:300])), [])
    index.update(rows(**dict([*named.items()][200:])), ["v7", "v250"])
    for vector in numbers.standard_normal((20, 32)).astype(np.float32):
        monkeypatch.setattr(array_index, "COMPARED_ROWS", 1_000)
        compared = index.find(vector, limit)
        monkeypatch.setattr(array_index, "COMPARED_ROWS", 0)
        assert index.find(vector, limit) == compared
        assert len(compared) == min(limit, len(vectors) - 1)
    index.close()


def test_threads_see_each_generation_that_another_publishes(
    tmp_path: Path, index: ArrayIndex, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(array_index, "COMPARED_ROWS", 0)
    until, wrong = time.monotonic() + 2, []

    def ask() -> None:
        while time.monotonic() < until:
            published = int(index.generation() or 0)
            try:
                newest = max(
                    int(hit.id)
                    for hit in index.find(np.array([1.0, 0.0]), 1_000)
                    if hit.id.isdigit()
                )
            except Exception as error:
                wrong.append(repr(error))
                return
            if newest < published:
                wrong.append(f"{newest} when {published} was published")

    index.update(rows(**{"2": [1.0, 0.0]}), [])
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    number = 3
    while time.monotonic() < until:
        ArrayIndex(tmp_path).update(rows(**{str(number): [1.0, 0.0]}), [str(number - 1)])
        number += 1
    for thread in threads:
        thread.join()
    assert wrong == []
