"""The sample with its vectors on a Chroma server: the tables and recalls of a store in files, forgetting, and the way back."""

import shutil
from pathlib import Path

import pytest

from memory_assets.errors import IndexFailedError
from memory_assets.extras.scaling.chroma_server import connect
from memory_assets.memory import MemoryAgent
from memory_assets.services.forget import erase
from memory_assets.services.forget import whole_store as erasing
from memory_assets_tests import story
from memory_assets_tests.extras.scaling.servers import chroma_server, free_port
from memory_assets_tests.once import only_whole
from memory_assets_tests.small_store import FACT, MEMORY, index, small_store

pytestmark = pytest.mark.slow

QUESTIONS = ("commit", "push")


def vectors_on(address: str) -> set[str]:
    """The ids of all vectors on the server."""
    client = connect(address)
    return {
        id
        for c in client.list_collections()
        for id in client.get_collection(c.name, embedding_function=None).get()["ids"]
    }


def answers(data: Path, sources: Path, **more: str) -> list:
    """What recall returns to the questions, without the ids and times of the recalls."""
    found = [story.run(f"recall {question}", data, sources, **more) for question in QUESTIONS]
    return [
        [(x.get("memory_id") or x.get("message_id"), round(x["score"], 4)) for x in one["results"]]
        for one in found
    ]


@only_whole("the tests of the index hold its parts on small stores")
def test_the_sample_is_the_same_and_recall_continues_while_the_server_is_down(tmp_path: Path):
    sources, port = story.lay_out_sample(tmp_path / "sources", "/pi/"), free_port()
    here, there, chroma = tmp_path / "here", tmp_path / "there", f"http://127.0.0.1:{port}"
    story.run("ingest", here, sources)
    shutil.copytree(here, there)
    with chroma_server(tmp_path / "server", port):
        story.run("ingest", there, sources, MEMORY_CHROMA=chroma)
        tables = [story.all_tables(story.open_at(place, sources)) for place in (there, here)]
        story.assert_same_tables(*tables)
        assert list((there / "index" / "vectors").rglob("*.npy")) == []
        assert vectors_on(chroma)
        expected = answers(here, sources)
        assert answers(there, sources, MEMORY_CHROMA=chroma) == expected
        assert all(expected)
    down = story.run(f"recall {QUESTIONS[0]}", there, sources, MEMORY_CHROMA=chroma)
    assert down["results"]
    assert [note for note in down["notes"] if "The Chroma server at" in note and "Start it" in note]
    with chroma_server(tmp_path / "server", port):
        story.run("ingest", there, sources)  # in files again
        assert vectors_on(chroma) == set()
    assert answers(there, sources) == expected


def test_what_is_forgotten_is_gone_from_the_server_which_must_be_up_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    port = free_port()
    monkeypatch.setenv("MEMORY_CHROMA", f"http://127.0.0.1:{port}")
    with chroma_server(tmp_path / "server", port) as address:
        index(small_store())
        assert vectors_on(address) == {MEMORY}
    with pytest.raises(IndexFailedError, match="does not answer"):
        MemoryAgent().forget(FACT, apply=True)
    with chroma_server(tmp_path / "server", port) as address:
        erase.finish(MemoryAgent().store)  # as the next run does
        assert vectors_on(address) == set()


def test_erasing_empties_the_server_and_deletes_nothing_while_it_is_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    port = free_port()
    monkeypatch.setenv("MEMORY_CHROMA", f"http://127.0.0.1:{port}")
    store = small_store()
    with chroma_server(tmp_path / "server", port) as address:
        index(store)
        assert vectors_on(address) == {MEMORY}
    with pytest.raises(IndexFailedError, match="does not answer"):
        erasing.erase(store.settings)
    assert (store.root / "VERSION").is_file()
    with chroma_server(tmp_path / "server", port) as address:
        erasing.erase(store.settings)
        assert vectors_on(address) == set()
    assert not (store.root / "VERSION").exists()
