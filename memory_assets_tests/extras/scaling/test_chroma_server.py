"""The vector index on a real Chroma server: the same answers as from files, whole while it changes, and clear where it is down."""

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memory_assets.adapters.array_index import ArrayIndex
from memory_assets.errors import IndexFailedError
from memory_assets.extras.scaling import chroma_server
from memory_assets.extras.scaling.chroma_server import ChromaServerIndex, connect, delete_unused
from memory_assets_tests.adapters.test_array_index import found, rows
from memory_assets_tests.extras.scaling.servers import chroma_server as served
from memory_assets_tests.extras.scaling.servers import free_port

pytestmark = pytest.mark.slow

AXES = {"east": [1.0, 0.0], "north": [0.0, 1.0], "between": [0.6, 0.8]}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("server") / "chroma") as address:
        yield address


@pytest.fixture
def index(tmp_path: Path, address: str, request: pytest.FixtureRequest) -> ChromaServerIndex:
    made = ChromaServerIndex(tmp_path, address, f"memory-{abs(hash(request.node.name)):x}")
    made.update(rows(**AXES), [], model="a model")
    return made


def collections(address: str, index: ChromaServerIndex) -> list[str]:
    return sorted(
        one.name
        for one in connect(address).list_collections()
        if one.name.startswith(index.store_name)
    )


def test_answers_equal_those_from_files(tmp_path: Path, index: ChromaServerIndex):
    vectors = np.random.default_rng(7).normal(size=(2_000, 16)).astype(np.float32)
    many = rows(**{f"n{n}": vector.tolist() for n, vector in enumerate(vectors)})
    local = ArrayIndex(tmp_path / "local")
    for one in (index, local):
        one.update(many, [], rebuild=True)
    for question in vectors[:20] + 0.1:
        there, here = index.find(question, 30), local.find(question, 30)
        assert [hit.id for hit in there] == [hit.id for hit in here]
        assert [hit.score for hit in there] == pytest.approx([hit.score for hit in here], abs=1e-5)
    assert index.ids() == local.ids()
    local.close()


def test_a_reader_never_finds_nothing_while_another_one_publishes(
    tmp_path: Path, index: ChromaServerIndex, address: str
):
    writer, counts, is_over = (
        ChromaServerIndex(tmp_path, address, index.store_name),
        set[int](),
        threading.Event(),
    )

    def read() -> None:
        while not is_over.is_set():
            counts.add(len(found(index, 1.0, 0.0)))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(12):
        writer.update(rows(east=[1.0, 0.01 * turn]), [])
    is_over.set()
    reader.join()
    assert counts == {3}


def test_what_a_killed_writer_left_is_replaced(
    index: ChromaServerIndex, address: str, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(
            chroma_server, "write_json", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        index.update(rows(west=[-1.0, 0.0]), [])
    assert len(collections(address, index)) == 2
    assert index.ids() == set(AXES)
    index.update(rows(south=[0.0, -1.0]), [])
    assert index.ids() == {*AXES, "south"}


def test_a_server_that_is_down_is_named_and_costs_no_generation(tmp_path: Path):
    port = free_port()
    with served(tmp_path / "data", port) as address:
        index = ChromaServerIndex(tmp_path, address, "memory-down")
        index.update(rows(**AXES), [])
    for ask in (
        lambda: found(index, 1.0, 0.0),
        index.ids,
        lambda: index.update(rows(**AXES), []),
        index.keep_published_only,
    ):
        with pytest.raises(IndexFailedError, match=rf"The Chroma server at {address} .* Start it"):
            ask()
    assert index.faults(is_deep=True) == []
    with served(tmp_path / "data", port):
        assert found(index, 1.0, 0.0)[0] == "east"


def test_back_in_files_the_collections_on_the_server_are_deleted(
    tmp_path: Path, index: ChromaServerIndex, address: str
):
    local = ArrayIndex(tmp_path)
    assert local.generation() is None
    local.update(rows(**AXES), [], rebuild=True)
    assert delete_unused(tmp_path, address) == []
    assert collections(address, index) != []
    assert delete_unused(tmp_path, "") == []
    assert collections(address, index) == []
    assert found(local, 1.0, 0.0)[0] == "east"


def test_erasing_leaves_other_stores_alone(tmp_path: Path, index: ChromaServerIndex, address: str):
    other = ChromaServerIndex(tmp_path / "other", address, "memory-other")
    other.update(rows(**AXES), [])
    index.erase()
    assert collections(address, index) == []
    assert other.ids() == set(AXES)


def test_a_generation_that_is_removed_during_the_read_is_read_again(index: ChromaServerIndex):
    def read(folder: Path) -> bool:
        if len(index.ids()) == 3:
            index.update(rows(added=[0.0, 1.0]), [])
            index.keep_published_only()
        return folder.is_dir()

    assert index.read_published(read, False)
