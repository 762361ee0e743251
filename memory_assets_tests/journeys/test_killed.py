"""A process killed at any moment costs nothing: the next run ends at the tables of an undisturbed one."""

import os
import random
import signal
import subprocess
from pathlib import Path

import dagster as dg
import pytest

from memory_assets.runs.instance import open_instance
from memory_assets.runs.liveness import FOLDER
from memory_assets_tests import story
from memory_assets_tests.once import SEED, only_whole, sampled

MOMENTS = (1.5, 3.0, 4.5, 6.0, 8.0)
"""Seconds after the start, spread over capture, distillation, embedding, folding and triage, each with some chance."""

KILLS = 2
"""Moments of a run; all under `make test-all`."""


@pytest.mark.slow
@only_whole("the sampled points of `attacks/test_kill_points.py` hold the same")
def test_killing_the_process_again_and_again_gives_the_same_tables_as_an_undisturbed_run(
    tmp_path: Path,
):
    sources = story.lay_out_sample(tmp_path / "transcripts", "/pi/", "/codex/")
    disturbed, undisturbed = tmp_path / "disturbed", tmp_path / "undisturbed"
    chance = random.Random(SEED)
    for moment in sampled(MOMENTS, KILLS):
        process = story.start("ingest", disturbed, sources)
        try:
            process.communicate(timeout=moment + chance.random())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    story.run("ingest", disturbed, sources)
    story.run("ingest", undisturbed, sources)
    expected = story.all_tables(story.open_at(undisturbed, sources))
    story.assert_same_tables(story.all_tables(story.open_at(disturbed, sources)), expected)
    assert expected["memories"].height > 0
    assert (disturbed / "workspace" / "MEMORY.md").read_bytes() == (
        undisturbed / "workspace" / "MEMORY.md"
    ).read_bytes(), SEED


@pytest.mark.slow
def test_an_ingest_waits_for_no_slot_of_a_killed_run(tmp_path: Path):
    """A run killed while it wrote MEMORY.md left Dagster's pool full, and the next ingest waited for ever."""
    sources, data = (
        story.lay_out_sample(tmp_path / "transcripts", story.ONE_SESSION),
        tmp_path / "data",
    )
    store = story.open_at(data, sources)
    with open_instance(store) as instance:
        job = dg.GraphDefinition(name="triage").to_job()
        run_id = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED).run_id
        instance.event_log_storage.set_concurrency_slots("memory_md", 1)
        assert instance.event_log_storage.claim_concurrency_slot(
            "memory_md", run_id, "decisions"
        ).is_claimed
    (store.dagster_home / FOLDER).mkdir(exist_ok=True)
    (store.dagster_home / FOLDER / f"{run_id}.lock").touch()
    assert "triage" in story.run_apart("ingest", data, sources)["jobs"]
