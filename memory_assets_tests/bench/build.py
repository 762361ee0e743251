"""The CPU of a whole build, `memory ingest` over an empty store, beyond that of encoding the same passages and nothing else."""

import json
import sys
import tempfile
from pathlib import Path
from time import process_time

from memory_assets_tests.bench.first_words import draw, spent
from memory_assets_tests.bench.pipeline import MEMORY, environment
from memory_assets_tests.bench.row import Row, answer_of

MOST_CPU = 0.5
"""Seconds of CPU a megabyte beyond bare encoding."""

MOST_DISK = 0.6
"""Of the store without its archive, over the transcripts."""


def build(small: bool = False) -> list[Row]:
    """Returns the CPU a megabyte beyond bare encoding, and the disk that the store takes."""
    with tempfile.TemporaryDirectory(prefix="bench-build-") as name:
        home = Path(name)
        sources, megabytes = draw(home / "sources", small)
        cpu, seconds = spent([*MEMORY[1:], "ingest"], environment(home, sources))
        bare = answer_of("build", str(home / "store"))
        archive = disk_of(home / "store" / "resources")
        others = disk_of(home / "store") - archive
    told = f"{cpu:.1f} CPU s in {seconds:.1f} s, bare encoding of {bare['texts']} texts alone {bare['cpu']:.1f}"
    sizes = f"archive {archive:.1f} MB, the rest {others:.1f} MB, transcripts {megabytes:.1f} MB"
    beyond = (cpu - bare["cpu"]) / megabytes
    return [
        Row("build: CPU seconds a megabyte beyond encoding", beyond, told, limit=MOST_CPU),
        Row(
            "build: disk without archive / transcripts", others / megabytes, sizes, limit=MOST_DISK
        ),
    ]


def disk_of(place: Path) -> float:
    """Returns the megabytes that the files below the folder take on the disk."""
    return sum(path.lstat().st_blocks * 512 for path in place.rglob("*")) / 1_000_000


def encode_bare(root: Path) -> dict[str, float]:
    """Encodes the passages that the store encoded, as the pipeline does; returns the CPU seconds and how many they are."""
    from memory_assets.services.search.corpus import open_embedder
    from memory_assets.stages.embed.encode import BATCH, HAS_VECTOR, cut_messages
    from memory_assets.store.parquet_tables import ParquetTables
    from memory_assets.store.settings import read_settings

    tables = ParquetTables(root / "tables")
    passages = cut_messages(tables.read("messages")).filter(HAS_VECTOR)
    texts = sorted({*passages["text"]}, key=len)
    embedder = open_embedder(read_settings().embedding_model)
    embedder.encode(["A sentence."])
    started = process_time()
    for first in range(0, len(texts), BATCH):
        embedder.read(texts[first : first + BATCH])
    return {"cpu": process_time() - started, "texts": len(texts)}


if __name__ == "__main__":
    print(json.dumps(encode_bare(Path(sys.argv[1]))))
