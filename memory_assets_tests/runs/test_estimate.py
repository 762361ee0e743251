"""The time of a first build is estimated from the transcripts that wait, table by table; nothing waits, nothing is estimated."""

import os

from memory_assets.runs.estimate import (
    MEGABYTE,
    SECONDS_PER_MEGABYTE,
    SECONDS_PER_TABLE,
    expected_seconds,
)
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.stages.capture.sessions import dialogue, lines, transcript


def test_the_estimate_grows_with_the_transcripts_that_wait(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMORY_SOURCES", str(tmp_path))
    store = open_store(read_settings())
    assert expected_seconds(store) == {}
    path = transcript(tmp_path, "s")
    path.write_bytes(lines(*dialogue("s", 2)))
    small = expected_seconds(store)["passage_vectors"]
    os.truncate(path, 10 * MEGABYTE)
    assert (
        expected_seconds(store)["passage_vectors"] - SECONDS_PER_TABLE
        == 10 * SECONDS_PER_MEGABYTE["passage_vectors"]
    )
    assert SECONDS_PER_TABLE < small < SECONDS_PER_TABLE + 0.1
