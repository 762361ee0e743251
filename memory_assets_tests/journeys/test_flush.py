"""Flushing: every open session ends at that moment; what is said afterwards is a window of its own and repeats nothing."""

from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from memory_assets.runs import inputs
from memory_assets.runs.due import windows_due
from memory_assets.runs.steps.capture import window_rules_of
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.stages.capture.windows import plan_windows
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import START, dialogue, lines, transcript

SESSION = "0a000001-1111-4222-8333-444455556666"


def store_at(moment: datetime, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MEMORY_NOW", moment.isoformat())
    return open_store(read_settings())


def windows_of(store: Store) -> pl.DataFrame:
    records, resources = store.tables.scan("records"), store.archive.resources()
    found = plan_windows(records, resources, window_rules_of(store))
    store.tables.write(
        "windows", WHOLE, found, inputs=inputs.windows(store, TABLES["windows"])[WHOLE]
    )
    return found.sort("started_at")


def test_a_session_that_goes_on_is_open_until_it_is_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    transcript(tmp_path / "t", SESSION).write_bytes(lines(*dialogue(SESSION, 6)))
    store = store_at(START + timedelta(minutes=20), monkeypatch)
    capture(store, tmp_path / "t")
    assert windows_of(store)["status"].to_list() == ["open"]
    assert not windows_due(store)
    store.ledger.append("sessions.flushed", "all", actor="mira")
    assert windows_due(store)
    assert windows_of(store)["status"].to_list() == ["observed"]
    assert not windows_due(store)


def test_what_is_said_after_a_flush_is_a_window_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = transcript(tmp_path / "t", SESSION)
    path.write_bytes(lines(*dialogue(SESSION, 6)))
    store = store_at(START + timedelta(minutes=20), monkeypatch)
    capture(store, tmp_path / "t")
    store.ledger.append("sessions.flushed", "all", actor="mira")
    before = windows_of(store)
    path.write_bytes(lines(*dialogue(SESSION, 6), *dialogue(SESSION, 2, first=12, minutes=30)))
    later = store_at(START + timedelta(minutes=40), monkeypatch)
    capture(later, tmp_path / "t")
    first, second = windows_of(later).to_dicts()
    assert [first] == before.to_dicts()
    assert (second["status"], second["user_turn_count"]) == ("open", 2)
