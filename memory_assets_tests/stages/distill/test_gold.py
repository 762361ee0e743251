"""The rules observer against sessions that careful readers labelled; skipped where there are none."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.standards import plan_allowances
from memory_assets.store.store import Store

SHARED = Path(__file__).resolve().parents[4] / "shared"
GOLD = sorted((SHARED / "data" / "gold").glob("*.json"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not GOLD, reason=f"no labelled sessions: {SHARED / 'data' / 'gold'} does not exist"
    ),
]


@pytest.fixture(scope="module")
def scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score_gold", SHARED / "tools" / "score_gold.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_rules_observer_keeps_little_and_little_noise(
    scorer: ModuleType, captured_transcripts: Store
):
    store = captured_transcripts
    gold = [json.loads(path.read_text(encoding="utf-8")) for path in GOLD]
    windows = store.tables.read("windows")
    allowances = plan_allowances(windows)
    labelled = windows.filter(
        pl.col("session_id").is_in([g["session"] for g in gold]) & pl.col("day").is_not_null()
    )
    facts = []
    for (day,), own in labelled.sort("day").group_by("day", maintain_order=True):
        messages = store.tables.read("messages", [day.isoformat()])
        observations = build_day(own, messages, allowances=allowances)["observations"]
        facts += [
            {
                "session": fact["session_id"],
                "text": fact["text"],
                "gate": fact["gate"],
                "lines": fact["lines"],
            }
            for fact in observations.iter_rows(named=True)
        ]
    score = scorer.score_facts(gold, facts)
    assert score["noise_share"] * score["allowed_facts"] <= max(1, 0.10 * score["allowed_facts"])
    assert score["most_in_a_session"] <= 10
