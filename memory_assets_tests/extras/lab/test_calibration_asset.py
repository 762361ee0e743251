"""Calibration as an asset: made with every triage, its figures stand in metadata and say nothing about what no person decided."""

from typing import Any

import pytest

from memory_assets.extras.lab.calibration import ENOUGH
from memory_assets.extras.lab.steps import precision_of
from memory_assets.store.store import Store
from memory_assets_tests.dagster_runs import metadata_of, run_assets
from memory_assets_tests.factories import frame, row
from memory_assets_tests.small_store import PROPOSAL, small_store


@pytest.fixture
def store() -> Store:
    return small_store()


def metadata(store: Store) -> dict[str, Any]:
    result = run_assets(store, "calibration")
    assert all(check.passed for check in result.get_asset_check_evaluations())
    return metadata_of(result, "calibration")


def test_what_a_person_decided_is_a_figure_of_the_run(store: Store):
    store.ledger.append("proposal.approved", PROPOSAL, {}, actor="mira")
    told = metadata(store)
    assert told["precision_rules_left_to_a_person"] == 1.0
    assert "| 0.9 to 1.0 |" in told["percent_wanted_by_confidence"]
    assert "brier" not in told


def test_the_error_of_confidence_is_told_once_enough_was_decided():
    known = {
        "judge": "confidence",
        "verdict": "0.9 to 1.0",
        "count": ENOUGH,
        "approved": ENOUGH,
        "brier": 0.01,
    }
    counts = dict.fromkeys(("edited", "kept", "rejected", "ignored", "waiting", "unseen"), 0)
    assert (
        precision_of(frame("calibration", row("calibration", **known, **counts)))["brier"] == 0.01
    )
