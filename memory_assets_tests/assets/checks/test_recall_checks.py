"""Summaries and the log of recalls as assets: only what changed is written, metadata holds no words, checks are red and green."""

from datetime import UTC, datetime
from typing import Any

import dagster as dg
import pytest

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.runs.days import tags_of
from memory_assets.stages.recall.log import payload_of
from memory_assets.stages.recall.results import Answer, Cost
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.dagster_runs import metadata_of, run_assets
from memory_assets_tests.factories import fact, frame, row
from memory_assets_tests.small_store import write


@pytest.fixture
def store() -> Store:
    return open_store(read_settings())


def materialise(store: Store) -> dg.ExecuteInProcessResult:
    tags = tags_of("rebuild_memories", started_by="command line")
    return run_assets(store, "category_summaries", "recalls", tags=tags, raise_on_error=False)


def metadata(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, Any]:
    return metadata_of(result, asset)


def pages(store: Store) -> dict[str, str]:
    return {path.name: path.read_text() for path in (store.workspace / "summaries").iterdir()}


def test_a_contradicting_fact_changes_only_its_category_s_page_and_the_old_one_lies_beside(
    store: Store,
):
    deploy, rule = (
        fact("1", "Deploys go through Buildkite."),
        fact("2", "Never push to main.", category="rules-conventions"),
    )
    write(store, "memories", "all", deploy, rule)
    materialise(store)
    before = pages(store)
    write(store, "memories", "all", deploy, {**rule, "text": "Always push to main."})
    materialise(
        open_store(
            store.settings.model_copy(update={"now": datetime(2026, 9, 3, 8, 5, 9, tzinfo=UTC)})
        )
    )
    after = pages(store)
    assert "Always push to main." in after.pop("rules-conventions.md")
    assert after.pop("rules-conventions.20260903T080509Z.md") == before.pop("rules-conventions.md")
    assert after == before == {"operations.md": before["operations.md"]}
    assert GitWorkspace(store.workspace).missing() == []
    write(store, "memories", "all", deploy)
    materialise(store)
    assert "rules-conventions.md" not in pages(store)


def test_the_chart_shows_the_share_of_each_tier_and_of_unknowns(store: Store):
    write(store, "memories", "all", fact("1", "Deploys go through Buildkite."))
    for tier, is_known in ((1, True), (2, True), (2, True), (2, False)):
        answer = Answer(
            "where does the heron nest?",
            "balanced",
            (),
            0,
            cost=Cost(usd=0.01),
            is_known=is_known,
            tier=tier,
        )
        store.ledger.append(
            "memory.recalled", "hash", {"memory_ids": [], **payload_of(answer)}, actor="mira"
        )
    found = metadata(materialise(store), "recalls")
    assert (found["dagster/row_count"], found["not_in_memory"], found["cost_usd"]) == (4, 1, 0.04)
    lines = found["answered_from"].splitlines()[2:]
    assert [line.split("|")[1].strip() for line in lines] == [
        "summaries",
        "memories",
        "not in memory",
    ]
    assert "| 2026-09-01 | 4 | 25% | 50% | 0% | 25% | 0% |" in found["by_day"]
    assert "heron" not in str(found)


def test_a_summary_that_cites_what_is_gone_is_red(store: Store):
    write(store, "memories", "all", fact("1", "Deploys go through Buildkite."))
    assert all(check.passed for check in materialise(store).get_asset_check_evaluations())
    stale = row("category_summaries", category="operations", memory_ids=["gone"], tokens=9_000)
    inputs = store.tables.parts("category_summaries")["operations"].inputs
    store.tables.write(
        "category_summaries", "operations", frame("category_summaries", stale), inputs=inputs
    )
    failed = {
        check.check_name
        for check in materialise(store).get_asset_check_evaluations()
        if not check.passed
    }
    assert failed == {"citations_resolve", "short_enough"}
