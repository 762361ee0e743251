"""Nearest first by cosine, changes on top of the generation before, no text in the files, and a way back from broken ones."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from memory_assets.adapters import chroma_index
from memory_assets.adapters.chroma_index import ChromaIndex
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


@pytest.mark.parametrize("count", [3, 1_500])
def test_the_files_of_the_graph_hold_no_uninitialised_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
):
    change, said = chroma_index._change, b"a text that the process had in memory "

    def change_and_leak(folder: Path, *given: Any) -> None:
        change(folder, *given)
        for name in ("data_level0.bin", "length.bin"):
            (path,) = folder.glob(f"*/{name}")
            filled = {3: 0, 1_500: path.stat().st_size}[count]  # few elements stay in Chroma's log
            path.write_bytes(
                (path.read_bytes()[:filled] + said * 2_000)[
                    : max(path.stat().st_size, filled + 4_000)
                ]
            )

    monkeypatch.setattr(chroma_index, "_change", change_and_leak)
    index = ChromaIndex(tmp_path)
    vectors = np.random.default_rng(7).normal(size=(count, 8)).astype(np.float32)
    index.update(rows(**{f"n{n}": vector.tolist() for n, vector in enumerate(vectors)}), [])
    for path in tmp_path.rglob("*.bin"):
        assert said[:8] not in path.read_bytes()
    assert index.ids() == {f"n{n}" for n in range(count)}
    monkeypatch.setattr(chroma_index, "COMPARED_ROWS", 0)
    assert [found(index, *vectors[2])[0] for _ in range(2)] == [
        "n2"
    ] * 2  # the second answer is Chroma's
    index.close()


def test_a_broken_generation_is_moved_aside_and_the_next_build_starts_anew(
    tmp_path: Path, index: ChromaIndex
):
    index.close()
    generation = index.generation()
    (tmp_path / "vectors" / str(generation) / "chroma.sqlite3").write_bytes(b"not a database" * 500)
    with pytest.raises(IndexFailedError, match="memory data rebuild --indexes"):
        index.ids()
    assert [path.name for path in (tmp_path / "quarantine").iterdir()] == [
        f"vectors-{generation}-0"
    ]
    index.update(rows(again=[1.0, 0.0]), [])
    assert index.ids() == {"again"}


def test_an_update_of_a_corrupted_generation_quarantines_it_and_the_next_one_starts_from_nothing(
    tmp_path,
):
    vector = [1.0, 0.0, 0.0]
    rows = pl.DataFrame(
        {"id": ["a"], "vector": [vector]}, schema={"id": pl.String, "vector": pl.List(pl.Float32)}
    )
    index = ChromaIndex(tmp_path)
    name = index.update(rows, [])
    (tmp_path / "vectors" / name / "chroma.sqlite3").write_bytes(b"no database")
    with pytest.raises(IndexFailedError, match="moved to"):
        index.update(rows, [])
    assert index.generation() is None
    index.update(rows, [])
    assert index.ids() == {"a"}


CHROMA_FINDS = 0.95
"""Of the truly nearest: its graph is searched, not walked whole, and is built by threads in whatever order."""


@pytest.mark.parametrize("limit", [1, 7, 60, 500])
def test_comparing_with_every_vector_is_exact_and_asking_chroma_nearly_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
):
    numbers = np.random.default_rng(4)
    vectors = numbers.standard_normal((400, 32)).astype(np.float32)
    index = ChromaIndex(tmp_path)
    index.update(
        rows(**{f"v{number}": vector.tolist() for number, vector in enumerate(vectors[:300])}), []
    )
    index.update(
        rows(
            **{
                f"v{number}": vector.tolist()
                for number, vector in enumerate(vectors)
                if number >= 200
            }
        ),
        ["v7", "v250"],
    )
    for vector in numbers.standard_normal((20, 32)).astype(np.float32):
        monkeypatch.setattr(chroma_index, "COMPARED_ROWS", 1_000)
        compared = index.find(vector, limit)
        monkeypatch.setattr(chroma_index, "COMPARED_ROWS", 0)
        asked = index.find(vector, limit)
        exact, near = ({hit.id: hit.score for hit in hits} for hits in (compared, asked))
        both = exact.keys() & near.keys()
        assert len(exact) == len(near) and len(both) >= CHROMA_FINDS * len(exact)
        assert [near[id] for id in both] == pytest.approx([exact[id] for id in both], abs=1e-5)
        assert min(exact.values()) >= min(near.values()) - 1e-5
    index.close()


@pytest.mark.parametrize(
    "content",
    [b"CHROMA_SERVER_HTTP_PORT=none\n", b"CHROMA_OTEL_SERVICE_NAME=theirs\n", b"A=\xff\n"],
)
def test_a_file_of_variables_in_the_working_folder_sets_nothing(tmp_path: Path, content: bytes):
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / ".env").write_bytes(content)
    ask = f"""if True:
        import pathlib
        from memory_assets.adapters.chroma_index import _client
        print(_client(pathlib.Path({str(tmp_path / "vectors")!r})).get_settings().chroma_otel_service_name)
    """
    done = subprocess.run(
        [sys.executable, "-P", "-c", ask], cwd=tmp_path / "clone", capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "chromadb\n"), done.stderr


def test_a_generation_without_the_array_is_asked_through_chroma(tmp_path: Path, index: ChromaIndex):
    (tmp_path / "vectors" / str(index.generation()) / "vectors.npy").unlink()
    assert found(index, 1.0, 0.0)[0] == "east"


def test_threads_that_ask_while_another_publishes_see_each_generation(
    tmp_path: Path, index: ChromaIndex, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(chroma_index, "COMPARED_ROWS", 0)
    until, wrong = time.monotonic() + 6, []

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
        # The one before goes: over a hundred equal vectors Chroma's graph does not find them all.
        ChromaIndex(tmp_path).update(rows(**{str(number): [1.0, 0.0]}), [str(number - 1)])
        number += 1
    for thread in threads:
        thread.join()
    assert wrong == []
