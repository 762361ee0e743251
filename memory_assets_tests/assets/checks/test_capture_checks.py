"""Captured messages are complete, belong to one window, and can be traced to archived bytes that did not change."""

import pytest
import zstandard

from memory_assets.assets.checks.capture_checks import coverage, turns_complete
from memory_assets.store.archive import range_id
from memory_assets.store.store import Store
from memory_assets_tests.assets.checks.outcomes import failing
from memory_assets_tests.factories import message, row
from memory_assets_tests.small_store import DAY, IDS, TURNS, WINDOW, small_store, write

ON = DAY.isoformat()


RANGE = range_id("s1", 0, 0)


@pytest.fixture
def store() -> Store:
    store = small_store()
    write(store, "messages", ON, *messages(0, 1, 2, 3, 4))
    return store


def messages(*turns: int, **changes: object) -> list[dict]:
    return [
        message(TURNS[n], n, **{"window_id": WINDOW, "resource_id": RANGE, **changes})
        for n in turns
    ]


def test_a_lost_message_fails(store: Store):
    write(store, "messages", ON, *messages(0, 1, 2, 3))
    assert failing(store, "messages", [ON]) == ["coverage"]
    assert failing(store, "messages", ["2026-08-04"]) == []


def test_a_message_in_two_windows_fails(store: Store):
    windows = store.tables.read("windows").to_dicts()
    write(
        store,
        "windows",
        "all",
        *windows,
        windows[0] | {"window_id": "x" * 64, "message_ids": IDS[:1]},
    )
    assert failing(store, "messages") == ["coverage"]
    assert set(coverage(store, None)["problem"]) == {"missing", "in several windows"}


def test_a_message_outside_the_archive_fails(store: Store):
    write(store, "messages", ON, *messages(0, 1, 2, 3, 4, resource_id="elsewhere"))
    assert failing(store, "messages") == ["provenance"]


def test_changed_bytes_fail(store: Store):
    (path,) = (store.root / "resources").rglob("*.zst")
    path.write_bytes(zstandard.compress(b"other bytes"))
    assert failing(store, "resources") == ["archived_bytes_unchanged"]


def test_turns_that_are_missing_or_share_a_message_fail(store: Store):
    window = store.tables.read("windows").to_dicts()[0]
    write(store, "windows", "all", window | {"user_turn_count": 2})
    turn = row("checkpoints", session_id=window["session_id"], turn=1, day=DAY, message_ids=IDS[:2])
    turns = [turn, turn | {"turn": 2, "message_ids": IDS[2:]}]
    write(store, "checkpoints", ON, *turns)
    assert failing(store, "checkpoints") == failing(store, "checkpoints", [ON]) == []
    write(store, "checkpoints", ON, turns[0])
    assert failing(store, "checkpoints") == ["turns_complete"]
    assert turns_complete(store, [ON])["problem"].to_list() == ["turns are missing"]
    write(store, "checkpoints", ON, turns[0], turns[1] | {"message_ids": IDS[1:]})
    assert turns_complete(store, [ON])["problem"].to_list() == ["a message is in two turns"]
