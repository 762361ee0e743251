"""A short session teaches: its correction is recalled, and stays one memory when the session resumes and becomes long."""

from pathlib import Path

import polars as pl
import pytest

from memory_assets.memory import MemoryAgent
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user
from memory_assets_tests.story import open_at, run

SESSION = "0a000001-1111-4222-8333-444455556666"
TAUGHT = [
    user(SESSION, 0, "install the dependencies please", 0),
    assistant(SESSION, 1, "I ran `pip install -r requirements.txt`, which installed 14 packages.", 1),
    user(SESSION, 2, "no, use uv here, never pip", 2),
    assistant(SESSION, 3, "Switched to uv: `uv sync` now installs everything from `uv.lock`.", 3),
]


@pytest.mark.slow
def test_a_correction_in_a_short_session_is_recalled_and_stays_one_memory_when_it_resumes(tmp_path: Path):
    data, sources = tmp_path / "store", tmp_path / "transcripts"
    path = transcript(sources, SESSION)
    path.write_bytes(lines(*TAUGHT))
    run("ingest", data, sources)
    store = open_at(data, sources)
    assert store.tables.read("windows")["status"].to_list() == ["short"]
    agent = MemoryAgent(store.settings)
    (first, *_) = agent.recall("uv or pip to install the dependencies?").results
    assert "uv here, never pip" in first.text
    assert [check.name for check in agent.health().checks if not check.passed] == []
    path.write_bytes(lines(*TAUGHT, *dialogue(SESSION, 4, first=4, minutes=60 * 24)))
    run("ingest", data, sources)
    assert store.tables.read("windows")["status"].to_list() == ["observed"]
    uv = store.tables.read("memories").filter(pl.col("text").str.contains("uv here, never pip"), kind="fact")
    assert uv["id"].to_list() == [first.memory_id]
    assert uv["state"].to_list() == ["active"]
