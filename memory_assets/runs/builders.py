"""The functions that build the tables and files of `schema.tables`, by name.

A table that is built along with another one (`Table.built_with`) has no function of its own. Only
what builds imports this module, because it imports every step.
"""

from collections.abc import Callable, Sequence

from memory_assets.runs.results import Builder, Report, Run
from memory_assets.runs.steps import (
    brief,
    capture,
    condensing,
    deliver,
    distill,
    embed,
    friction,
    maintain,
    quality,
    recall,
    reflect,
    triage,
)
from memory_assets.schema.extras import extras
from memory_assets.store.store import Store

BUILDERS: dict[str, Callable[[Store, Run], Builder | Report]] = {
    "events": deliver.events, "dead_letters": deliver.dead_letters,
    "resources": capture.resources, "records": capture.records,
    "windows": capture.windows, "messages_open": capture.messages_open,
    "checkpoints_open": capture.checkpoints_open,
    "harness_memories": capture.harness_memories, "messages": capture.messages,
    "sessions": capture.sessions, "checkpoints": capture.checkpoints,
    "missed": maintain.missed, "boosts": maintain.boosts,
    "archivals": maintain.archivals, "cold_storage": maintain.cold_storage,
    "reembedding": maintain.reembedding, "insights": maintain.insights,
    "nightly_stats": maintain.nightly_stats, "health_report": maintain.health_report,
    "observer_answers": distill.observer_answers, "observations": distill.observations,
    "triggers": distill.triggers, "lessons": distill.lessons,
    "daily_log": distill.daily_log,
    "quality": quality.quality, "telemetry": quality.telemetry,
    "embeddings": embed.embeddings, "passages": embed.passages,
    "passage_vectors": embed.passage_vectors, "merges": embed.merges,
    "memories": embed.memories, "mentions": embed.mentions, "entities": embed.entities,
    "relations": embed.relations, "vector_index": embed.vector_index, "chroma": embed.chroma,
    "text_index": embed.text_index,
    "category_summaries": recall.category_summaries, "recalls": recall.recalls,
    "reflections": reflect.reflections,
    "session_reflections": reflect.session_reflections,
    "weekly_distillates": reflect.weekly_distillates,
    "monthly_distillates": reflect.monthly_distillates,
    "dropped_facts": reflect.dropped_facts, "timeline": reflect.timeline,
    "proposals": reflect.proposals,
    "friction": friction.friction,
    "amendments": triage.amendments, "model_reviews": triage.model_reviews,
    "decisions": triage.decisions, "trust": triage.trust, "memory_md": triage.memory_md,
    "patches": triage.patches, "entries": triage.entries, "review_md": triage.review_md,
    "reflected_log": triage.reflected_log, "review_tasks": triage.review_tasks,
    "lessons_md": brief.lessons_md, "briefing": brief.briefing,
}  # fmt: skip
REPORTS: dict[str, Callable[[Store, str, Sequence[str]], Report]] = {
    "observations": distill.emit_accumulated, "quality": quality.quality_report,
    "reflections": condensing.condensed, "weekly_distillates": condensing.condensed,
    "monthly_distillates": condensing.condensed, "timeline": reflect.write_chapters,
    "proposals": reflect.emit_reflected, "friction": friction.worst,
    "telemetry": quality.slowest, "insights": maintain.write_insights,
    "nightly_stats": maintain.nightly_report,
}  # fmt: skip
"""What returns more metadata about the written partitions of a table."""

for _extra in extras():
    if _extra.builders:
        BUILDERS |= _extra.load(_extra.builders).BUILDERS
