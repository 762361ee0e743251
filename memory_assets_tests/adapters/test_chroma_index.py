"""Chroma's copy: the answers of the arrays, no uninitialised memory in its files, and no settings from a working folder."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memory_assets.adapters import chroma_index
from memory_assets.adapters.array_index import ArrayIndex
from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.errors import IndexFailedError
from memory_assets_tests.adapters.test_array_index import rows

FINDS = 0.95
"""Of the truly nearest: its graph is searched, not walked whole, and is built by threads in whatever order."""


def random_rows(count: int, width: int = 8) -> tuple[np.ndarray, dict[str, list[float]]]:
    vectors = np.random.default_rng(7).normal(size=(count, width)).astype(np.float32)
    return vectors, {f"n{n}": vector.tolist() for n, vector in enumerate(vectors)}


@pytest.mark.parametrize("count", [3, 1_500])
def test_the_files_of_the_graph_hold_no_uninitialised_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
):
    overwrite, said = chroma_index._overwrite_unused, b"a text that the process had in memory "

    def leak_and_overwrite(folder: Path) -> None:
        for name in ("data_level0.bin", "length.bin"):
            (path,) = folder.glob(f"*/{name}")
            filled = {3: 0, 1_500: path.stat().st_size}[count]  # few elements stay in Chroma's log
            path.write_bytes(
                (path.read_bytes()[:filled] + said * 2_000)[
                    : max(path.stat().st_size, filled + 4_000)
                ]
            )

        overwrite(folder)

    monkeypatch.setattr(chroma_index, "_overwrite_unused", leak_and_overwrite)
    index = ChromaIndex(tmp_path)
    vectors, named = random_rows(count)
    index.update(rows(**named), [])
    for path in tmp_path.rglob("*.bin"):
        assert said[:8] not in path.read_bytes()
    monkeypatch.undo()
    assert index.ids() == {*named}
    assert index.find(vectors[2:3], 10)[0][0].id == "n2"


@pytest.mark.parametrize(
    "damage", [lambda path: path.write_bytes(b"no database" * 500), Path.unlink]
)
def test_a_broken_copy_is_moved_aside_and_the_next_update_starts_from_nothing(
    tmp_path: Path, damage: Callable[[Path], object]
):
    index = ChromaIndex(tmp_path)
    for fails in (index.ids, lambda: index.update(rows(b=[1.0, 0.0]), [])):
        name = index.update(rows(a=[1.0, 0.0]), [])
        damage(tmp_path / "chroma" / name / "chroma.sqlite3")
        with pytest.raises(IndexFailedError, match="Recall does not need it"):
            fails()
        assert index.generation() is None


@pytest.mark.parametrize("limit", [1, 7, 60, 500])
def test_it_finds_nearly_what_the_arrays_find(tmp_path: Path, limit: int):
    vectors, named = random_rows(400, 32)
    arrays, copy = ArrayIndex(tmp_path), ChromaIndex(tmp_path)
    for index in (arrays, copy):
        index.update(rows(**dict([*named.items()][:300])), [])
        index.update(rows(**dict([*named.items()][200:])), ["n7", "n250"])
    assert copy.ids() == arrays.ids()
    questions = vectors[:20] + 0.1
    for question, answer in zip(questions, copy.find(questions, limit), strict=True):
        exact = {hit.id: hit.score for hit in arrays.find(question, limit)}
        near = {hit.id: hit.score for hit in answer}
        both = exact.keys() & near.keys()
        assert len(exact) == len(near) and len(both) >= FINDS * len(exact)
        assert [near[id] for id in both] == pytest.approx([exact[id] for id in both], abs=1e-5)


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
