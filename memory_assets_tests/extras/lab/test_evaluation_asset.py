"""The evaluation as an asset: it runs when labels are named and something changed, and warns below its floors."""

import json
from pathlib import Path

import dagster as dg
import pytest

from memory_assets.runs.staleness import is_stale
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.dagster_runs import run_assets
from memory_assets_tests.small_store import FACT, small_store

PORT = "The staging database listens on port 5433."


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return label(tmp_path, FACT)


@pytest.fixture
def store(labels: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MEMORY_GOLD", str(labels))
    return small_store()


def label(tmp_path: Path, text: str, session: str = "session-1") -> Path:
    folder = tmp_path / "labels"
    folder.mkdir(exist_ok=True)
    fact = {"text": text, "kind": "rule", "priority": "high", "said_by": "owner", "evidence": [3]}
    (folder / "one.json").write_text(json.dumps({"session": session, "facts": [fact]}), "utf-8")
    return folder


def run(store: Store) -> dg.ExecuteInProcessResult:
    return run_assets(store, "evaluation")


def test_the_table_holds_the_figures_of_each_session_and_of_all(store: Store):
    run(store)
    rows = store.tables.read("evaluation")
    recall = rows.filter(measure="recall").select("session_id", "value", "low", "high").rows()
    assert recall == [("all", 1.0, 1.0, 1.0), ("session-1", 1.0, None, None)]
    assert rows.filter(measure="allowed", session_id="all")["value"].to_list() == [1.0]


def test_labels_with_the_day_in_front_of_the_session_are_scored(store: Store, tmp_path: Path):
    label(tmp_path, FACT, session="2026-08-01-session-1")
    run(store)
    sessions = store.tables.read("evaluation")["session_id"].unique().sort().to_list()
    assert sessions == ["all", "session-1"]


def test_floors_warn_and_name_the_sessions(store: Store, tmp_path: Path):
    assert all(check.passed for check in run(store).get_asset_check_evaluations())
    label(tmp_path, PORT)
    found = {check.check_name: check for check in run(store).get_asset_check_evaluations()}
    failed = {name for name, check in found.items() if not check.passed}
    floors = ("recall", "recall_owner_rules", "precision")
    assert failed == {"no_session_at_zero", *(f"{name}_reaches_its_floor" for name in floors)}
    assert {found[name].severity for name in failed} == {dg.AssetCheckSeverity.WARN}
    assert "session-1" in str(found["no_session_at_zero"].metadata["examples"].value)


def test_it_is_due_after_changes_and_never_without_labels(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert is_stale(store, ["evaluation"])
    run(store)
    assert not is_stale(store, ["evaluation"])
    label(tmp_path, PORT)
    assert is_stale(store, ["evaluation"])
    monkeypatch.delenv("MEMORY_GOLD")
    assert not is_stale(open_store(read_settings()), ["evaluation"])


def test_labels_that_cannot_be_used_fail_the_run_at_once(store: Store, labels: Path):
    (labels / "one.json").write_text("{")
    with pytest.raises(dg.Failure, match=r"one\.json: line 1, column 2"):
        run(store)
