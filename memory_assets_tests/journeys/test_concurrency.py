"""Eight readers, threads and processes, while generations are published and notes are made: no error, and nothing stale."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from memory_assets.adapters.array_index import ArrayIndex
from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.adapters.text_index import TextIndex
from memory_assets.memory import MemoryAgent
from memory_assets.stages.embed.memories import fold_memories
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.words import text_hash
from memory_assets_tests.conftest import REPOSITORY
from memory_assets_tests.factories import frame, index_rows, row

MARK = "0f3a5c1e-0000-5000-8000-000000000001"
GENERATIONS, QUESTIONS, THREADS, PROCESSES = 9, 9, 4, 4
"""At least so many are published, and asked by each reader: it goes on until both have come to pass."""
BREATH_SECONDS = 1.0
"""Between two questions of a reader and between two generations, so that all of them get on beside one another on two cores."""
_NUMBER = re.compile(r"stands at (\d+)\.")


def marked(number: int) -> str:
    return f"The heron counter beside the reactor stands at {number}."


def published(root: Path) -> int:
    """The generation that a reader could see when it began, told by the memories alone."""
    return number_in(
        ParquetTables(root / "tables").read("memories", columns=["text"])["text"].to_list()
    )


def number_in(texts: list[str]) -> int:
    return max(int(found[1]) for text in texts if (found := _NUMBER.search(text)))


def read_until(is_over: Callable[[], bool], root: Path, told: Path) -> list[str]:
    """Asks again and again, and keeps in `told` how often it did; returns what went wrong."""
    agent, wrong, asked = MemoryAgent(), [], 0
    agent.recall("warm up", probe=True)
    while not is_over():
        tell(told, asked)
        time.sleep(BREATH_SECONDS)
        began, noted = published(root), len(agent.store.ledger.events(["memory.noted"]))
        answer = agent.recall("where does the heron counter stand", probe=True)
        asked += 1
        seen = [result.text for result in answer.results]
        if not any(_NUMBER.search(text) for text in seen) or number_in(seen) < began:
            wrong.append(f"generation {began} was published, but the answer was {seen}")
        if answer.degraded or answer.notes:
            wrong.append(f"degraded: {answer.degraded} {answer.notes}")
        if noted and "Storks" not in str(
            agent.recall(f"storks number {noted}", probe=True).results
        ):
            wrong.append(f"note {noted} was on disk, but was not found")
    return wrong


def tell(told: Path, asked: int) -> None:
    """Replaces the file at once, so that nobody reads half a number."""
    part = told.with_suffix(".part")
    part.write_text(str(asked))
    part.replace(told)


def all_asked(count: int, told: list[Path]) -> bool:
    return all(one.exists() and int(one.read_text()) >= count for one in told)


class Pipeline:
    """Publishes generations of memories, vectors and words, one after the other, as the assets do."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._embedder = LocalEmbedder()
        self._vectors, self._texts = (
            ArrayIndex(store.root / "index"),
            TextIndex(store.root / "index"),
        )

    def publish(self, number: int) -> None:
        text = marked(number)
        said = row(
            "observations",
            id=MARK,
            text=text,
            text_hash=text_hash(text),
            gate="allow",
            kind="fact",
            author="owner",
        )
        with self._store.lock():
            memories = fold_memories(
                frame("observations", said), frame("merges"), self._store.ledger.events()
            )
            self._store.tables.write("memories", "all", memories)
            vectors = pl.Series(
                "vector", [self._embedder.encode_query(text).tolist() for text in memories["text"]]
            )
            self._vectors.update(
                memories.select("id", "category", "kind", "state").with_columns(vectors), []
            )
            self._texts.update(
                index_rows(memories.select("id", pl.lit("memories").alias("corpus"), "text")), []
            )


@pytest.mark.slow
def test_eight_readers_beside_a_writer_meet_no_error_and_nothing_stale(tmp_path: Path):
    store = open_store(read_settings())
    pipeline, writer = Pipeline(store), MemoryAgent()
    pipeline.publish(0)
    over = tmp_path / "over"
    told = [tmp_path / f"asked-{number}" for number in range(THREADS + PROCESSES)]
    command = [sys.executable, __file__, str(over), str(store.root)]
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    processes = [
        subprocess.Popen(
            [*command, str(one)],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for one in told[THREADS:]
    ]
    with ThreadPoolExecutor(THREADS) as pool:
        threads = [pool.submit(read_until, over.exists, store.root, one) for one in told[:THREADS]]

        def all_read_on() -> bool:
            """A reader that ended before it was told to has failed, and nothing waits for it."""
            return not any(thread.done() for thread in threads) and all(
                process.poll() is None for process in processes
            )

        number = 0
        try:
            while all_read_on() and not all_asked(0, told):
                time.sleep(0.05)
            while all_read_on() and (number < GENERATIONS or not all_asked(QUESTIONS, told)):
                number += 1
                if number % 3 == 0:
                    writer.remember(
                        f"Storks number {number // 3} nest on the roof of building {number}."
                    )
                pipeline.publish(number)
                time.sleep(BREATH_SECONDS)
        finally:
            over.touch()
            ended = [
                (process.communicate(timeout=120), process.returncode) for process in processes
            ]
    wrong = [one for thread in threads for one in thread.result()]
    for (out, err), status in ended:
        wrong += json.loads(out) if status == 0 else [f"exit {status}: {err[-2000:]}"]
    assert wrong == []
    assert number >= GENERATIONS and all_asked(QUESTIONS, told)


if __name__ == "__main__":
    over_at, root_at, told_at = map(Path, sys.argv[1:])
    print(json.dumps(read_until(over_at.exists, root_at, told_at)))
