"""A fact grows old in a store that is queried, comes back when it is recalled, and follows a changed TTL without a backfill."""

import json

import pytest

from memory_assets.interfaces.cli import app as cli
from memory_assets.runs.due import memories_are_stale
from memory_assets.runs.materialise import materialise
from memory_assets.runs.staleness import is_stale, stale_days
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.search.corpus import open_texts, passages_to_index
from memory_assets.store.ledger import ARCHIVED, RECALLED
from memory_assets.store.store import Store
from memory_assets_tests.journeys.test_weekly import at, store_of_one_fact
from memory_assets_tests.small_store import FACT, MEMORY
from memory_assets_tests.text_rows import text_rows


def store_at(day: int, monkeypatch: pytest.MonkeyPatch) -> Store:
    return at(day, monkeypatch).store


def build(store: Store) -> str:
    """Builds memories and their text index; returns the state of the fact."""
    materialise(store, [TABLES["memories"]], [WHOLE])
    memories = store.tables.read("memories")
    open_texts(store).update(text_rows(memories, passages_to_index(store.tables)), [])
    return memories["state"][0]


def is_due(store: Store) -> bool:
    """Whether the table has to be built again, by itself."""
    return is_stale(store, ["memories"])


@pytest.fixture
def store() -> Store:
    """A store with one fact of a project."""
    return store_of_one_fact()


def query(store: Store, *memory_ids: str) -> None:
    """Somebody asks; the answer has these memories."""
    store.ledger.append(RECALLED, "q", {"memory_ids": list(memory_ids)}, actor="mira")


def test_a_fact_is_stale_after_91_days_of_queries_and_active_again_once_recalled(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    assert build(store_at(0, monkeypatch)) == "active"
    for day in range(0, 91, 6):
        query(store_at(day, monkeypatch))
    assert (is_due(store_at(90, monkeypatch)), build(store_at(90, monkeypatch))) == (
        False,
        "active",
    )
    assert (is_due(store_at(91, monkeypatch)), build(store_at(91, monkeypatch))) == (True, "stale")
    assert not is_due(store_at(91, monkeypatch))
    query(store_at(92, monkeypatch), MEMORY)
    assert build(store_at(92, monkeypatch)) == "active"


def test_another_ttl_folds_memories_again_and_nothing_else(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    for day in range(0, 60, 7):
        query(store_at(day, monkeypatch))
    assert build(store_at(60, monkeypatch)) == "active"
    monkeypatch.setenv("MEMORY_TTL_DAYS", json.dumps({"projects": 30}))
    store = store_at(60, monkeypatch)
    assert (is_due(store), stale_days(store, "process_days"), memories_are_stale(store)) == (
        True,
        {},
        True,
    )
    assert build(store) == "stale"
    monkeypatch.delenv("MEMORY_TTL_DAYS")
    assert build(store_at(60, monkeypatch)) == "active"


def test_a_restored_fact_has_its_ttl_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for day in range(0, 100, 6):
        query(store_at(day, monkeypatch))
    store = store_at(100, monkeypatch)
    store.ledger.append(ARCHIVED, "weekly", {"memory_ids": [MEMORY]}, actor="rules")
    assert build(store) == "archived"
    assert cli.main(["restore", MEMORY[:8], "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["data"]["memories"]
    assert (one["memory_id"], one["text"], one["state"]) == (MEMORY, FACT, "archived")
    assert (is_due(store), build(store)) == (True, "active")
    assert cli.main(["restore", MEMORY]) == 1
    told = "mem_0f3a5c1e0000 is active already. Only stale, archived and cold memories can be restored."
    assert capsys.readouterr().err == f"✗ {told}\n"
    for day in range(100, 191, 6):
        query(store_at(day, monkeypatch))
    assert [build(store_at(day, monkeypatch)) for day in (190, 191)] == ["active", "stale"]
    assert cli.main(["restore", MEMORY]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"mem_0f3a5c1e0000 {FACT}",
        "   was stale",
        "Active again after the next `memory ingest`, or within minutes while `memory up` runs.",
    ]
