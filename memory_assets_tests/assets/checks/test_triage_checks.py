"""Proposals have one state each, promoted lines have their evidence, and MEMORY.md stays small and complete."""

import pytest

from memory_assets.services.review.open_triage import workspace_of
from memory_assets.stages.triage.promote import MOVED, PROMOTED
from memory_assets.store.store import Store
from memory_assets_tests.assets.checks.outcomes import failing, passes
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import PROPOSAL, small_store, write


@pytest.fixture
def store() -> Store:
    return small_store()


def test_a_proposal_without_a_state_and_a_state_without_a_proposal_fail(store: Store):
    assert failing(store, "decisions") == []
    write(
        store, "decisions", "all", row("decisions", proposal_id="p-20260803-002", state="pending")
    )
    assert failing(store, "decisions") == ["proposals_add_up"]


def promoted(store: Store, kind: str = PROMOTED, **payload: object) -> None:
    write(store, "decisions", "all", row("decisions", proposal_id=PROPOSAL, state="promoted"))
    known = {
        "commit": "c",
        "evidence": [{"resource_id": store.archive.resources()["id"][0]}],
        "session_ids": ["session-1"],
    }
    store.ledger.append(kind, PROPOSAL, known | payload, actor="rules")


def test_a_promoted_decision_needs_its_entry(store: Store):
    write(store, "decisions", "all", row("decisions", proposal_id=PROPOSAL, state="promoted"))
    assert failing(store, "memory_md") == ["promotions_are_there"]
    promoted(store)
    assert failing(store, "memory_md") == []


@pytest.mark.parametrize("evidence", [[], [{"resource_id": "elsewhere"}]])
def test_an_entry_needs_evidence_in_the_archive(store: Store, evidence: list[dict]):
    promoted(store, evidence=evidence)
    assert not passes(store, "memory_md", "promotions_are_there")


def test_a_line_that_our_commit_dropped_fails_unless_it_was_replaced(store: Store):
    path, workspace = store.workspace / "MEMORY.md", workspace_of(store)
    path.write_text("# MEMORY.md\n\n## Hard Rules\n\n- 2026-08-03: Use uv.\n")
    workspace.commit("Promote", ["MEMORY.md"])
    path.write_text("# MEMORY.md\n\n## Hard Rules\n\n- 2026-08-04: Use poetry.\n")
    commit = workspace.commit("Replace", ["MEMORY.md"])
    assert not passes(store, "memory_md", "kept_every_line")
    store.ledger.append(
        MOVED, "p-1", {"commit": commit, "replaces": "- 2026-08-03: Use uv."}, actor="rules"
    )
    assert passes(store, "memory_md", "kept_every_line")
