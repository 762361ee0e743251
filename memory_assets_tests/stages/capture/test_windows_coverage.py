"""Of the real transcripts, no message of a session that is not short is outside an observed window, and projects are repositories."""

import pytest

from memory_assets.store.store import Store
from memory_assets_tests.bench.coverage import long_sessions, unobserved


@pytest.mark.slow
def test_at_most_three_of_a_hundred_messages_are_outside_observed_windows(
    captured_transcripts: Store,
):
    missed, every = unobserved(captured_transcripts)
    assert every > 30_000
    assert missed <= 0.03 * every


@pytest.mark.slow
def test_the_window_of_a_session_is_short_exactly_if_the_session_is(captured_transcripts: Store):
    tables = captured_transcripts.tables
    windows = tables.read("windows")
    long = windows.join(long_sessions(tables.read("records")), on="source_id", how="semi")
    assert set(long["status"]) == {"observed"}
    assert set(windows.join(long, on="source_id", how="anti")["status"]) == {"short"}


@pytest.mark.slow
def test_the_projects_of_the_real_transcripts_are_repositories(captured_transcripts: Store):
    projects = set(captured_transcripts.tables.read("windows")["project"])
    assert {"git-sync", "auth-go", "entire-graph", "skills", "pi-mono"} <= projects
    assert not {"experiment", "tasks", "unknown", "go-git"} & projects
