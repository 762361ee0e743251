"""How long a question takes in a running process, with 1,000, 10,000 and 100,000 memories, beside a bare vector store.

The peer does what every recall by meaning must: it encodes the question with the same encoder and asks Chroma, the same
generation of the same vectors, for as many neighbours without any filter. Ours is `MemoryAgent.recall` with default filters,
both indexes, fusion and all. Questions take turns between the two, after a round that is not counted.
"""

import os
import shutil
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from memory_assets.adapters.chroma_index import COLLECTION
from memory_assets.memory import MemoryAgent
from memory_assets.runs.steps.embed import open_chroma
from memory_assets.services.search.corpus import open_embedder
from memory_assets.store.settings import Settings
from memory_assets.store.store import open_store
from memory_assets_tests.bench.row import Row, seconds_of
from memory_assets_tests.bench.synthetic import LAST, Topics, fill, make_topics, questions

SIZES = (1_000, 10_000, 100_000)
SMALL = (20,)
ASKED = 100
WARMED = 10
NEIGHBOURS = 60
"""What our own recall asks of Chroma, too."""
MOST_TIMES, MOST_MORE_MS = 1.5, 10.0
"""The middle time with 100,000 memories is at most so many times the peer's, or so many milliseconds above it."""
MOST_P95_MS = 100.0
"""Of 95 in 100 questions with 100,000 memories, apart from encoding them."""


def latency(small: bool = False) -> list[Row]:
    """Returns the times at each size, and at the largest what was promised of them."""
    with tempfile.TemporaryDirectory(
        prefix="bench-latency-", dir=os.environ.get("BENCH_STORES")
    ) as name:
        topics = make_topics(
            Random(5), open_embedder("all-MiniLM-L6-v2"), *(SMALL if small else ())
        )
        return [
            row
            for size in (SMALL if small else SIZES)
            for row in _rows(Path(name) / str(size), size, topics)
        ]


def _rows(folder: Path, size: int, topics: Topics) -> list[Row]:
    settings = Settings(data=folder, timezone="UTC", owner="mira", now=LAST)
    if not folder.exists():
        fill(open_store(settings), size, topics, seed=size)
    ours, peer, encoding = measure(
        settings, questions(Random(7), topics, WARMED + (ASKED if size >= min(SIZES) else 1))
    )
    half, most, apart = np.median(ours), np.percentile(ours, 95), np.percentile(ours - encoding, 95)
    told = f"ours p50 {half:.1f} p95 {most:.1f} ms; peer p50 {np.median(peer):.1f} p95 {np.percentile(peer, 95):.1f} ms"
    limit = (
        None if size < max(SIZES) else max(MOST_TIMES, 1 + MOST_MORE_MS / float(np.median(peer)))
    )
    rows = [
        Row(
            f"recall with {size:,} memories / encode and Chroma",
            float(half / np.median(peer)),
            told,
            limit=limit,
        )
    ]
    if limit:
        told = f"milliseconds of p95 apart from encoding, which takes {np.median(encoding):.1f} ms"
        rows.append(
            Row(f"recall with {size:,} memories: p95", float(apart), told, limit=MOST_P95_MS)
        )
    return rows


def measure(settings: Settings, asked: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns milliseconds of each question after the first few: ours, the peer's, and of encoding alone."""
    agent, peer, embedder = (
        MemoryAgent(settings),
        _bare(settings),
        open_embedder(settings.embedding_model),
    )
    times = [
        (
            seconds_of(lambda q=question: agent.recall(q, probe=True)),
            seconds_of(
                lambda q=question: peer.query(
                    query_embeddings=[embedder.encode_query(q)], n_results=NEIGHBOURS
                )
            ),
            seconds_of(lambda q=question: embedder.encode_query(q)),
        )
        for question in asked
    ]
    ours, bare, encoding = 1_000 * np.array(times[WARMED:]).T
    return ours, bare, encoding


def _bare(settings: Settings) -> Any:
    """Returns the collection of the store's vectors as Chroma itself hands it out."""
    import chromadb

    folder = open_chroma(open_store(settings)).published()
    assert folder is not None
    copied = settings.data / "peer"  # Chroma shares what is open of one folder within a process
    if not copied.exists():
        shutil.copytree(folder, copied)
    return chromadb.PersistentClient(str(copied)).get_collection(COLLECTION)
