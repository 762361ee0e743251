"""Eight readers, threads and processes, while generations are published and notes are made: no error, and nothing stale."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from memory_assets.adapters import chroma_index
from memory_assets.adapters.chroma_index import ChromaIndex
from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.adapters.parquet_tables import ParquetTables
from memory_assets.adapters.text_index import TextIndex
from memory_assets.distill.rows import text_hash
from memory_assets.embed.memories import fold_memories
from memory_assets.memory import MemoryAgent
from memory_assets.settings import read_settings
from memory_assets.store import Store, open_store
from memory_assets_tests.conftest import REPOSITORY
from memory_assets_tests.factories import frame, row

MARK = "0f3a5c1e-0000-5000-8000-000000000001"
GENERATIONS, THREADS, PROCESSES = 15, 4, 4
BREATH_SECONDS, PAUSE_SECONDS = 2.0, 2.5
"""Between two questions of a reader, so that the writer gets on beside eight of them on two cores; between two generations."""
_NUMBER = re.compile(r"stands at (\d+)\.")


def marked(number: int) -> str:
    return f"The heron counter beside the reactor stands at {number}."


def published(root: Path) -> int:
    """The generation that a reader could see when it began, told by the memories alone."""
    return number_in(ParquetTables(root / "tables").read("memories", columns=["text"])["text"].to_list())


def number_in(texts: list[str]) -> int:
    return max(int(found[1]) for text in texts if (found := _NUMBER.search(text)))


def read_until(is_over: Callable[[], bool], root: Path, ready: Path) -> tuple[int, list[str]]:
    """Asks again and again; returns how often, and what went wrong."""
    agent, wrong, asked = MemoryAgent(), [], 0
    agent.recall("warm up", is_probe=True)
    ready.touch()
    while not is_over():
        time.sleep(BREATH_SECONDS)
        began, noted = published(root), len(agent.store.ledger.events(["memory.noted"]))
        answer = agent.recall("where does the heron counter stand", is_probe=True)
        asked += 1
        seen = [result.text for result in answer.results]
        if not any(_NUMBER.search(text) for text in seen) or number_in(seen) < began:
            wrong.append(f"generation {began} was published, but the answer was {seen}")
        if answer.degraded or answer.notes:
            wrong.append(f"degraded: {answer.degraded} {answer.notes}")
        if noted and "Storks" not in str(agent.recall(f"storks number {noted}", is_probe=True).results):
            wrong.append(f"note {noted} was on disk, but was not found")
    return asked, wrong


class Pipeline:
    """Publishes generations of memories, vectors and words, one after the other, as the assets do."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._embedder = LocalEmbedder()
        self._vectors, self._texts = ChromaIndex(store.root / "index"), TextIndex(store.root / "index")

    def publish(self, number: int) -> None:
        text = marked(number)
        said = row("observations", id=MARK, text=text, text_hash=text_hash(text), gate="allow", kind="fact", author="owner")
        with self._store.lock():
            memories = fold_memories(frame("observations", said), frame("merges"), self._store.ledger.events())
            self._store.tables.write("memories", "all", memories)
            vectors = pl.Series("vector", [self._embedder.encode_query(text).tolist() for text in memories["text"]])
            self._vectors.update(memories.select("id", "category", "kind", "state").with_columns(vectors), [])
            self._texts.update(memories.select("id", pl.lit("memories").alias("corpus"), "text"), [])


@pytest.mark.slow
@pytest.mark.parametrize("compared", [chroma_index.COMPARED_ROWS, 0], ids=["vectors compared one and all", "Chroma asked"])
def test_eight_readers_beside_a_writer_meet_no_error_and_nothing_stale(
    compared: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(chroma_index, "COMPARED_ROWS", compared)
    store = open_store(read_settings())
    pipeline, writer = Pipeline(store), MemoryAgent()
    pipeline.publish(0)
    over = tmp_path / "over"
    ready = [tmp_path / f"ready-{number}" for number in range(THREADS + PROCESSES)]
    heard: list[tuple[int, list[str]]] = []

    def read(mark: Path) -> None:
        try:
            heard.append(read_until(over.exists, store.root, mark))
        except BaseException as error:
            heard.append((0, [repr(error)]))
            mark.touch()

    threads = [threading.Thread(target=read, args=(mark,)) for mark in ready[:THREADS]]
    command = [sys.executable, __file__, str(compared), str(over), str(store.root)]
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    processes = [
        subprocess.Popen([*command, str(mark)], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for mark in ready[THREADS:]
    ]
    for thread in threads:
        thread.start()
    try:
        while not all(mark.exists() or process_ended(processes) for mark in ready):
            time.sleep(0.05)
        for number in range(1, GENERATIONS + 1):
            if number % 3 == 0:
                writer.remember(f"Storks number {number // 3} nest on the roof of building {number}.")
            pipeline.publish(number)
            time.sleep(PAUSE_SECONDS)
    finally:
        over.touch()
        for thread in threads:
            thread.join()
        for process in processes:
            out, err = process.communicate(timeout=120)
            heard.append(
                tuple(json.loads(out)) if process.returncode == 0 else (0, [f"exit {process.returncode}: {err[-2000:]}"])
            )
    assert [wrong for _, wrongs in heard for wrong in wrongs] == []
    assert len(heard) == THREADS + PROCESSES
    assert all(asked > GENERATIONS for asked, _ in heard), [asked for asked, _ in heard]


def process_ended(processes: list[subprocess.Popen[str]]) -> bool:
    return any(process.poll() is not None for process in processes)


if __name__ == "__main__":
    chroma_index.COMPARED_ROWS = int(sys.argv[1])
    over_at, root_at, ready_at = map(Path, sys.argv[2:])
    print(json.dumps(read_until(over_at.exists, root_at, ready_at)))
