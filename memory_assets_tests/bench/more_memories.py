"""What one more session costs when there is little and when there is much in the memory already.

A store is filled with made-up observations and their vectors; a first small session lets everything be folded and indexed;
the second one is measured, as a whole `memory ingest`.
"""

import hashlib
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random

import numpy as np

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.runs.staleness import input_versions, note_name
from memory_assets.schema import frames as schemas
from memory_assets.schema.tables import TABLES
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.bench.pipeline import OWNER, ingest
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import sentence, write_session
from memory_assets_tests.factories import row

FEW, MANY = 1_000, 20_000
SMALL = 20, 40
PER_DAY = 200
DIMENSION = 384
TOPICS = 2_000
SPREAD = 0.55
"""Texts on one topic have a cosine of about 0.77, so that the many memories are candidates for merging, ten to a topic."""
FIRST_DAY = date(2025, 6, 1)
SESSION_BYTES = 400_000


@dataclass(frozen=True)
class Measured:
    """What one more session took, what it added, and how many memories there were afterwards."""

    seconds: float
    learnt: int
    memories: int

    def __str__(self) -> str:
        return (
            f"{self.seconds:.1f} s for {self.learnt} observations with {self.memories:,} memories"
        )


def more_memories(small: bool = False) -> list[Row]:
    """Returns the time for one more session with many memories over that with few."""
    sizes = SMALL if small else (FEW, MANY)
    few, many = (_one_more_session(memories) for memories in sizes)
    ratio = many.seconds / few.seconds
    return [
        Row(
            f"one more session: {sizes[1]:,} / {sizes[0]:,} memories",
            ratio,
            f"{many} against {few}",
        )
    ]


def _one_more_session(memories: int) -> Measured:
    with tempfile.TemporaryDirectory(prefix="bench-memories-") as name:
        home = Path(name)
        store = open_store(Settings(data=home / "store", timezone="UTC", owner=OWNER))
        days = fill(store, memories, seed=11)
        project = home / "projects" / "-home-ann-work-shop"
        now = datetime.now(UTC)
        write_session(
            project / "11111111-5f3a-4a0e-9a53-6f6a3c2d1e0f.jsonl",
            SESSION_BYTES,
            1,
            start=now - timedelta(days=3),
        )
        ingest(home, home / "projects")
        before = _rows(store, "observations")
        write_session(
            project / "22222222-5f3a-4a0e-9a53-6f6a3c2d1e0f.jsonl",
            SESSION_BYTES,
            2,
            start=now - timedelta(days=2),
        )
        seconds = ingest(home, home / "projects")
        measured = Measured(
            seconds, _rows(store, "observations") - before, _rows(store, "memories")
        )
        kept = _rows(store, "observations", days)
    if kept < memories or not measured.learnt:
        raise SystemExit(
            f"{kept} of {memories} made-up observations stayed in the store, or nothing was learnt: {measured}."
        )
    return measured


def _rows(store: Store, table: str, parts: Iterable[str] | None = None) -> int:
    return sum(info.rows for info in store.tables.parts(table, parts).values())


def fill(store: Store, count: int, seed: int) -> list[str]:
    """Writes that many observations with vectors around topics, 200 a day, measured, logged and reflected already; returns their days."""
    random, numbers = Random(seed), np.random.default_rng(seed)
    embedder = LocalEmbedder()
    topics = _unit(numbers.standard_normal((TOPICS, DIMENSION)))
    for first in range(0, count, PER_DAY):
        day = FIRST_DAY + timedelta(days=first // PER_DAY)
        rows = [
            _observation(random, day, number)
            for number in range(first, min(first + PER_DAY, count))
        ]
        vectors = _near_topics(numbers, topics, len(rows))
        embedded = [
            _embedding(each, vector, embedder) for each, vector in zip(rows, vectors, strict=True)
        ]
        store.tables.write(
            "observations", day.isoformat(), schemas.frame_of("observations", rows), inputs="bench"
        )
        store.tables.write("embeddings", day.isoformat(), schemas.frame_of("embeddings", embedded))
    for name in ("embeddings", "quality", "reflections", "proposals"):
        for day, version in input_versions(store, TABLES[name]).items():
            rows = store.tables.read(name, [day])
            store.tables.write(name, day, rows, inputs=version)
    for day, version in input_versions(store, TABLES["daily_log"]).items():
        store.note(note_name(TABLES["daily_log"], day), version)
    return list(store.tables.parts("observations"))


def _near_topics(numbers: np.random.Generator, topics: np.ndarray, count: int) -> np.ndarray:
    return _unit(
        topics[numbers.integers(len(topics), size=count)]
        + SPREAD * _unit(numbers.standard_normal((count, DIMENSION)))
    )


def _unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _observation(random: Random, day: date, number: int) -> dict[str, object]:
    text = f"{sentence(random)} (case {number})"
    at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC) + timedelta(
        seconds=number % PER_DAY
    )
    return row(
        "observations",
        id=f"{random.getrandbits(128):032x}",
        session_id=f"bench-{day}",
        window_id=f"{number % 5:064x}",
        day=day,
        kind="fact",
        text=text,
        text_hash=hashlib.sha256(text.encode()).hexdigest(),
        gate="allow",
        author="owner",
        category="operations",
        project="shop",
        person="ann",
        event_at=at,
        lines=[number % PER_DAY],
        quote=text,
    )


def _embedding(
    observation: dict[str, object], vector: np.ndarray, embedder: LocalEmbedder
) -> dict[str, object]:
    return {
        "text_hash": observation["text_hash"],
        "day": observation["day"],
        "model": embedder.name,
        "model_version": embedder.version,
        "dimension": DIMENSION,
        "vector": vector.tolist(),
    }
