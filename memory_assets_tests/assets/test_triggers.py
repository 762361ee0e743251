"""Triggers as an asset, and the daily check: the briefing follows the calendar with no new transcript."""

from datetime import timedelta

import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.runs.due import due_runs
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.dagster_runs import run_assets, run_check
from memory_assets_tests.factories import START, message
from memory_assets_tests.small_store import small_store, write

DAY = START.date().isoformat()
SUNDAY, TUESDAY = "2026-08-09T09:00:00+00:00", "2026-08-11T09:00:00+00:00"
"""START is a Monday; "next Monday" is 2026-08-10."""


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MEMORY_NOW", (START + timedelta(hours=2)).isoformat())
    store = small_store()
    told = message(
        "Remind me next Monday to rotate the keys.", 7, window_id="w" * 64, session_id="session-1"
    )
    write(store, "messages", DAY, told)
    return store


def find(store: Store) -> dict[str, bool]:
    result = run_assets(store, "triggers", days=(DAY, DAY), raise_on_error=False)
    return {check.check_name: check.passed for check in result.get_asset_check_evaluations()}


def at(now: str, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MEMORY_NOW", now)
    return open_store(read_settings())


def test_a_day_before_its_message_fails_the_check(store: Store):
    find(store)
    (one,) = store.tables.read("triggers").to_dicts()
    write(store, "triggers", DAY, one | {"trigger_on": START.date() - timedelta(days=1)})
    assert not run_check(store, "triggers", "not_before_the_message").passed


def test_the_facade_lists_what_is_ahead_and_what_comes_up_on_a_day(store: Store):
    find(store)
    agent = MemoryAgent(store.settings)
    (one,) = agent.triggers().triggers
    assert (str(one.trigger_on), one.state, one.text) == (
        "2026-08-10",
        "waiting",
        "Remind me next Monday to rotate the keys.",
    )
    days = [START.date() + timedelta(days=away) for away in (5, 6, 7, 8)]
    assert [agent.triggers(on=day).triggers != () for day in days] == [False, True, True, False]


def test_the_briefing_follows_the_calendar_without_new_transcripts(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    find(store)
    run_brief(store)
    assert not due_runs(store, "brief")
    sunday = at(SUNDAY, monkeypatch)
    assert due_runs(sunday, "brief")
    run_brief(sunday)
    text = (sunday.workspace / "briefings" / "x.md").read_text()
    assert "⏰ Mon 2026-08-10: “Remind me next Monday to rotate the keys.”" in text
    assert not due_runs(sunday, "brief")
    tuesday = at(TUESDAY, monkeypatch)
    assert due_runs(tuesday, "brief")
    run_brief(tuesday)
    assert "⏰" not in (tuesday.workspace / "briefings" / "x.md").read_text()


def run_brief(store: Store) -> None:
    run_assets(store, "briefing")
