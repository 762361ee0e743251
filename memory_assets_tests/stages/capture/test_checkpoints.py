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
    compaction,
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


def test_a_turn_that_a_compaction_cuts_is_one_turn_of_the_day_it_begins_on(
    store: Store, sources: Path
):
    records = [
        *dialogue("a", 1),
        user("a", 4, "Go on through the night.", 60),
        compaction("a", 5, 61),
    ]
    records += [
        assistant("a", 6, "Still at it.", 24 * 60),
        *dialogue("a", 1, first=8, minutes=24 * 60 + 1),
    ]
    transcript(sources, "a").write_bytes(lines(*records))
    found = turns(store, sources)
    assert shape(found) == [("a", 1, DAY, 0, 1), ("a", 2, DAY, 2, 4), ("a", 3, NEXT_DAY, 5, 6)]
    assert [one["is_compacted"] for one in found] == [False, True, False]
    assert found[1]["ended_at"] == datetime(2026, 8, 4, 9, 0, tzinfo=UTC)


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


def test_a_fork_has_only_its_own_turns(store: Store, sources: Path):
    shared = dialogue("m", 3)
    transcript(sources, "m").write_bytes(lines(*shared, *dialogue("m", 1, first=20, minutes=10)))
    copied = [{**record, "sessionId": "fork"} for record in shared]
    transcript(sources, "fork").write_bytes(
        lines(*copied, *dialogue("fork", 2, first=30, minutes=90))
    )
    found = turns(store, sources)
    assert [(one["session_id"], one["turn"]) for one in found] == [
        ("fork", 1),
        ("fork", 2),
        *(("m", n) for n in range(1, 5)),
    ]


def test_all_of_a_sub_agent_is_turn_0(store: Store, sources: Path):
    transcript(sources, "m").write_bytes(lines(*dialogue("m", 2)))
    path = sources / "projects" / "-home-mira-shop" / "m" / "subagents" / "agent-7.jsonl"
    path.parent.mkdir(parents=True)
    side = {"isSidechain": True, "agentId": "7"}
    path.write_bytes(
        lines(
            *(
                record | side
                for record in (user("m", 50, "Find it.", 1), assistant("m", 51, "Found.", 2))
            )
        )
    )
    found = [one for one in turns(store, sources) if one["session_id"] != "m"]
    assert [(one["session_id"], one["turn"], len(one["message_ids"])) for one in found] == [
        ("m/agent-7", 0, 2)
    ]


def test_a_rewritten_file_keeps_the_numbers_of_its_turns(store: Store, sources: Path):
    path = transcript(sources, "a")
    path.write_bytes(lines(*dialogue("a", 3)))
    before = turns(store, sources)
    path.write_bytes(lines({**dialogue("a", 1)[0], "slug": "rewritten"}, *dialogue("a", 4)[1:]))
    after = turns(store, sources)
    assert [one["turn"] for one in after] == [1, 2, 3, 4]
    assert [one["message_ids"] for one in after[:3]] == [one["message_ids"] for one in before]
