"""What the owner says in three sessions, in three wordings, is one memory and one line of the project's file; no model is used."""

from pathlib import Path

import polars as pl
import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.stages.triage.current import read_current
from memory_assets.stages.triage.memory_md import read_entries
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user
from memory_assets_tests.story import open_at, run

WORDINGS = (
    "no, use uv, not pip",
    "Always use uv, never pip.",
    "Please use `uv` instead of `pip` here.",
)


@pytest.mark.slow
def test_one_rule_in_three_wordings_is_one_memory_of_three_sessions(tmp_path: Path):
    data, sources = tmp_path / "store", tmp_path / "transcripts"
    for number, wording in enumerate(WORDINGS, 1):
        session, day = f"0b00000{number}-1111-4222-8333-444455556666", number * 60 * 24
        corrected = [
            user(session, 0, "add httpx to the dependencies please", day),
            assistant(session, 1, "I ran `pip install httpx`, which installed it.", day + 1),
            user(session, 2, wording, day + 2),
            assistant(
                session, 3, "Switched to uv: `uv add httpx` is in `pyproject.toml`.", day + 3
            ),
        ]
        transcript(sources, session).write_bytes(
            lines(*corrected, *dialogue(session, 4, first=4, minutes=day + 10))
        )
    run("ingest", data, sources)
    store = open_at(data, sources)
    said = store.tables.read("observations").filter(
        pl.col("text").str.contains(r"\bpip\b"), kind="fact", author="owner"
    )
    assert sorted(said["text"]) == [
        "Always use uv, never pip.",
        "Use `uv` instead of `pip` here.",
        "Use uv, not pip.",
    ]
    memories = store.tables.read("memories").filter(
        pl.col("text").str.contains(r"\bpip\b"), kind="fact", author="owner"
    )
    (memory,) = memories.filter(pl.col("superseded_by").is_null()).to_dicts()
    assert (memory["merged_count"], memory["confirmed_count"]) == (3, 2)
    assert sorted(memory["session_ids"]) == sorted(said["session_id"])
    (proposal,) = read_current(store.tables).values()
    assert sorted(proposal["session_ids"]) == sorted(said["session_id"])
    assert not MemoryAgent(store.settings).pending()
    (entry,) = read_entries((store.workspace / "projects" / "shop.md").read_text())
    assert entry.text == "Use uv, not pip."
