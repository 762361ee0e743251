"""A synthetic week through the real jobs: found, asked about in REVIEW.md, approved, applied or made a patch, taken back."""

import shutil
import subprocess
from pathlib import Path

import dagster as dg
import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.runs.instance import open_instance
from memory_assets.store.store import Store, open_store
from memory_assets.text.files import write_atomically
from memory_assets_tests.stages.friction.weeks import store_of, week_named

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    root = tmp_path_factory.mktemp("depot")
    store = store_of(week_named("depot"), root)
    launch.ingest(store)
    return store


def frictions(store: Store) -> dict[str, dict]:
    """The rows by kind; the week has one of each."""
    return {row["kind"]: row for row in store.tables.read("friction").iter_rows(named=True)}


def review(store: Store) -> str:
    return (store.workspace / "REVIEW.md").read_text()


def test_every_friction_waits_in_a_section_of_its_own(store: Store):
    found = frictions(store)
    assert set(found) == {
        "repeated_correction",
        "recurring_failure",
        "missing_skill",
    }
    assert "## Friction Fixes (auto-detected " in review(store)
    waiting = {one.proposal_id for one in MemoryAgent(store.settings).pending()}
    for row in found.values():
        assert row["proposal_id"] in waiting
        assert f"- [ ] `{row['proposal_id']}`" in review(store)
        assert f"  Target: `{row['target']}`" in review(store)


def test_approved_a_change_of_another_file_is_a_patch_and_no_edit(store: Store, tmp_path: Path):
    failure, skill = (frictions(store)[kind] for kind in ("recurring_failure", "missing_skill"))
    MemoryAgent(store.settings).approve(failure["proposal_id"], skill["proposal_id"])
    assert not Path(failure["target"]).exists()
    for row in (failure, skill):
        patch = store.workspace / "patches" / f"{row['proposal_id']}.patch"
        subprocess.run(["git", "apply", str(patch)], cwd=tmp_path, check=True)
        changed = tmp_path / Path(row["target"]).relative_to(row["folder"])
        assert row["new"].strip() in changed.read_text()
        assert MemoryAgent(store.settings).explain(row["proposal_id"]).is_verified


def test_rejected_it_is_not_raised_again(store: Store):
    said = frictions(store)["repeated_correction"]
    path = store.workspace / "REVIEW.md"
    write_atomically(
        path,
        path.read_bytes().replace(
            f"- [ ] `{said['proposal_id']}`".encode(), f"- [-] `{said['proposal_id']}`".encode()
        ),
    )
    launch.triage(store)
    assert said["proposal_id"] not in review(store)
    store.tables.drop("friction", said["day"].isoformat())
    launch.ingest(store)
    states = dict(store.tables.read("decisions").select("proposal_id", "state").iter_rows())
    assert states[said["proposal_id"]] == "rejected"
    assert said["proposal_id"] not in review(store)


def test_too_little_to_look_at_finds_nothing_and_says_so(store: Store, tmp_path: Path):
    shutil.copytree(store.root, tmp_path / "store")
    changed = {"data": tmp_path / "store", "friction_sessions": 100}
    store = open_store(store.settings.model_copy(update=changed))
    assert "find_friction" in launch.ingest(store).jobs
    assert store.tables.read("friction").is_empty()
    with open_instance(store) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey("friction"))
    assert event is not None and event.asset_materialization is not None
    assert "looked for from 100 on" in str(event.asset_materialization.metadata["skipped"].value)
