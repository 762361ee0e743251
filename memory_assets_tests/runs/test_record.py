"""The record of real runs: what a run that was killed did not build is built by the next one, whatever the clock says."""

from memory_assets.runs.record import has_failed, lagging_sources, note_builds
from memory_assets.schema.tables import TABLES, tables_in
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import PROPOSAL, small_store, write


def test_tables_lag_when_rows_they_are_built_from_changed_though_no_time_has_passed():
    """A killed run wrote decisions and nothing behind them; the clock of the test stands still."""
    store = small_store()
    note_builds(store, tables_in("triage"))
    assert not has_failed(store, "triage")
    write(
        store,
        "decisions",
        "all",
        row("decisions", proposal_id=PROPOSAL, state="rejected", reason="too vague"),
    )
    assert lagging_sources(store, TABLES["trust"]) == ["decisions"]
    assert has_failed(store, "triage")
    note_builds(store, tables_in("triage"))
    assert not has_failed(store, "triage")


def test_tables_lag_when_a_killed_run_built_their_sources_again_though_no_row_of_them_changed():
    """The killed run was to count a verdict that only another job writes; its decisions are those of the run before."""
    store = small_store()
    note_builds(store, tables_in("triage"))
    note_builds(store, [TABLES["decisions"]])
    assert lagging_sources(store, TABLES["trust"]) == ["decisions"]
    assert has_failed(store, "triage")
    note_builds(store, tables_in("triage"))
    assert not has_failed(store, "triage")
