"""The functions that build the tables and files of `schema.tables`, by name.

Each step lists its own, which have the names of their tables. A table that is built along with
another one (`Table.built_with`) has none. Only what builds imports this module, because it imports
every step.
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
from memory_assets.stages.reflect.subjects import TABLE_OF
from memory_assets.store.store import Store

STEPS = (
    brief, capture, deliver, distill, embed, friction, maintain, quality, recall, reflect, triage
)  # fmt: skip
BUILDERS: dict[str, Callable[[Store, Run], Builder | Report]] = {
    build.__name__: build for step in STEPS for build in step.BUILDERS
}
BUILDERS |= dict.fromkeys(TABLE_OF.values(), condensing.condense)
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
