"""Simulated sessions have the counts and lengths of the real ones."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import pytest

from memory_assets_tests.bench.session_shapes import COUNTS, MEANS, SHAPES, draw
from memory_assets_tests.bench.simulated_sessions import write_sessions

DRAWN = 20_000


@pytest.mark.parametrize(
    "shape",
    [
        "characters of a turn",
        "characters of a reply",
        "characters of a call",
        "characters of a result",
    ],
)
def test_the_mean_of_what_is_drawn_is_that_of_the_real_sessions(shape: str):
    random = Random(1)
    mean = sum(draw(random, shape) for _ in range(DRAWN)) / DRAWN
    assert mean == pytest.approx(MEANS[shape], rel=0.1)
    assert min(SHAPES[shape]) <= mean <= max(SHAPES[shape])


def test_as_many_sessions_as_there_are_real_ones_have_the_same_counts(tmp_path: Path):
    write_sessions(tmp_path, len(COUNTS), seed=3)
    found, characters = Counter[str](), defaultdict[str, int](int)
    for path in tmp_path.rglob("*.jsonl"):
        for line in path.read_bytes().splitlines():
            content = json.loads(line)["message"]["content"]
            kind = "turn" if isinstance(content, str) else content[0]["type"]
            found[kind] += 1
            characters[kind] += len(json.dumps(content))
    assert found["text"] == sum(replies for _, _, replies in COUNTS)
    assert found["tool_use"] == found["tool_result"] == sum(calls for _, calls, _ in COUNTS)
    assert found["turn"] == sum(max(turns, 1) for turns, _, _ in COUNTS)
    assert characters["turn"] / found["turn"] == pytest.approx(
        MEANS["characters of a turn"], rel=0.25
    )


def test_the_same_seed_writes_the_same_sessions(tmp_path: Path):
    for name in ("a", "b"):
        write_sessions(tmp_path / name, 3, seed=7)
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / name).rglob("*.jsonl")}
        for name in ("a", "b")
    )
    assert first == second and len(first) == 3
