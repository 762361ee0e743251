"""A process killed at any moment costs nothing: the next run ends at the tables of an undisturbed one."""

import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from memory_assets_tests.once import SEED, sampled
from memory_assets_tests.story import all_tables, assert_same_tables, lay_out_sample, open_at, run, start

MOMENTS = (1.5, 3.0, 4.5, 6.0, 8.0)
"""Seconds after the start, spread over capture, distillation, embedding, folding and triage, each with some chance."""

KILLS = 2
"""Moments of a run; all under `make test-all`."""


@pytest.mark.slow
def test_killing_the_process_again_and_again_gives_the_same_tables_as_an_undisturbed_run(tmp_path: Path):
    sources = lay_out_sample(tmp_path / "transcripts", "/pi/", "/codex/")
    disturbed, undisturbed = tmp_path / "disturbed", tmp_path / "undisturbed"
    chance = random.Random(SEED)
    for moment in sampled(MOMENTS, KILLS):
        process = start("ingest", disturbed, sources)
        try:
            process.communicate(timeout=moment + chance.random())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    run("ingest", disturbed, sources)
    run("ingest", undisturbed, sources)
    expected = all_tables(open_at(undisturbed, sources))
    assert_same_tables(all_tables(open_at(disturbed, sources)), expected)
    assert expected["memories"].height > 0
    assert (disturbed / "workspace" / "MEMORY.md").read_bytes() == (undisturbed / "workspace" / "MEMORY.md").read_bytes(), SEED
