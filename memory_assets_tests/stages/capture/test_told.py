"""What a harness tells closes windows at once: the end of one session, and a compaction before the transcript shows it."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from memory_assets.runs.due import windows_due
from memory_assets.runs.materialise import materialise
from memory_assets.runs.steps.capture import window_rules_of
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.stages.capture.index import index_sources
from memory_assets.stages.capture.windows import plan_windows
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import intake
from memory_assets_tests.stages.capture.sessions import (
    START,
    compaction,
    dialogue,
    lines,
    transcript,
)

SESSION = "0a000001-1111-4222-8333-444455556666"
OTHER = "0a000002-1111-4222-8333-444455556666"
ENDED, COMPACTING = "session.ended", "session.compaction.pending"


def minute(number: float) -> datetime:
    return START + timedelta(minutes=number)


def at(moment: datetime, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MEMORY_NOW", moment.isoformat())
    return open_store(read_settings())


def tell(store: Store, kind: str, moment: datetime, session: str = SESSION) -> None:
    store.ledger.append(kind, session, {"sent_at": moment.isoformat()}, actor="mira")


def take_in(store: Store, folder: Path, *records: dict[str, Any], session: str = SESSION) -> None:
    transcript(folder, session).write_bytes(lines(*records))
    intake(store, folder)
    index_sources(store.archive, store.tables)


def cut(store: Store) -> list[tuple[str, str, int]]:
    """Cuts windows as a run does, which plans only what changed, and checks that planning everything gives the same."""
    materialise(store, [TABLES["windows"]], [WHOLE])
    found = store.tables.read("windows")
    everything = plan_windows(
        store.tables.scan("records"), store.archive.resources(), window_rules_of(store)
    )
    assert found.sort("window_id").equals(everything.sort("window_id"))
    return list(
        found.sort("started_at", "window_id")
        .select("trigger", "status", "message_count")
        .iter_rows()
    )


def test_a_session_that_ended_is_closed_at_once_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = at(minute(20), monkeypatch)
    take_in(store, tmp_path, *dialogue(OTHER, 6, minutes=0.1), session=OTHER)
    take_in(store, tmp_path, *dialogue(SESSION, 6))
    assert cut(store) == [("open", "open", 12)] * 2
    assert not windows_due(store)
    tell(store, ENDED, minute(7))
    assert windows_due(store)
    assert cut(store) == [("ended", "observed", 12), ("open", "open", 12)]
    assert not windows_due(store)


def take_in_subagent(store: Store, folder: Path, minutes: float, session: str = SESSION) -> None:
    """Two messages of a sub-agent that the session spawned."""
    path = transcript(folder, session).with_suffix("") / "subagents" / "agent-a1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    records = dialogue(session, 1, first=500, minutes=minutes)
    path.write_bytes(
        lines(*({**record, "isSidechain": True, "agentId": "a1"} for record in records))
    )
    intake(store, folder)
    index_sources(store.archive, store.tables)


def test_the_window_of_a_sub_agent_ends_with_the_session_that_spawned_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = at(minute(20), monkeypatch)
    take_in(store, tmp_path, *dialogue(SESSION, 6))
    take_in_subagent(store, tmp_path, 2)
    take_in(store, tmp_path, *dialogue(OTHER, 6, minutes=0.1), session=OTHER)
    assert [(status, count) for _, status, count in cut(store)] == [
        ("open", 12),
        ("open", 12),
        ("open", 2),
    ]
    tell(store, ENDED, minute(7))
    assert windows_due(store)
    assert cut(store) == [("ended", "observed", 12), ("open", "open", 12), ("ended", "short", 2)]


def test_a_compaction_that_is_pending_closes_the_window_before_the_transcript_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = at(minute(6.5), monkeypatch)
    take_in(store, tmp_path, *dialogue(SESSION, 6))
    tell(store, COMPACTING, minute(6))
    assert cut(store) == [("compaction", "observed", 12)]
    before = store.tables.read("windows")
    store = at(minute(20), monkeypatch)
    rest = dialogue(SESSION, 2, first=13, minutes=8)
    take_in(store, tmp_path, *dialogue(SESSION, 6), compaction(SESSION, 12, 6.2), *rest)
    assert cut(store) == [("compaction", "observed", 12), ("open", "open", 4)]
    assert store.tables.read("windows").filter(pl.col("trigger") == "compaction").equals(before)


def test_a_compaction_that_never_came_cuts_where_it_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = at(minute(20), monkeypatch)
    tell(store, COMPACTING, minute(6))
    take_in(store, tmp_path, *dialogue(SESSION, 6), *dialogue(SESSION, 2, first=12, minutes=8))
    assert cut(store) == [("compaction", "observed", 12), ("open", "open", 4)]
    store = at(minute(200), monkeypatch)
    assert cut(store) == [("compaction", "observed", 12), ("ended", "observed", 4)]
