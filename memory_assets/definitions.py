"""Dagster's entry: the stages in the order of the journey, their checks, the store, and what starts runs.

Assembled inside a function, so that importing this module reads no setting and opens nothing.
"""

from pathlib import Path

import dagster as dg

from memory_assets.assets import (
    answers,
    automation,
    brief,
    calibration,
    capture,
    condensing,
    deliver,
    distill,
    distillates,
    embed,
    evaluation,
    friction,
    graph,
    harness_memories,
    lessons,
    quality,
    recall,
    reflect,
    session_reflections,
    timeline,
    triage,
    triggers,
)
from memory_assets.assets.glue import DAYS, MONTHS, WEEKS, days_in, months_in, weeks_in
from memory_assets.assets.resources import StoreResource
from memory_assets.store.settings import RULES, read_settings

STAGES = (
    deliver,
    capture,
    harness_memories,
    answers,
    distill,
    triggers,
    lessons,
    quality,
    evaluation,
    embed,
    graph,
    recall,
    reflect,
    session_reflections,
    distillates,
    timeline,
    friction,
    triage,
    calibration,
    brief,
)


def in_zone(assets: dg.AssetsDefinition, zone: str) -> dg.AssetsDefinition:
    """Returns the assets with their days, weeks and months cut in the zone."""
    cut = {DAYS: days_in(zone), WEEKS: weeks_in(zone), MONTHS: months_in(zone)}
    return assets.map_asset_specs(
        lambda spec: spec.replace_attributes(partitions_def=cut[spec.partitions_def]) if spec.partitions_def in cut else spec
    )


def asking(assets: dg.AssetsDefinition, model: str, observer_prompt: Path | None) -> dg.AssetsDefinition:
    """Returns the assets; the versions of those that ask a model name the model and the prompt."""
    versions = {answers.TABLE: answers.version_with(model, observer_prompt), **condensing.versions_with(model)}

    def with_version(spec: dg.AssetSpec) -> dg.AssetSpec:
        version = versions.get(spec.key.to_user_string())
        return spec.replace_attributes(code_version=version) if version else spec

    return assets.map_asset_specs(with_version)


def assemble(zone: str, model: str = RULES, observer_prompt: Path | None = None) -> dg.Definitions:
    """Returns everything that Dagster shows and runs."""
    return dg.Definitions(
        assets=[asking(in_zone(asset, zone), model, observer_prompt) for stage in STAGES for asset in stage.ASSETS],
        asset_checks=[check for stage in STAGES for check in stage.CHECKS],
        jobs=list(automation.JOBS.values()),
        sensors=[
            automation.new_transcripts,
            automation.spooled_events,
            automation.observations_accumulated,
            automation.review_changes,
        ],
        schedules=automation.schedules(zone),
        resources={"store": StoreResource()},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Everything, in the zone that the settings name."""
    settings = read_settings()
    return assemble(settings.timezone, settings.model, settings.observer_prompt)
