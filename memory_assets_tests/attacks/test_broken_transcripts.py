"""A broken transcript costs its broken lines and nothing else: no crash, no other session, and every line is counted."""

from pathlib import Path

import polars as pl
import pytest

from memory_assets.services.health.sums import read_sums
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.attacks.broken_transcripts import BREAKS
from memory_assets_tests.conftest import NOW
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import dialogue, lines, transcript

OF_CAPTURE = ("records", "record status", "messages", "no message lost", "closed windows")
GOOD = lines(*dialogue("broken", 5))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return open_store(read_settings(data=tmp_path / "kept", now=NOW))


def broken_sums(store: Store) -> list[tuple[str, str]]:
    """The equations of capture that do not hold."""
    sums = read_sums(store.tables, store.archive.resources(), store.tables.read("memories"), 0)
    return [
        (check.name, check.found)
        for check in sums.checks
        if check.name in OF_CAPTURE and not check.passed
    ]


def assert_whole_is_kept(store: Store) -> None:
    """The session that nobody broke has all its messages, and every line of every file is counted."""
    assert broken_sums(store) == []
    messages = store.tables.read("messages").filter(session_id="whole").sort("ordinal")
    assert messages["text"].to_list()[:2] == [
        "whole: please look at point 0",
        "whole: point 0 is done",
    ]
    assert messages.height == 10


@pytest.mark.timeout(120)
def test_broken_transcripts_of_all_kinds_harm_no_other_and_all_their_lines_are_counted(
    store: Store, tmp_path: Path
):
    folder = tmp_path / "sources"
    transcript(folder, "whole").write_bytes(lines(*dialogue("whole", 5)))
    for number, name in enumerate(BREAKS):
        session = f"broken-{number}"
        BREAKS[name](transcript(folder, session), lines(*dialogue(session, 5)))
    for _ in range(2):
        capture(store, folder)
        assert_whole_is_kept(store)


@pytest.mark.parametrize(
    "name",
    ["torn in the middle", "nul bytes between", "numbers", "half an emoji", "no last newline"],
)
def test_the_records_around_a_broken_line_are_kept(store: Store, tmp_path: Path, name: str):
    path = transcript(tmp_path / "sources", "broken")
    BREAKS[name](path, GOOD)
    capture(store, tmp_path / "sources")
    found = (
        store.tables.read("records")
        .filter(pl.col("status") == "message")
        .filter(record_type="user")
    )
    assert found.height >= 4
