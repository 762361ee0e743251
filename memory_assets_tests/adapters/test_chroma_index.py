"""Nearest first by cosine, changes on top of the generation before, no text in the files, and a way back from broken ones."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.errors import IndexFailedError


def rows(**vectors: list[float]) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": list(vectors), "vector": list(vectors.values()), "category": ["operations"] * len(vectors)},
        schema={"id": pl.String, "vector": pl.List(pl.Float32), "category": pl.String},
    )


@pytest.fixture
def index(tmp_path: Path) -> Iterator[ChromaIndex]:
    made = ChromaIndex(tmp_path)
    made.update(rows(east=[1.0, 0.0], north=[0.0, 1.0], between=[0.6, 0.8]), [])
    yield made
    made.close()


def found(index: ChromaIndex, *vector: float) -> list[str]:
    return [hit.id for hit in index.find(np.array(vector, dtype=np.float32), 10)]


def test_the_nearest_come_first_with_their_cosine(index: ChromaIndex):
    hits = index.find(np.array([1.0, 0.0], dtype=np.float32), 2)
    assert [hit.id for hit in hits] == ["east", "between"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.6], abs=1e-6)


def test_changes_and_deletions_build_on_the_generation_before(index: ChromaIndex):
    first = index.generation()
    index.update(rows(east=[0.0, 1.0], west=[-1.0, 0.0]), ["north"])
    assert index.generation() != first
    assert index.ids() == {"east", "between", "west"}
    assert found(index, 0.0, 1.0)[0] == "east"


def test_an_open_reader_moves_on_to_what_another_one_published(tmp_path: Path, index: ChromaIndex):
    assert "west" not in found(index, 1.0, 0.0)
    writer = ChromaIndex(tmp_path)
    for n in range(3):
        writer.update(rows(west=[-1.0, 0.1 * n]), [])
    assert found(index, -1.0, 0.0)[0] == "west"


def test_a_rebuild_forgets_what_was_there(index: ChromaIndex):
    index.update(rows(only=[1.0, 0.0]), [], rebuild=True)
    assert index.ids() == {"only"}


def test_an_index_never_built_answers_nothing(tmp_path: Path):
    index = ChromaIndex(tmp_path / "none")
    assert (index.generation(), found(index, 1.0, 0.0), index.ids()) == (None, [], set())


def test_an_index_with_everything_deleted_answers_nothing(index: ChromaIndex):
    index.update(rows(), ["east", "north", "between"])
    assert found(index, 1.0, 0.0) == []


def test_a_broken_generation_is_moved_aside_and_the_next_build_starts_anew(tmp_path: Path, index: ChromaIndex):
    index.close()
    generation = index.generation()
    (tmp_path / "vectors" / str(generation) / "chroma.sqlite3").write_bytes(b"not a database" * 500)
    with pytest.raises(IndexFailedError, match="memory rebuild --indexes"):
        index.ids()
    assert [path.name for path in (tmp_path / "quarantine").iterdir()] == [f"vectors-{generation}-0"]
    index.update(rows(again=[1.0, 0.0]), [])
    assert index.ids() == {"again"}


def test_vectors_of_another_dimension_are_a_broken_generation(index: ChromaIndex):
    with pytest.raises(IndexFailedError, match="keywords"):
        index.find(np.array([1.0, 0.0, 0.0], dtype=np.float32), 1)
    assert index.generation() is None


def test_an_update_of_a_corrupted_generation_quarantines_it_and_the_next_one_starts_from_nothing(tmp_path):
    vector = [1.0, 0.0, 0.0]
    rows = pl.DataFrame({"id": ["a"], "vector": [vector]}, schema={"id": pl.String, "vector": pl.List(pl.Float32)})
    index = ChromaIndex(tmp_path)
    name = index.update(rows, [])
    (tmp_path / "vectors" / name / "chroma.sqlite3").write_bytes(b"no database")
    with pytest.raises(IndexFailedError, match="moved to"):
        index.update(rows, [])
    assert index.generation() is None
    index.update(rows, [])
    assert index.ids() == {"a"}
