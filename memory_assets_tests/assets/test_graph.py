"""The graph as assets: made from memories alone, behind when they change, and checks that name what is broken."""

import dagster as dg
import pytest

from memory_assets.assets import graph
from memory_assets.runs import pending
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import write


@pytest.fixture
def store() -> Store:
    store = open_store(read_settings())
    texts = {"m1": "Use uv instead of pip.", "m2": "`git push --mirror` overwrites Redis.", "m3": "Nothing here."}
    rows = (
        row("memories", id=id, state="active", text=text, wordings=[text], project="shop", superseded_by=None)
        for id, text in texts.items()
    )
    write(store, "memories", "all", *rows)
    return store


def run(store: Store) -> dict[str, dg.AssetCheckEvaluation]:
    definitions = dg.Definitions(
        [*graph.ASSETS, dg.AssetSpec("memories")],
        asset_checks=graph.CHECKS,
        resources={"store": store},
        executor=dg.in_process_executor,
    )
    result = definitions.resolve_implicit_global_asset_job_def().execute_in_process(raise_on_error=False)
    return {f"{check.asset_key.to_user_string()}.{check.check_name}": check for check in result.get_asset_check_evaluations()}


def check(store: Store, name: str, table: str) -> dg.AssetCheckEvaluation:
    """Runs one check alone, on the tables as they lie."""
    ours = [each for each in graph.CHECKS if next(iter(each.check_specs)).name == name]
    assets = [dg.AssetSpec(name) for name in ("memories", "mentions", "entities", "relations")]
    definitions = dg.Definitions(assets, asset_checks=ours, resources={"store": store}, executor=dg.in_process_executor)
    with dg.DagsterInstance.ephemeral() as instance:
        job = definitions.resolve_implicit_global_asset_job_def()
        (found,) = job.execute_in_process(instance=instance, raise_on_error=False).get_asset_check_evaluations()
    return found


def test_a_run_makes_the_tables_and_the_picture_and_every_check_passes(store: Store):
    assert pending.graph_is_behind(store)
    checks = run(store)
    assert len(checks) == len(graph.CHECKS) and all(found.passed for found in checks.values())
    assert store.tables.read("relations").height > 0
    assert (store.workspace / "graph.svg").read_text().startswith("<svg")
    assert not pending.graph_is_behind(store)


def test_the_graph_is_behind_when_a_memory_or_an_alias_changes(store: Store, monkeypatch: pytest.MonkeyPatch):
    run(store)
    monkeypatch.setenv("MEMORY_ALIASES", '{"harbor": ["hb"]}')
    assert pending.graph_is_behind(open_store(read_settings()))
    monkeypatch.delenv("MEMORY_ALIASES")
    write(store, "memories", "all", row("memories", id="m1", state="active", superseded_by=None))
    assert pending.graph_is_behind(store)


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
