"""The whole journey, as people run it: `memory ingest` in processes of its own, over all transcripts, twice.

The first is set against embedding the same passages with sentence-transformers and nothing else, the second against the first.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from memory_assets_tests.bench.row import Row, answer_of, run
from memory_assets_tests.bench.transcripts import folder

FIRST_LIMIT, SECOND_LIMIT = 2.5, 0.03


def pipeline(small: bool = False) -> list[Row]:
    """Returns the first run over bare embedding, and the second run over the first."""
    with tempfile.TemporaryDirectory(prefix="bench-pipeline-") as name:
        home = Path(name)
        first = ingest(home, folder(small))
        second = min(ingest(home, folder(small)) for _ in range(1 if small else 2))
        bare = answer_of("pipeline", str(home / "store"))
    return [
        Row(
            "pipeline: wall time / embedding the texts bare",
            first / bare["seconds"],
            f"{first:.1f} s against {bare['seconds']:.1f} s for {bare['texts']} texts",
            limit=FIRST_LIMIT,
        ),
        Row("second ingest / first", second / first, f"{second:.2f} s against {first:.1f} s", limit=SECOND_LIMIT),
    ]


OWNER = "soph"
"""Whose stores `ingest` fills."""


def ingest(home: Path, sources: Path, **variables: str) -> float:
    """Runs `memory ingest` on the store below `home` and returns how long the process took; `variables` name further settings."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "DAGSTER_"))}
    environ |= {
        "HOME": str(home),
        "MEMORY_DATA": str(home / "store"),
        "MEMORY_SOURCES": str(sources),
        "MEMORY_TIMEZONE": "UTC",
        "MEMORY_OWNER": OWNER,
        **variables,
    }
    started = time.perf_counter()
    run([sys.executable, "-m", "memory_assets.interfaces.entry", "ingest"], environ)
    return time.perf_counter() - started


def embed_bare(root: Path) -> dict[str, float]:
    """Embeds the distinct passages of messages that the store embedded, in batches of the same size; returns how long it took."""
    import polars as pl
    from sentence_transformers import SentenceTransformer

    from memory_assets.adapters.local_embedder import BATCH_TEXTS, DEFAULT_MODEL, model_folder
    from memory_assets.store.parquet_tables import ParquetTables

    tables = ParquetTables(root / "tables")
    embedded = tables.scan("passages").join(tables.scan("passage_vectors"), on="text_hash", how="semi").unique("text_hash")
    length = pl.col("char_to") - pl.col("char_from")
    cut = pl.col("text").str.slice(pl.col("char_from"), length)
    messages = tables.scan("messages").select("message_id", "text").unique("message_id")
    texts = embedded.join(messages, on="message_id").sort(length).select(cut).collect().to_series().to_list()
    model = SentenceTransformer(str(model_folder(DEFAULT_MODEL)), device="cpu", local_files_only=True)
    started = time.perf_counter()
    model.encode(texts, batch_size=BATCH_TEXTS, normalize_embeddings=True, show_progress_bar=False)
    return {"seconds": time.perf_counter() - started, "texts": len(texts)}


if __name__ == "__main__":
    print(json.dumps(embed_bare(Path(sys.argv[1]))))
