"""What the settings say of the write gate and the categories reaches every candidate, and days made by other standards are stale."""

from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from memory_assets.errors import SettingsError
from memory_assets.stages.distill.standards import (
    DEFAULT_STANDARDS,
    DISTILL_VERSION,
    standards_of,
)
from memory_assets.stages.distill.taxonomy import TAXONOMY
from memory_assets.stages.distill.write_gate import judge
from memory_assets.store.settings import read_settings
from memory_assets_tests.stages.distill.test_write_gate import BASE


@pytest.mark.parametrize(("least", "verdict"), [(0.5, "allow"), (0.8, "allow"), (0.81, "hold")])
def test_a_fact_is_held_below_the_usefulness_that_the_settings_ask_for(least: float, verdict: str):
    standards = standards_of(read_settings(least_useful=least))
    (judged,) = judge([replace(BASE, usefulness=0.8)], standards=standards)
    assert (judged.verdict, judged.reason) == (
        verdict, "durable, with evidence" if verdict == "allow" else "usefulness below 0.81",
    )  # fmt: skip


def test_a_taxonomy_of_the_owner_files_facts_and_its_version_stands_in_their_rows(tmp_path: Path):
    text = (resources.files("memory_assets.stages.distill") / "taxonomy.toml").read_text("utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(
        text.replace('version = "v1"', 'version = "mine"').replace(
            "words = [", 'words = ["parquet", ', 1
        )
    )
    standards = standards_of(read_settings(taxonomy=file))
    assert standards.taxonomy.version == "mine"
    assert standards.taxonomy.categories[0].words.search("Parquet")
    assert standards.version != replace(standards, taxonomy=TAXONOMY).version == DISTILL_VERSION


def test_optional_categories_are_a_setting_and_make_days_stale():
    standards = standards_of(read_settings(optional_categories="health, hobbies"))
    assert standards.taxonomy.version == "v1+health+hobbies"
    assert standards.version != DISTILL_VERSION
    allergy = replace(
        BASE,
        text="The owner told the team about a peanut allergy.",
        author="owner",
        quote="peanut allergy",
    )
    assert [
        judge([allergy], standards=one)[0].category for one in (standards, DEFAULT_STANDARDS)
    ] == [
        "health",
        "projects",
    ]
    with pytest.raises(SettingsError, match="optional_categories"):
        read_settings(optional_categories="weather")


def test_a_taxonomy_that_cannot_be_read_is_an_error_that_names_the_setting(tmp_path: Path):
    with pytest.raises(
        SettingsError, match=r"Cannot read the taxonomy .*none.toml.* MEMORY_TAXONOMY"
    ):
        standards_of(read_settings(taxonomy=tmp_path / "none.toml"))
