"""Made-up sessions of several projects: little else is kept than what a person laid down or stated, and most of that."""

from datetime import datetime, time, timedelta
from pathlib import Path

import polars as pl
import pytest

from memory_assets.runs import launch
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets.text.files import write_atomically
from memory_assets_tests.conftest import NOW
from memory_assets_tests.stages.distill.rules.sayings import (
    conversations,
    is_wanted,
    score,
)
from memory_assets_tests.stages.friction.transcripts import Session, Turn

PARTS = ("before", "after")


ROLES = {"owner": "mira", "assistant": "agent"}


@pytest.mark.parametrize("part", PARTS)
def test_what_is_kept_is_right_and_most_of_what_is_laid_down_is_kept(part: str):
    found = score(part)
    assert found.precision >= 0.95, found.wrong
    assert found.recall >= 0.85, found.missed


def test_a_store_of_these_sessions_holds_the_same(tmp_path: Path):
    wanted = {}
    for number, one in enumerate(found for part in PARTS for found in conversations(part)):
        began = datetime.combine(NOW.date(), time(8), NOW.tzinfo) - timedelta(days=2 + number % 5)
        spoken = enumerate((ROLES[row["author"]], row["text"]) for row in one.rows)
        turns = tuple(
            Turn(began + timedelta(minutes=minute), role, text) for minute, (role, text) in spoken
        )
        session = Session(one.name, ("claude_code", "codex", "pi")[number % 3], one.name, turns)
        write_atomically(tmp_path / "transcripts" / session.path, session.content)
        wanted[session.id] = one.wanted
    folder = str(tmp_path / "transcripts")
    store = open_store(
        read_settings(
            data=tmp_path / "store", sources=folder, owner="mira", timezone="UTC", now=NOW
        )
    )
    launch.ingest(store, reflect=False)
    allowed = store.tables.read("observations").filter(
        (pl.col("kind") == "fact") & (pl.col("gate") == "allow")
    )
    right = [
        text
        for session, text in allowed.select("session_id", "text").rows()
        if is_wanted(text, wanted[session])
    ]
    assert len(right) >= 0.95 * allowed.height
    assert len(right) >= 0.8 * sum(map(len, wanted.values()))
    lessons = store.tables.read("lessons")
    assert all(
        is_wanted(text, wanted[session])
        for session, text in lessons.select("session_id", "text").rows()
    )
    assert lessons.height >= 20
