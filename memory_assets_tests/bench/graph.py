"""What the entity graph costs: neighbours of a question's candidates among a hundred thousand memories, in milliseconds."""

import statistics

import numpy as np
import polars as pl

from memory_assets.stages.recall.neighbours import find_neighbours, named_in, read_graph
from memory_assets_tests.bench.row import Row, seconds_of

MEMORIES, ENTITIES, SEEDS, ASKED = 100_000, 60_000, 60, 50
LIMIT_MS = 5.0
QUESTION = "what did we decide about entity-000100 on kubernetes, and where does syncer.go come in"


def graph(small: bool = False) -> list[Row]:
    """Returns a row with the time of one question, the median of many; the graph is read once before."""
    memories = MEMORIES // 100 if small else MEMORIES
    rng = np.random.default_rng(0)
    counts = rng.poisson(4, memories) + 1
    named = np.minimum((ENTITIES * rng.random(counts.sum()) ** 3).astype(int), ENTITIES - 1)  # few are named often
    pairs = pl.DataFrame({"memory": np.repeat(np.arange(memories), counts), "entity": named}).unique()
    mentions = pairs.select(
        memory_id=pl.format("m{}", "memory"), entity_id=pl.format("entity-{}", pl.col("entity").cast(pl.String).str.zfill(6))
    )
    entities = mentions.group_by("entity_id").agg(memory_count=pl.len().cast(pl.Int64))
    entities = entities.with_columns(
        kind=pl.lit("file"), name=pl.col("entity_id"), aliases=pl.lit([], dtype=pl.List(pl.String))
    )
    found = []
    reading = seconds_of(lambda: found.append(read_graph(mentions, entities)))
    (whole,) = found
    named_in(whole, QUESTION)  # the lists of names are read once in a process

    def ask() -> None:
        seeds = {
            f"m{number}": float(score)
            for number, score in zip(rng.integers(0, memories, SEEDS), rng.random(SEEDS), strict=True)
        }
        find_neighbours(whole, seeds, named_in(whole, QUESTION))

    times = [seconds_of(ask) * 1000 for _ in range(ASKED)]
    figures = f"slowest of {ASKED}: {max(times):.1f} ms; reading the graph once: {reading:.1f} s"
    return [Row(f"graph: neighbours among {memories:,} memories, ms", statistics.median(times), figures, limit=LIMIT_MS)]
