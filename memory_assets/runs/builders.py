"""The functions that build the tables and files of `schema.tables`, by table.

Each module of `runs.steps` lists its functions in `BUILDERS`; a function has the name of its table.
A table with `Table.built_with` has no function, because that of the named table builds both. Import
this module only to build, because it imports every step.
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
    verify,
)
from memory_assets.schema.extras import extras
from memory_assets.stages.reflect.subjects import TABLE_OF
from memory_assets.store.store import Store

STEPS = (
    brief, capture, deliver, distill, embed, friction, maintain, quality, recall, reflect, triage,
    verify,
)  # fmt: skip
BUILDERS: dict[str, Callable[[Store, Run], Builder | Report]] = {
    build.__name__: build for step in STEPS for build in step.BUILDERS
}
BUILDERS |= dict.fromkeys(TABLE_OF.values(), condensing.condense)
REPORTS: dict[str, Callable[[Store, str, Sequence[str]], Report]] = {
    "observations": distill.emit_accumulated, "quality": quality.quality_report,
    "reflections": condensing.sizes, "weekly_distillates": condensing.sizes,
    "monthly_distillates": condensing.sizes, "timeline": reflect.write_chapters,
    "proposals": reflect.emit_reflected, "friction": friction.worst_severity,
    "telemetry": quality.slowest_steps, "insights": maintain.write_insights,
    "nightly_stats": maintain.nightly_report,
}  # fmt: skip
"""By table: the function that returns more figures about the partitions that a run wrote."""

for _extra in extras():
    if _extra.builders:
        BUILDERS |= _extra.load(_extra.builders).BUILDERS
