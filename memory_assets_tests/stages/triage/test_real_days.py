"""The busiest real days, reviewed as people do: every proposal ends in one state, every line explains itself."""

import os
from pathlib import Path

import polars as pl
import pytest

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.runs import launch
from memory_assets.runs.steps import embed
from memory_assets.schema.frames import empty
from memory_assets.stages.triage.current import read_proposals
from memory_assets.stages.triage.explain import explain
from memory_assets.stages.triage.memory_md import read_entries
from memory_assets.stages.triage.projects import memory_files
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.conftest import SHARED
from memory_assets_tests.messages_api import KEY, MODELS, serve
from memory_assets_tests.once import SEED, TEST_ALL, sampled
from memory_assets_tests.recorded import RecordedAnswers
from memory_assets_tests.stages.triage.real_days import LEFT_REFUSED, Days, copy_learnt

DAYS = 30 if TEST_ALL else 8
RECORDED = sorted((SHARED / "recorded").glob("*.answer.xml"))
SESSIONS = 5
"""Recorded sessions that are read where not all of them are."""


@pytest.fixture
def learnt(real_transcripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of sessions that a model observed, without passages, which only recall reads; REAL_STORE may name one that is ready."""
    if ready := os.environ.get("REAL_STORE"):
        return copy_learnt(Path(ready), tmp_path / "learnt")
    if not RECORDED:
        pytest.skip(f"no recorded answers: {SHARED / 'recorded'} does not exist")
    monkeypatch.setattr(embed.encode, "encode_passages", lambda *_: empty("passage_vectors"))
    chosen = tmp_path / "transcripts"
    recorded = RecordedAnswers(sampled(RECORDED, SESSIONS), real_transcripts, chosen)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with serve(recorded.answer) as api:
        model = {"model": MODELS[0], "model_url": api.url, "reflector_model": "rules"}
        store = open_store(read_settings(data=tmp_path / "built", sources=str(chosen), **model))
        launch.ingest(store)
    return copy_learnt(store.root, tmp_path / "learnt")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_proposals_of_busy_days_each_end_in_one_state_and_every_line_explains_itself(learnt: Path):
    days = Days(learnt, zone="UTC")
    decisions = days.run(days.busiest(DAYS))
    store = open_store(read_settings(data=learnt))
    proposed = read_proposals(store.tables)["proposal_id"]
    assert sorted(decisions["proposal_id"]) == sorted(proposed), f"TEST_SEED={SEED}"
    assert decisions["proposal_id"].is_unique().all()
    states = dict(decisions.group_by("state").len().iter_rows())
    assert "pending" not in states
    assert sum(states.values()) == len(proposed) > 0
    wanted = {
        "approve": "promoted",
        "edit": "promoted",
        "strike": "rejected",
        "ignore": "expired",
        LEFT_REFUSED: "rejected",
    }
    found = dict(decisions.select("proposal_id", "state").iter_rows())
    assert {id: wanted[action] for id, action in days.acted.items()} == {
        id: found[id] for id in days.acted
    }
    workspace = GitWorkspace(store.workspace)
    files = [(store.workspace / path).read_text() for path in memory_files(store.workspace)]
    entries = [entry for content in files for entry in read_entries(content)]
    assert len(entries) == decisions.filter(pl.col("state") == "promoted").height
    for entry in entries:
        chain = explain(
            entry.text,
            tables=store.tables,
            ledger=store.ledger,
            archive=store.archive,
            workspace=workspace,
        )
        assert chain.is_verified, entry.text
        assert chain.records, entry.text
