"""Turns: where they begin and end, the state at their end, the day they belong to, and that a turn which is over never changes."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_assets.runs.staleness import stale_partitions
from memory_assets.schema.tables import TABLES
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import capture, check_points
from memory_assets_tests.stages.capture.sessions import (
    assistant,
    dialogue,
    lines,
    transcript,
    user,
)

DAY, NEXT_DAY = "2026-08-03", "2026-08-04"


def turns(store: Store, sources: Path, table: str = "checkpoints") -> list[dict]:
    capture(store, sources)
    check_points(store)
    return store.tables.read(table).sort("session_id", "turn").to_dicts()


def shape(found: list[dict]) -> list[tuple]:
    return [
        (one["session_id"], one["turn"], str(one["day"]), one["line_from"], one["line_to"])
        for one in found
    ]


def call(session: str, number: int, tool: str, minutes: float, **arguments: str) -> dict:
    record = assistant(session, number, "", minutes)
    block = {"type": "tool_use", "id": f"call-{number}", "name": tool, "input": arguments}
    return record | {
        "message": record["message"] | {"content": [block], "model": "claude-opus-4-8"}
    }


def result(session: str, number: int, of: int, text: str, minutes: float) -> dict:
    record = user(session, number, "", minutes)
    block = {"type": "tool_result", "tool_use_id": f"call-{of}", "content": text}
    return record | {"message": {"role": "user", "content": [block]}}


def test_a_turn_has_its_messages_and_the_state_at_its_end(store: Store, sources: Path):
    records = [
        user("a", 0, "Fix the port in the settings.", 0),
        call("a", 1, "Read", 0.1, file_path="settings.py"),
        result("a", 2, 1, "port = 80", 0.2),
        call("a", 3, "Edit", 0.3, file_path="settings.py"),
        result("a", 4, 3, "done", 0.4) | {"gitBranch": "fix/port", "cwd": "/home/mira/shop/app"},
        user("a", 5, "Thanks, and now the docs.", 5) | {"gitBranch": "docs"},
    ]
    transcript(sources, "a").write_bytes(lines(*records))
    first, second = turns(store, sources)
    assert (first["turn"], len(first["message_ids"]), first["result_count"]) == (1, 5, 2)
    assert (first["folder"], first["branch"], first["model"]) == (
        "/home/mira/shop/app",
        "fix/port",
        "claude-opus-4-8",
    )
    assert (first["files_read"], first["files_modified"]) == (["settings.py"], ["settings.py"])
    assert (second["turn"], second["branch"], second["model"]) == (2, "docs", "claude-opus-4-8")
    assert second["files_modified"] == []


def test_a_turn_that_is_over_never_changes_and_days_before_the_last_are_not_built_again(
    store: Store, sources: Path
):
    path, whole = transcript(sources, "a"), dialogue("a", 6)
    path.write_bytes(lines(*whole))
    before = turns(store, sources)
    whole += dialogue("a", 1, first=12, minutes=24 * 60)
    path.write_bytes(lines(*whole))
    assert turns(store, sources)[:6] == before
    path.write_bytes(lines(*whole, *dialogue("a", 6, first=14, minutes=48 * 60)))
    capture(store, sources)
    assert stale_partitions(store, TABLES["checkpoints"]) == [NEXT_DAY, "2026-08-05"]
    assert [one["turn"] for one in turns(store, sources)] == list(range(1, 14))


def test_a_day_is_built_again_when_a_later_window_goes_on_with_its_last_turn(
    store: Store, sources: Path
):
    path, whole = transcript(sources, "a"), dialogue("a", 5)
    path.write_bytes(lines(*whole))
    turns(store, sources)
    path.write_bytes(lines(*whole, assistant("a", 20, "The nightly build is green.", 24 * 60)))
    capture(store, sources)
    assert stale_partitions(store, TABLES["checkpoints"]) == [DAY, NEXT_DAY]
    assert shape(turns(store, sources))[-1] == ("a", 5, DAY, 8, 10)


def test_a_day_that_lost_its_windows_has_no_turns_left(store: Store, sources: Path):
    transcript(sources, "a").write_bytes(lines(*dialogue("a", 3)))
    turns(store, sources)
    store.tables.write("windows", "all", store.tables.read("windows").clear())
    check_points(store)
    assert store.tables.read("checkpoints").is_empty()
    assert stale_partitions(store, TABLES["checkpoints"]) == []


@pytest.mark.parametrize("torn", [b'{"type":"assistant","uuid":"a-9","mess', b"\xf0\x9f", b""])
def test_of_a_killed_session_the_last_turn_is_there_up_to_the_last_whole_line(
    sources: Path, torn: bytes
):
    store = open_store(read_settings(now=datetime(2026, 8, 3, 9, 4, tzinfo=UTC)))
    path, begun = (
        transcript(sources, "a"),
        [*dialogue("a", 2), user("a", 4, "And the last point?", 3)],
    )
    path.write_bytes(lines(*begun) + torn)
    found = turns(store, sources, "checkpoints_open")
    assert shape(found) == [("a", 1, "None", 0, 1), ("a", 2, "None", 2, 3), ("a", 3, "None", 4, 4)]
    path.write_bytes(lines(*begun, assistant("a", 9, "It is done.", 3.5)))
    assert shape(turns(store, sources, "checkpoints_open"))[-1] == ("a", 3, "None", 4, 5)
