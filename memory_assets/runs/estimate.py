"""Estimates how long it takes to build each table from new transcripts, for the progress bar."""

from collections.abc import Mapping

from memory_assets.services.sources.transcripts import find_sources
from memory_assets.stages.capture.intake import changed_files
from memory_assets.store.store import Store

MEGABYTE = 1_000_000
SECONDS_PER_TABLE = 0.2
"""For each table, in addition to those for its megabytes."""

SECONDS_PER_MEGABYTE: Mapping[str, float] = {
    "resources": 0.2, "records": 0.1, "messages": 0.18, "sessions": 0.04,
    "observations": 0.33, "lessons": 0.03, "triggers": 0.09, "embeddings": 0.21,
    "passages": 0.03, "quality": 0.02, "daily_log": 0.04, "vector_index": 0.02,
    "text_index": 0.04, "reflections": 0.08, "proposals": 0.07, "weekly_distillates": 0.08,
    "timeline": 0.04, "monthly_distillates": 0.02, "friction": 0.02, "decisions": 0.02,
    "briefing": 0.01, "passage_vectors": 1.0,
}  # fmt: skip
"""By table, the seconds for a megabyte of transcripts, without a model. They were measured by a
first `memory ingest` of 142 MB. Once a tenth is done, only their proportions matter.
"""


def expected_seconds(store: Store) -> dict[str, float]:
    """Returns the expected seconds by table; nothing if no transcript waits to be read."""
    waiting = changed_files(find_sources(store.settings), store.archive, store.settings.clock())
    if not waiting:
        return {}
    megabytes = sum(file.size for file in waiting) / MEGABYTE
    return {
        table: SECONDS_PER_TABLE + seconds * megabytes
        for table, seconds in SECONDS_PER_MEGABYTE.items()
    }
