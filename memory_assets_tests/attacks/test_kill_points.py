"""Killed behind any write of any work, the same work done again ends at the tables of an undisturbed one."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memory_assets.errors import MemoryAssetsError
from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.runs.build import rebuild
from memory_assets.runs.due import night_runs
from memory_assets.store.settings import Settings
from memory_assets.store.store import open_store
from memory_assets_tests.attacks.attacked_store import BRANCH, ingest, reopened, settings_at
from memory_assets_tests.attacks.kill_points import KilledError, failing_behind
from memory_assets_tests.conftest import NOW
from memory_assets_tests.once import SEED, TEST_ALL, sampled
from memory_assets_tests.stages.capture.sessions import START, dialogue, lines, transcript
from memory_assets_tests.story import all_tables, assert_same_tables

POINTS = 1
"""Writes of a work behind which it is killed, of 80 to 190; `make test-all` takes every `STEP`th of all works, some 250."""

STEP = 3


def add_session(settings: Settings, began: datetime) -> None:
    """Writes a session that nobody has read."""
    new = transcript(Path(str(settings.sources)) / "claude", "n")
    new.write_bytes(lines(*dialogue("n", 6, minutes=(began - START) / timedelta(minutes=1))))
    os.utime(new, (began.timestamp(), began.timestamp()))


def take_in_one_more(settings: Settings) -> None:
    """Takes in a session that appeared."""
    add_session(settings, START + timedelta(hours=5))
    ingest(settings)


def run_night(settings: Settings) -> None:
    """Lets the nightly run of the day find a session that appeared, and finishes what follows from it."""
    add_session(settings, NOW - timedelta(days=1))
    store = open_store(settings)
    with launch.Runner(store) as runner:
        for run in night_runs(store, settings.today()):
            runner.run(run.job, run.stretch)
    ingest(settings)


def review(settings: Settings) -> None:
    """Approves what waits, once."""
    agent = MemoryAgent(settings)
    for one in agent.pending():
        agent.approve(one.proposal_id, triage=False)
    launch.triage(agent.store)
    ingest(settings)


def forget(settings: Settings) -> None:
    """Forgets words, once, and rebuilds what was derived from them."""
    try:
        MemoryAgent(settings).forget("British dates", apply=True)
    except MemoryAssetsError as error:
        assert "British" in str(error)  # nothing holds them any more
    ingest(settings)


def rebuild_all(settings: Settings) -> None:
    """Rebuilds everything derived."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORY_DATA", str(settings.data))
        patch.setenv("MEMORY_SOURCES", str(settings.sources))
        patch.setenv("MEMORY_OWNER", settings.owner)
        rebuild()


def adopt(settings: Settings) -> None:
    """Adopts a branch, or finishes that."""
    store = open_store(settings)
    if (store.root / "branches" / BRANCH).is_dir():
        from memory_assets.extras.lab import what_if

        what_if.adopt(store, BRANCH)
    ingest(settings_at(settings.data, Path(str(settings.sources))))


WORKS: dict[str, Callable[[Settings], None]] = {
    "ingest": take_in_one_more,
    "triage": review,
    "forget": forget,
    "rebuild": rebuild_all,
    "adopt": adopt,
    "nightly": run_night,
}


@contextmanager
def undone(base: Path, root: Path) -> Iterator[Settings]:
    """The settings of a copy below the folder, which is deleted afterwards."""
    for name in ("sources", "store"):
        shutil.copytree(base / name, root / name, symlinks=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "MEMORY_DATA", str(root / "store")
        )  # where an adopted branch writes its settings
        yield reopened(root)
    shutil.rmtree(root)


def outcome(settings: Settings) -> tuple[dict, dict[str, bytes]]:
    """What must not depend on when a process was killed: the tables, and the files of lines."""
    workspace = settings.data / "workspace"
    files = {
        path.name: path.read_bytes()
        for path in (*workspace.glob("MEMORY.md"), *workspace.glob("projects/*.md"))
    }
    return all_tables(open_store(settings)), files


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", sampled(list(WORKS), 1))
def test_a_work_that_is_killed_behind_any_write_and_done_again_ends_as_an_undisturbed_one(
    attacked: Path, tmp_path: Path, name: str
):
    work, root = WORKS[name], tmp_path / "copy"  # one place for all: tables name paths
    with undone(attacked, root) as undisturbed, pytest.MonkeyPatch.context() as patch:
        counted = failing_behind(patch, None)
        work(undisturbed)
        total = len(counted)
        tables, files = outcome(reopened(root))
    assert total > 20, "writes are not counted"
    points = range(SEED % STEP, total, STEP) if TEST_ALL else sampled(range(total), POINTS)
    for writes in points:
        with undone(attacked, root) as disturbed:
            with pytest.MonkeyPatch.context() as patch:
                done = failing_behind(patch, writes)
                with pytest.raises(KilledError):
                    work(disturbed)
            work(reopened(root))
            found = outcome(reopened(root))
        where = f"killed behind write {writes} of {total}, {done[-1:]}, TEST_SEED={SEED}"
        assert found[1] == files, where
        try:
            assert_same_tables(found[0], tables)
        except AssertionError as error:
            raise AssertionError(where) from error
