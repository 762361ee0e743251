"""Every combination of filters gives, at every door, the rows that a plain query of the table gives."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import product
from random import Random
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.interfaces.cli import app as cli
from memory_assets.interfaces.http import application
from memory_assets.interfaces.mcp.protocol import Protocol
from memory_assets.memory import MemoryAgent
from memory_assets.schema.requests import MOST_DEEP, Filters, parameters
from memory_assets.services.search.corpus import open_texts, open_vectors, passages_to_index
from memory_assets.store.store import Store
from memory_assets_tests.factories import START, row
from memory_assets_tests.once import SEED, sampled
from memory_assets_tests.small_store import index, small_store, write
from memory_assets_tests.text_rows import text_rows

CHOICES: dict[str, Any] = {
    "category": ["operations", "system-architecture"],
    "priority": ["high", "medium"],
    "tag": ["decision"],
    "kind": ["fact"],
    "trigger": ["ended"],
    "since": "2026-08-04",
    "until": "2026-08-06",
    "only_project": "shop",
    "person": "mira",
    "session": "session-1",
    "include": ["held", "archived"],
}
"""A value of each filter."""

COMBINATIONS = [
    {name: value for (name, value), is_set in zip(CHOICES.items(), chosen, strict=True) if is_set}
    for chosen in product((False, True), repeat=len(CHOICES))
]
ALONE = [{name: value} for name, value in CHOICES.items()]
QUESTION = "what is known of the lighthouse"
MEMORIES, DAYS = MOST_DEEP, 6
"""As many memories as one answer may return, over so many days."""


def known(random: Random, number: int) -> dict[str, Any]:
    """A memory with random values in the columns that are filtered by."""
    drawn = {
        "category": ("operations", "system-architecture", "operations", "rules-conventions"),
        "priority": ("high", "medium", "high", "low"),
        "kind": ("fact", "fact", "fact", "narrative"),
        "trigger": ("ended", "ended", "ended", "compaction"),
        "project": ("shop", "shop", "shop", "tills"),
        "person": ("mira", "mira", "mira", "priya"),
        "session_id": ("session-1", "session-1", "session-1", "session-2"),
        "state": (*["active"] * 6, "held", "stale", "archived", "cold", "superseded"),
        "tags": (["decision"], ["decision", "rule"], ["rule", "decision"], []),
    }
    text, id = (
        f"The lighthouse keeps log number {number}.",
        f"{number:08x}-0000-5000-8000-000000000001",
    )
    chosen = {name: random.choice(values) for name, values in drawn.items()}
    at = START + timedelta(days=random.randrange(DAYS), minutes=number)
    return row(
        "memories",
        id=id,
        text=text,
        text_hash=id,
        wordings=[text],
        event_at=at,
        observation_ids=[id],
        **chosen,
    )


@pytest.fixture
def store() -> Store:
    store = small_store()
    index(store)
    random = Random(SEED)
    write(store, "memories", "all", *(known(random, number) for number in range(MEMORIES)))
    memories, encode = store.tables.read("memories"), LocalEmbedder().encode_query
    vectors = [encode(text).tolist() for text in memories["text"]]
    open_vectors(store).update(
        memories.select("id", "state", vector=pl.Series(vectors)), [], rebuild=True
    )
    open_texts(store).update(text_rows(memories, passages_to_index(store.tables)), [], rebuild=True)
    return store


def selected(memories: pl.DataFrame, filters: Mapping[str, Any]) -> set[str]:
    """What the filters select, column by column."""
    day = {
        name: datetime.fromisoformat(f"{filters[name]}T00:00:00Z")
        for name in ("since", "until")
        if name in filters
    }
    rows = memories.filter(pl.col("state").is_in(["active", "stale", *filters.get("include", [])]))
    for name in ("category", "priority", "kind", "trigger"):
        if name in filters:
            rows = rows.filter(pl.col(name).is_in(filters[name]))
    for name, column in (
        ("only_project", "project"),
        ("person", "person"),
        ("session", "session_id"),
    ):
        if name in filters:
            rows = rows.filter(pl.col(column) == filters[name])
    if "tag" in filters:
        rows = rows.filter(pl.col("tags").list.set_intersection(filters["tag"]).list.len() > 0)
    if "since" in filters:
        rows = rows.filter(pl.col("event_at") >= day["since"])
    if "until" in filters:
        rows = rows.filter(pl.col("event_at") < day["until"] + timedelta(days=1))
    return set(rows["id"])


@contextmanager
def doors(capsys: pytest.CaptureFixture[str]) -> Iterator[dict[str, Any]]:
    """Yields what asks at each door and returns the results."""
    agent, protocol = MemoryAgent(), Protocol(is_structured=True)

    def by_command(asked: dict[str, Any]) -> list[dict[str, Any]]:
        words = [asked["question"], "--probe"]
        for name, value in asked.items():
            if name not in ("question", "probe"):
                values = value if isinstance(value, list) else [str(value)]
                words += [word for one in values for word in (f"--{name.replace('_', '-')}", one)]
        cli.main(["recall", *words, "--json"])
        return json.loads(capsys.readouterr().out)["data"]["results"]

    def by_tool(asked: dict[str, Any]) -> list[dict[str, Any]]:
        reply = protocol.answer("tools/call", {"name": "memory_recall", "arguments": asked})
        return reply["structuredContent"]["data"]["results"]

    def by_python(asked: dict[str, Any]) -> list[dict[str, Any]]:
        found = agent.recall(
            asked["question"],
            **{name: value for name, value in asked.items() if name != "question"},
        )
        return [vars(one) for one in found.results]

    with TestClient(application("127.0.0.1"), base_url="http://127.0.0.1") as client:
        yield {
            "python": by_python,
            "command": by_command,
            "tool": by_tool,
            "http get": lambda asked: client.get("/recall", params=asked).json()["data"]["results"],
            "http post": lambda asked: client.post("/recall", json=asked).json()["data"]["results"],
        }


def test_every_filter_that_is_declared_is_combined():
    assert set(CHOICES) == set(parameters(Filters))


def test_each_combination_selects_the_same_rows_at_every_door(
    store: Store, capsys: pytest.CaptureFixture[str]
):
    memories, everything = (
        store.tables.read("memories"),
        {"question": QUESTION, "probe": True, "profile": "deep"},
    )
    selections, agent = set(), MemoryAgent()
    states = dict(memories.select("id", "state").iter_rows())
    with doors(capsys) as asks:
        for filters in [*ALONE, *sampled(COMBINATIONS, 30)]:
            expected = selected(memories, filters)
            selections.add(frozenset(expected))
            for door, ask in asks.items():
                found = ask({**everything, **filters, "corpus": ["memories"], "limit": MEMORIES})
                assert {one["memory_id"] for one in found} == expected, (SEED, door, filters)
                assert all(one["state"] == states[one["memory_id"]] for one in found), door
            recalled = asks["python"]({**everything, **filters})
            cited = agent.answer(QUESTION, **filters, probe=True).citations
            assert {one["memory_id"] for one in recalled} & {*memories["id"]} <= expected, (
                SEED,
                filters,
            )
            told = selected(
                memories.filter(kind="narrative"),
                {**filters, "include": [*filters.get("include", []), "held"]},
            )
            assert {one.ref for one in cited} & {*memories["id"]} <= expected | told, (
                SEED,
                filters,
            )
    assert len(selections) > 3, SEED
    assert len({states[id] for ids in selections for id in ids}) > 1, SEED
