"""The jobs of the pipeline: their names, their assets, and the tags and configuration of their runs.

The command line and the sensors start the same jobs with the same tags.
"""

from typing import get_args

from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from memory_assets.runs.days import Stretch
from memory_assets.schema.records import Category

CAPTURE, LEARN, FOLD, REFLECT, TRIAGE, EVALUATE = "capture", "learn", "fold", "reflect", "triage", "evaluate"
BRIEF, REVIEW, FIND_FRICTION = "brief", "review", "find_friction"

TRIAGED = [
    "amendments",
    "decisions",
    "trust",
    "memory_md",
    "patches",
    "entries",
    "review_md",
    "review_tasks",
    "calibration",
    "briefing",
]
ASSETS_OF = {
    CAPTURE: ["events", "dead_letters", "resources", "records", "windows", "messages_open", "harness_memories"],
    LEARN: [
        "messages",
        "sessions",
        "observer_answers",
        "segments",
        "observations",
        "verdicts",
        "triggers",
        "lessons",
        "quality",
        "daily_log",
        "embeddings",
        "passages",
    ],
    FOLD: [
        "merges",
        "memories",
        "mentions",
        "entities",
        "relations",
        "vector_index",
        "text_index",
        "category_summaries",
        "recalls",
        "session_reflections",
        "lessons_md",
        "briefing",
    ],
    REFLECT: ["reflections", "dropped_facts", "proposals"],
    "distil_weeks": ["weekly_distillates", "dropped_facts", "timeline"],
    "distil_months": ["monthly_distillates", "dropped_facts"],
    FIND_FRICTION: ["friction"],
    TRIAGE: TRIAGED,
    REVIEW: ["model_reviews", *TRIAGED],
    EVALUATE: ["evaluation"],
    BRIEF: ["lessons_md", "briefing"],
}
DESCRIPTIONS = {
    FIND_FRICTION: "Find what goes wrong in one session after another, and propose the change that would end it.",
    BRIEF: "Render lessons.md and the briefing: what comes up today and tomorrow, and all else that it tells.",
    CAPTURE: "Take in what was sent, archive new transcript bytes and cut them into windows.",
    LEARN: "Distil and embed the windows of a stretch of days.",
    FOLD: "Merge what is known, and rebuild the indexes, the summaries and the briefing from it.",
    REFLECT: "Condense days of observations and propose lines for MEMORY.md.",
    "distil_weeks": "Distil finished weeks from the reflections of their days.",
    "distil_months": "Distil finished months from the reflections of their days.",
    TRIAGE: "Decide proposals by rules and by what people ticked; write MEMORY.md, REVIEW.md and tasks.",
    REVIEW: "Let a model review what rules left to a person, where one is named; then triage.",
    EVALUATE: "Score the observations against the labelled sessions that the setting `gold` names.",
}

NEW_ONLY = {"ops": {"observer_answers": {"config": {"ask_again": False}}}}
"""Run configuration of runs that start by themselves: a model is asked only about what no model was ever asked about."""


def range_tags(stretch: Stretch) -> dict[str, str]:
    """Returns the run tags that make one run materialise all days of the stretch."""
    return {
        ASSET_PARTITION_RANGE_START_TAG: stretch.first.isoformat(),
        ASSET_PARTITION_RANGE_END_TAG: stretch.last.isoformat(),
    }


def tags_of(job: str, stretch: Stretch | None = None) -> dict[str, str]:
    """Returns the run tags that make one run of the job materialise all days of the stretch, and a fold all categories."""
    if job == FOLD:
        categories = get_args(Category)
        return {ASSET_PARTITION_RANGE_START_TAG: categories[0], ASSET_PARTITION_RANGE_END_TAG: categories[-1]}
    return range_tags(stretch) if stretch else {}
