"""How long taking in transcripts may take, by table: for the bar of a long first build."""

from collections.abc import Mapping

from memory_assets.services.sources.transcripts import find_sources
from memory_assets.stages.capture.intake import changed_files
from memory_assets.store.store import Store

MEGABYTE = 1_000_000
EACH_SECONDS = 0.2
"""For a table, whatever its size."""

SECONDS_PER_MEGABYTE: Mapping[str, float] = {
    "resources": 0.2, "records": 0.1, "messages": 0.18, "sessions": 0.04,
    "observations": 0.33, "lessons": 0.03, "triggers": 0.09, "embeddings": 0.21,
    "passages": 0.03, "quality": 0.02, "daily_log": 0.04, "vector_index": 0.02,
    "text_index": 0.04, "reflections": 0.08, "proposals": 0.07, "weekly_distillates": 0.08,
    "timeline": 0.04, "monthly_distillates": 0.02, "friction": 0.02, "decisions": 0.02,
    "briefing": 0.01, "passage_vectors": 1.0,
}  # fmt: skip
"""Of transcripts, without a model, from the table `telemetry` after a first `memory ingest` of 142
MB; only the proportions matter once a tenth is done."""


def expected_seconds(store: Store) -> dict[str, float]:
    """Returns how long each table may take that is built from transcripts which wait; nothing if
    none do.
    """
    waiting = changed_files(find_sources(store.settings), store.archive, store.settings.clock())
    megabytes = sum(file.size for file in waiting) / MEGABYTE
    if waiting:
        return {
            table: EACH_SECONDS + each * megabytes for table, each in SECONDS_PER_MEGABYTE.items()
        }
    return {}
