"""Calibration as an asset: made with every triage, its figures stand in metadata and say nothing that nobody decided."""

from typing import Any

import dagster as dg
import pytest
from memory_assets.assets.calibration import ASSETS, CHECKS, figures_of

from memory_assets.runs.jobs import ASSETS_OF
from memory_assets.stages.evaluate.calibration import ENOUGH
from memory_assets.store.store import Store
from memory_assets_tests.factories import frame, row
from memory_assets_tests.small_store import PROPOSAL, small_store

SOURCES = ("verdicts", "observations", "proposals", "model_reviews", "decisions", "entries")


@pytest.fixture
def store() -> Store:
    return small_store()


def metadata(store: Store) -> dict[str, Any]:
    sources = [dg.AssetSpec(name) for name in SOURCES]
    definitions = dg.Definitions(
        [*ASSETS, *sources], asset_checks=CHECKS, resources={"store": store}, executor=dg.in_process_executor
    )
    result = definitions.resolve_implicit_global_asset_job_def().execute_in_process()
    assert all(check.passed for check in result.get_asset_check_evaluations())
    (event,) = result.asset_materializations_for_node("calibration")
    return {name: value.value for name, value in event.metadata.items()}


def test_every_triage_makes_it_after_the_lines_that_it_looks_at():
    for job in ("triage", "review"):
        assert "calibration" in ASSETS_OF[job]


def test_what_nobody_decided_has_no_precision(store: Store):
    assert not [name for name in metadata(store) if name.startswith(("precision", "percent", "brier"))]
    rows = store.tables.read("calibration").select("judge", "verdict", "count", "waiting", "precision").rows()
    assert ("rules", "left to a person", 1, 1, None) in rows


def test_what_a_person_decided_is_a_figure_of_the_run(store: Store):
    store.ledger.append("proposal.approved", PROPOSAL, {}, actor="mira")
    told = metadata(store)
    assert told["precision_rules_left_to_a_person"] == 1.0
    assert "| 0.9 to 1.0 |" in told["percent_wanted_by_confidence"]
    assert "brier" not in told


def test_the_error_of_confidence_is_told_once_enough_was_decided():
    known = {"judge": "confidence", "verdict": "0.9 to 1.0", "count": ENOUGH, "approved": ENOUGH, "brier": 0.01}
    counts = dict.fromkeys(("edited", "kept", "rejected", "ignored", "waiting", "unseen"), 0)
    assert figures_of(frame("calibration", row("calibration", **known, **counts)))["brier"] == 0.01
