"""A triage that is killed between any two writes, each file and each step of git counted, ends as an undisturbed one."""

import shutil
from pathlib import Path

import pytest

from memory_assets.stages.triage import promote
from memory_assets.stages.triage.projects import memory_files
from memory_assets_tests.attacks.kill_points import KilledError, failing_behind
from memory_assets_tests.dirty import is_dirty
from memory_assets_tests.once import SEED, sampled
from memory_assets_tests.stages.triage.world import World

DATES, UV, MAKE = (
    "Write dates the British way.",
    "Always use `uv`, never `pip`.",
    "Always run `make check` before you commit.",
)
PORT, NEW_PORT = (
    "The staging database of the port listens on 5432.",
    "The staging database of the port listens on 5433.",
)
TIDES = tuple(f"The tide table of harbour {n} lies in `tides/{n}.csv`." for n in range(1, 4))

POINTS = 16
"""Writes behind which a run is killed, of some seventy; `make test-all` takes them all."""


def prepared(root: Path) -> World:
    """A morning on which everything happens: a tick, a line by hand, promotions, a correction, and lines that have to move."""
    world = World(root)
    world.propose(PORT, sessions=2, section="Patterns", category="operations", project="harbour")
    with (
        pytest.MonkeyPatch.context() as patch
    ):  # as an earlier release, which wrote facts of projects into MEMORY.md
        patch.setattr(
            promote.projects, "plan_homes", lambda wanted, *_: dict.fromkeys(wanted, "MEMORY.md")
        )
        patch.setattr(promote.projects, "plan_moves", lambda *_: [])
        world.propose(
            *TIDES[:2], sessions=2, section="Patterns", category="operations", project="tidewatch"
        )
        world.propose(DATES)
        world.ledger.append("proposal.approved", "p-20260803-001", {}, actor="mira")
        world.triage()
    world.tick("p-20260803-004")
    world.memory_md.write_text(world.memory_md.read_text() + "\n- by hand\n")
    world.propose(UV, MAKE, sessions=2)
    world.propose(
        TIDES[2], sessions=2, section="Patterns", category="operations", project="tidewatch"
    )
    world.replace("p-20260803-001", NEW_PORT, is_correction=True)
    return world


def copied(world: World, root: Path) -> World:
    """The same world in another folder."""
    shutil.copytree(world.root, root)
    known = (
        dict(world.texts),
        dict(world.sessions),
        dict(world.known),
        dict(world.typed),
        dict(world.replaced),
    )
    return World(root, world.clock, *known)


def outcome(world: World) -> dict[str, object]:
    """What must not depend on when a process was killed."""
    files = memory_files(world.workspace.root)
    review = [line for line in world.review_md.read_text().splitlines() if not line.startswith("_")]
    decided = (
        world.tables.read("decisions")
        .select("proposal_id", "state", "tier", "text", "entry")
        .sort("proposal_id")
    )
    events = world.ledger.events(["entry.promoted", "entry.retired", "entry.moved"])
    history = {commit.id for path in files for commit in world.workspace.history(path)}
    return {
        "files": {path: (world.workspace.root / path).read_bytes() for path in files},
        "committed": {path: is_dirty(world.workspace, path) for path in files},
        "commits": {path: sorted(world.commits(path)) for path in files},
        "recorded": sorted((event.kind, event.target, event.payload["path"]) for event in events),
        "without a commit": [
            event.target for event in events if event.payload["commit"] not in history
        ],
        "decisions": decided.rows(),
        "entries": sorted(world.standing().items()),
        "review": review,
    }


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_memory_md_git_and_the_tables_agree_after_the_run_that_follows(tmp_path: Path):
    base = prepared(tmp_path / "base")
    undisturbed = copied(base, tmp_path / "undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        counted = failing_behind(patch, None)
        undisturbed.triage()
        total = len(counted)
    expected = outcome(undisturbed)
    assert expected["without a commit"] == []
    assert set(expected["committed"].values()) == {False}
    assert total > 60, "writes are not counted"
    for writes in sampled(range(total), POINTS):
        disturbed = copied(base, tmp_path / f"killed-{writes}")
        with pytest.MonkeyPatch.context() as patch:
            done = failing_behind(patch, writes)
            with pytest.raises(KilledError):
                disturbed.triage()
        disturbed.reopen()
        disturbed.triage()
        assert outcome(disturbed) == expected, (
            f"killed behind write {writes}, {done[-1:]}, TEST_SEED={SEED}"
        )
        shutil.rmtree(disturbed.root)
