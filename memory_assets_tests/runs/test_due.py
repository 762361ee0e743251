"""What is due: decisions that are gone are made again, and a stale table asks for the job that builds it."""

import pytest

from memory_assets.runs.due import due_runs, next_runs, review_is_stale
from memory_assets_tests.small_store import bring_up_to_date, index, small_store, write


def test_decisions_that_are_gone_are_made_again_though_nothing_else_changed(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("MEMORY_NOW", "2026-08-04T12:00:00+00:00")
    store = small_store()
    bring_up_to_date(store)
    assert not review_is_stale(store)
    store.tables.drop("decisions", "all")
    assert review_is_stale(store)


def test_the_first_job_in_order_that_has_something_to_do_is_run_and_the_same_state_asks_for_the_same_run():
    store = small_store()
    index(store)
    bring_up_to_date(store)
    assert next_runs(store) == []
    write(store, "messages", "2026-08-03")
    asked = next_runs(store)
    assert [(one.job, one.stretch and one.stretch.first.isoformat()) for one in asked] == [
        ("process_days", "2026-08-03")
    ]
    assert next_runs(store) == asked == due_runs(store, "process_days")
