"""The graph as assets: made from memories alone, behind when they change, and checks that name what is broken."""

import dagster as dg
import pytest

from memory_assets.runs.staleness import is_stale
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.dagster_runs import run_assets, run_check
from memory_assets_tests.factories import fact
from memory_assets_tests.small_store import write

GRAPH = ("mentions", "entities", "relations")


def stale(store: Store) -> bool:
    return is_stale(store, GRAPH)


@pytest.fixture
def store() -> Store:
    store = open_store(read_settings())
    texts = {
        "m1": "Use uv instead of pip.",
        "m2": "`git push --mirror` overwrites Redis.",
        "m3": "Nothing here.",
    }
    rows = (fact(id, text, wordings=[text]) for id, text in texts.items())
    write(store, "memories", "all", *rows)
    return store


def run(store: Store) -> dict[str, dg.AssetCheckEvaluation]:
    result = run_assets(store, *GRAPH, raise_on_error=False)
    return {
        f"{check.asset_key.to_user_string()}.{check.check_name}": check
        for check in result.get_asset_check_evaluations()
    }


def check(store: Store, name: str, table: str) -> dg.AssetCheckEvaluation:
    return run_check(store, table, name)


def test_a_run_makes_the_tables_and_the_picture_and_every_check_passes(store: Store):
    assert stale(store)
    checks = run(store)
    assert len(checks) == 2 * len(GRAPH) + 4 and all(found.passed for found in checks.values())
    assert store.tables.read("relations").height > 0
    assert (store.workspace / "graph.svg").read_text().startswith("<svg")
    assert not stale(store)


@pytest.mark.parametrize(
    ("table", "name", "change"),
    [
        ("mentions", "memories_exist", {"memory_id": "gone"}),
        ("entities", "named_by_mentions", {"entity_id": "ent_unknown"}),
        ("relations", "ends_exist", {"target_id": "ent_unknown"}),
        ("relations", "memories_say_so", {"memory_ids": ["gone"]}),
    ],
)
def test_a_broken_row_fails_its_check(store: Store, table: str, name: str, change: dict):
    run(store)
    rows = store.tables.read(table).to_dicts()
    write(store, table, "all", *rows[:-1], rows[-1] | change)
    found = check(store, name, table)
    assert not found.passed and found.metadata["offending_rows"].value >= 1
