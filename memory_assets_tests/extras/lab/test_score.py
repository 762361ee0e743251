"""Facts against labels: paired one to one, weighted by priority; the same figures as the scorer of the shared data."""

import importlib.util
import json
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memory_assets.extras.lab.labels import (
    LabelledFact,
    LabelledNoise,
    LabelledSession,
    Line,
    read_labels,
)
from memory_assets.extras.lab.score import Fact, Score, pair, score
from memory_assets_tests.conftest import REPOSITORY

SHARED = REPOSITORY.parent / "shared"
SCORER, GOLD = SHARED / "tools" / "score_gold.py", SHARED / "data" / "gold"
UV = "Always install packages with uv, never with pip."


def label(text: str = UV, **changes: Any) -> LabelledFact:
    return LabelledFact(**{"text": text, "priority": "high", "evidence": (10,), **changes})


def session(*facts: LabelledFact, noise: tuple[LabelledNoise, ...] = ()) -> LabelledSession:
    return LabelledSession(session="s1", facts=facts, noise=noise)


def fact(text: str = UV, *lines: Line, **changes: Any) -> Fact:
    return Fact(**{"session": "s1", "text": text, "lines": lines or (10,), **changes})


def outcomes(labels: LabelledSession, *facts: Fact) -> list[str]:
    return [outcome for _, outcome in pair(labels, facts).outcomes]


def test_a_fact_that_says_a_label_near_its_evidence_is_right():
    assert outcomes(session(label()), fact("Install packages with uv, never pip.", 13)) == ["right"]


def test_the_same_words_elsewhere_in_the_session_are_wrong():
    assert outcomes(session(label()), fact(UV, 14)) == ["wrong"]


def test_a_repeat_is_neither_right_nor_wrong_once_and_wrong_after_that():
    labels = session(label())
    assert sorted(outcomes(labels, fact(), fact(), fact())) == ["repeat", "right", "wrong"]


@pytest.fixture(scope="module")
def scorer() -> ModuleType:
    if not SCORER.is_file() or not GOLD.is_dir():
        pytest.skip(f"no scorer to compare with: {SCORER} does not exist on this machine")
    spec = importlib.util.spec_from_file_location("score_gold", SCORER)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def worded(label: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A fact like the label: words dropped, numbers and denials changed, moved by some records."""
    words = [word for word in label["text"].split() if rng.random() > 0.25]
    words += rng.choice([[], ["not"], ["never", "5434"], ["and", "the", "rest"]])
    lines = [max(0, line + rng.randint(-4, 4)) for line in label["evidence"][: rng.randint(0, 14)]]
    return {
        "text": " ".join(words),
        "lines": lines,
        "gate": rng.choice(["allow", "allow", "allow", "hold", "discard"]),
    }


def invented(gold: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """Facts of every quality: reworded labels and noise, whole and doubled, and some that are far too long."""
    facts = []
    for each in gold:
        for label in (*each["facts"], *each["noise"], *rng.choices(each["facts"], k=5)):
            facts.append(
                {"session": rng.choice(["", "2026-04-12-"]) + each["session"], **worded(label, rng)}
            )
        facts.append(
            {
                "session": each["session"],
                "text": each["facts"][0]["text"] * 4,
                "lines": [1],
                "gate": "allow",
            }
        )
    rng.shuffle(facts)
    return facts


def as_the_scorer_tells_it(found: Score) -> dict[str, Any]:
    counts = found.counts
    told = {
        "sessions": len(found.sessions),
        "allowed_facts": counts.allowed,
        "most_in_a_session": found.most_in_a_session,
        "sessions_at_zero": len(found.at_zero),
        "recall_weighted": counts.recall,
        "recall_high": counts.recall_high,
        "recall_owner_rules": counts.recall_owner_rules,
        "precision": counts.precision,
        "noise_share": counts.noise,
        "f1": counts.f1,
    }
    names = {
        "recall": "recall_weighted",
        "recall_owner_rules": "recall_owner_rules",
        "precision": "precision",
    }
    return {
        **told,
        **{f"{names[name]}_90": list(interval) for name, interval in found.intervals.items()},
    }


@pytest.mark.parametrize("seed", range(5))
def test_every_figure_is_that_of_the_shared_scorer(scorer: ModuleType, seed: int):
    gold = [json.loads(path.read_text("utf-8")) for path in sorted(Path(GOLD).glob("*.json"))]
    facts = invented(gold, random.Random(seed))
    theirs = scorer.score_facts(gold, facts)
    ours = score(
        read_labels(GOLD),
        [Fact(f["session"], f["text"], tuple(f["lines"]), f["gate"]) for f in facts],
    )
    assert {
        **as_the_scorer_tells_it(ours),
        "labels": sum(len(each["facts"]) for each in gold),
    } == theirs
    assert theirs["precision"] > 0.1
    assert theirs["noise_share"] > 0.1
