"""What Dagster is told: the stages in order, documented tables, day partitions in the owner's zone, nothing heavy to load."""

from pathlib import Path

import dagster as dg
import pytest

import memory_assets
from memory_assets.definitions import assemble
from memory_assets.schema.tables import TABLES, table_names
from memory_assets.stages.distill.model import questions
from memory_assets.stages.reflect import questions as reflect_questions
from memory_assets.store.settings import Settings
from memory_assets_tests.generated import columns_of

DAILY = {name for name, table in TABLES.items() if table.grain == "day"}
REFLECTING = {"reflections", "weekly_distillates", "monthly_distillates"}
ASKING = {"observer_answers", "merges"} | REFLECTING
DISTILLED = {
    "weekly_distillates": dg.WeeklyPartitionsDefinition,
    "monthly_distillates": dg.MonthlyPartitionsDefinition,
}


def assembled(**settings: object) -> dg.Definitions:
    return assemble(Settings(**{"timezone": "Europe/Berlin", "owner": "Mira", **settings}))


@pytest.fixture(scope="module")
def specs() -> dict[str, dg.AssetSpec]:
    return {spec.key.to_user_string(): spec for spec in assembled().resolve_all_asset_specs()}


def test_every_table_is_an_asset_with_its_documented_columns(specs: dict[str, dg.AssetSpec]):
    for table in table_names():
        schema = specs[table].metadata["dagster/column_schema"]
        assert [(column.name, column.description) for column in schema.columns] == [
            (n, d) for n, _, d in columns_of(table)
        ]


def test_every_asset_names_the_function_that_builds_it(specs: dict[str, dg.AssetSpec]):
    def reference(name: str) -> tuple[str, str]:
        (code,) = specs[name].metadata["dagster/code_references"].code_references
        line = Path(code.file_path).read_text().splitlines()[code.line_number - 1 :][:3]
        return code.label, " ".join(line)

    assert all("dagster/code_references" in specs[name].metadata for name in TABLES)
    for name, function in (
        ("friction", "friction"),
        ("verdicts", "observations"),
        ("messages", "messages"),
    ):
        label, source = reference(name)
        assert label == function
        assert f"def {function}(" in source


def test_day_tables_are_cut_in_the_owners_zone_and_today_exists(specs: dict[str, dg.AssetSpec]):
    cut = {name for name, spec in specs.items() if spec.partitions_def}
    assert {"messages", "observations", "proposals", "daily_log"} < DAILY < cut
    assert cut == {name for name, table in TABLES.items() if table.is_partitioned}
    for name in DAILY:
        days = specs[name].partitions_def
        assert isinstance(days, dg.DailyPartitionsDefinition)
        assert (days.timezone, days.end_offset) == ("Europe/Berlin", 1)


def test_weeks_and_months_are_cut_in_the_owners_zone_and_made_from_their_days(
    specs: dict[str, dg.AssetSpec],
):
    days = specs["reflections"].partitions_def
    for name, kind in DISTILLED.items():
        periods = specs[name].partitions_def
        assert isinstance(periods, kind) and periods.timezone == "Europe/Berlin"
        key = {"weekly_distillates": "2026-08-03", "monthly_distillates": "2026-08-01"}[name]
        (dep,) = specs[name].deps
        mapping = dep.partition_mapping or dg.TimeWindowPartitionMapping()
        chosen = periods.subset_with_partition_keys([key])
        found = mapping.get_upstream_mapped_partitions_result_for_partitions(chosen, periods, days)
        last = {"weekly_distillates": "2026-08-09", "monthly_distillates": "2026-08-31"}[name]
        keys = sorted(found.partitions_subset.get_partition_keys())
        assert (keys[0], keys[-1]) == (key, last)


def test_another_model_or_prompt_marks_only_answers_as_stale(
    specs: dict[str, dg.AssetSpec], monkeypatch: pytest.MonkeyPatch
):
    def versions(model: str) -> dict[str, str | None]:
        found = assembled(model=model).resolve_all_asset_specs()
        return {spec.key.to_user_string(): spec.code_version for spec in found}

    ruled, asked = versions("rules"), versions("claude-haiku-4-5")
    assert ruled == {name: spec.code_version for name, spec in specs.items()}
    assert {name for name in ruled if ruled[name] != asked[name]} == ASKING
    monkeypatch.setattr(questions, "prompt_hash", lambda _: "another prompt")
    changed = versions("claude-haiku-4-5")
    assert {name for name in asked if asked[name] != changed[name]} == {"observer_answers"}
    monkeypatch.undo()
    monkeypatch.setattr(reflect_questions, "prompt_hash", lambda: "another prompt")
    changed = versions("claude-haiku-4-5")
    assert {name for name in asked if asked[name] != changed[name]} == REFLECTING


@pytest.mark.parametrize(
    ("name", "blocks"), [("schema_and_unique_keys", True), ("no_secrets", False)]
)
def test_every_table_has_a_check_of_its_schema_that_blocks_and_one_for_secrets_that_does_not(
    name: str, blocks: bool
):
    checked = {
        spec.asset_key.to_user_string()
        for checks in assembled().asset_checks or []
        for spec in checks.check_specs
        if spec.name == name and spec.blocking == blocks
    }
    assert checked == set(table_names())


def test_another_setting_changes_the_code_version_of_what_declares_it_and_of_nothing_else():
    def versions(**settings: object) -> dict[str, str | None]:
        return {
            spec.key.to_user_string(): spec.code_version
            for spec in assembled(**settings).resolve_all_asset_specs()
        }

    before, after = versions(), versions(owner="Nora")
    declared = {name for name, table in TABLES.items() if "owner" in table.settings}
    assert {name for name in before if before[name] != after[name]} == declared


def test_an_import_of_a_private_module_of_dagster_says_why_it_is_needed():
    package = Path(memory_assets.__file__).parent
    unexplained = []
    for path in package.rglob("*.py"):
        blocks = path.read_text("utf-8").split("\n\n")
        private = [block for block in blocks if "\nfrom dagster._" in f"\n{block}"]
        unexplained += [f"{path}: {block}" for block in private if not block.startswith("# ")]
    assert unexplained == []
