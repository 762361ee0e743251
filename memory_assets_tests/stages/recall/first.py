"""Which of two answers comes first: reads `first.toml`, builds a store of all its facts, and looks at the order of each pair."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from memory_assets.memory import MemoryAgent
from memory_assets_tests.stages.recall.leaving_out import build as build_store

FILE = Path(__file__).with_name("first.toml")
PROJECT = "heron"
"""Where the asker is, and where a fact is from that does not say."""


@dataclass(frozen=True)
class Pair:
    """Two facts that answer a question, and what speaks for the better one."""

    factor: str
    question: str
    better: Mapping[str, Any]
    worse: Mapping[str, Any]


@cache
def pairs() -> list[Pair]:
    """Returns the pairs in the order of the file."""
    return [
        Pair(
            one["factor"],
            one["question"],
            _fact(one["better"], f"better-{number}"),
            _fact(one["worse"], f"worse-{number}"),
        )
        for number, one in enumerate(tomllib.loads(FILE.read_text("utf-8"))["pairs"])
    ]


def build(folder: Path) -> MemoryAgent:
    """Returns the facade of a store in the folder that holds the facts of all pairs."""
    return build_store(folder, [fact for pair in pairs() for fact in (pair.better, pair.worse)])


def is_ordered(agent: MemoryAgent, pair: Pair) -> bool:
    """Returns whether the better fact is found before the worse one."""
    answer = agent.recall(
        pair.question,
        corpus="memories",
        project=PROJECT,
        include=("stale", "archived"),
        probe=True,
    )
    found = [one.memory_id for one in answer.results]
    better, worse = (
        found.index(fact["id"]) if fact["id"] in found else len(found)
        for fact in (pair.better, pair.worse)
    )
    return better < worse


def _fact(told: Mapping[str, Any], id: str) -> dict[str, Any]:
    return {"id": id, "at": date(2026, 10, 1), "category": "operations", "project": PROJECT, **told}
