"""MEMORY.md and briefings have a partition for the owner and one for each project, built alone or together."""

from pathlib import Path

import pytest

from memory_assets.runs.inputs import input_versions
from memory_assets.runs.results import Run
from memory_assets.runs.scopes import OWNER, scopes_of
from memory_assets.runs.staleness import stale_partitions, written_versions
from memory_assets.runs.steps.brief import briefing
from memory_assets.runs.steps.triage import memory_md
from memory_assets.schema.tables import TABLES
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.dagster_runs import run_assets
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import write
from memory_assets_tests.stages.triage.test_projects import GAUGES, HARBOURS, learn, texts_in
from memory_assets_tests.stages.triage.world import World

EVERYWHERE = "Maria owns billing."


@pytest.fixture
def store() -> Store:
    """A store with memories of two projects and one that holds everywhere."""
    opened = open_store(read_settings())
    rows = [
        row("memories", id=str(n), text=f"Fact {n}.", project=name)
        for n, name in enumerate(["", "shop", "Blog 2"])
    ]
    write(opened, "memories", "all", *rows)
    return opened


def test_the_file_of_one_project_is_written_alone(tmp_path: Path):
    world = World(tmp_path)
    learn(world, "tidewatch", *HARBOURS[:3])
    learn(world, "gauges", *GAUGES)
    (common,) = world.propose(EVERYWHERE, category="people-relationships")
    world.ledger.append("proposal.approved", common, {}, actor="mira")
    world.decide()
    own = "projects/tidewatch.md"
    world.write(files={own})
    assert (
        texts_in(world, own) != []
        and texts_in(world, "MEMORY.md") == []
        and texts_in(world, "projects/gauges.md") == []
    )
    world.write()
    assert texts_in(world, "MEMORY.md") == [EVERYWHERE] and sorted(
        texts_in(world, "projects/gauges.md")
    ) == sorted(GAUGES)
    assert sorted(texts_in(world, own)) == sorted(HARBOURS[:3])


def test_a_briefing_is_stale_until_its_scope_is_built(store: Store):
    table = TABLES["briefing"]
    assert stale_partitions(store, table) == sorted(scopes_of(store))
    run_assets(store, "briefing")
    assert stale_partitions(store, table) == []
    assert written_versions(store, table) == input_versions(store, table)
    write(store, "memories", "all", row("memories", id="9", text="Another fact.", project="shop"))
    assert stale_partitions(store, table) == [OWNER, "projects/shop"]


def test_a_projects_briefing_is_written_without_the_owners(store: Store):
    own = store.workspace / "projects" / "shop.md"
    own.parent.mkdir(parents=True)
    own.write_text(
        "# MEMORY of shop\n\n## Patterns\n\n- (2026-08-03) Deploys go through Buildkite.\n"
    )
    briefing(store, Run(TABLES["briefing"], ["projects/shop"], ["projects/shop"]))
    assert "Buildkite" in (store.workspace / "briefings" / "shop.md").read_text()
    assert not (store.workspace / "briefing.md").exists()
    memory_md(store, Run(TABLES["memory_md"], ["projects/shop"], ["projects/shop"]))
    assert "Buildkite" in own.read_text()
