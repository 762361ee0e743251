"""The fold: the oldest id, the newest allowed wording, every wording kept, and nothing that depends on the order of rows."""

import random
from datetime import timedelta

import pytest

from memory_assets.embed.memories import RECALLED, fold_memories
from memory_assets.embed.merge import SUPERSEDES
from memory_assets.ledger import Event
from memory_assets_tests.factories import START, frame, row


def said(id: str, **changes: object) -> dict:
    plain = {
        "event_at": START + timedelta(hours=int(id)), "text": f"wording {id}", "window_id": f"w{id}", "session_id": f"s{id}",
        "gate": "allow", "confidence": 0.9, "author": "owner", "kind": "fact",
    }  # fmt: skip
    return row("observations", id=id, **plain | changes)


def edge(newer: str, older: str, reason: str = "near-duplicate", similarity: float = 0.9) -> dict:
    return row("merges", newer_id=newer, older_id=older, reason=reason, similarity=similarity)


def fold(rows: list[dict], edges: list[dict] = (), events: list[Event] = ()) -> dict[str, dict]:  # type: ignore[assignment]
    folded = fold_memories(frame("observations", *rows), frame("merges", *edges), events)
    return {memory["id"]: memory for memory in folded.to_dicts()}


def test_a_cluster_keeps_the_oldest_id_the_newest_wording_and_every_wording():
    (memory,) = fold([said("1"), said("2"), said("3")], [edge("2", "1"), edge("3", "2")]).values()
    assert (memory["id"], memory["text"], memory["merged_count"]) == ("1", "wording 3", 3)
    assert memory["wordings"] == ["wording 1", "wording 2", "wording 3"]
    assert memory["session_ids"] == ["s1", "s2", "s3"]
    assert memory["first_event_at"] == START + timedelta(hours=1)
    assert memory["event_at"] == START + timedelta(hours=3)


@pytest.mark.parametrize(("windows", "confidence"), [(["a"], 0.9), (["a", "b"], 0.95), (["a", "a"], 0.9), (list("abcde"), 1.0)])
def test_each_repetition_in_another_window_adds_a_twentieth_up_to_one(windows: list[str], confidence: float):
    rows = [said(str(n), window_id=window) for n, window in enumerate(windows)]
    memory = fold(rows, [edge(str(n), "0") for n in range(1, len(windows))])["0"]
    assert memory["confidence"] == confidence


def test_a_held_repetition_neither_shows_nor_strengthens():
    rows = [said("1"), said("2", gate="hold", author="assistant", confidence=1.0, priority="high")]
    memory = fold(rows, [edge("2", "1")])["1"]
    assert (memory["state"], memory["text"], memory["confidence"], memory["author"]) == ("active", "wording 1", 0.9, "owner")
    assert memory["wordings"] == ["wording 1", "wording 2"]


def test_what_was_only_ever_held_is_a_held_memory():
    assert fold([said("1", gate="hold")])["1"]["state"] == "held"


def test_an_observation_joins_the_one_it_is_most_similar_to():
    folded = fold([said("1"), said("2"), said("3")], [edge("3", "1", similarity=0.86), edge("3", "2", similarity=0.97)])
    assert {id: memory["observation_ids"] for id, memory in folded.items()} == {"1": ["1"], "2": ["2", "3"]}


def test_a_replaced_fact_names_what_replaced_it():
    folded = fold([said("1"), said("2")], [edge("2", "1", SUPERSEDES)])
    assert (folded["1"]["state"], folded["1"]["superseded_by"]) == ("superseded", "2")
    assert folded["2"]["state"] == "active"


def test_a_fact_said_again_after_it_was_replaced_stands():
    folded = fold([said("1"), said("2"), said("3")], [edge("2", "1", SUPERSEDES), edge("3", "1")])
    assert (folded["1"]["state"], folded["1"]["superseded_by"]) == ("active", None)


def test_the_latest_replacement_counts():
    folded = fold([said("1"), said("2"), said("3")], [edge("2", "1", SUPERSEDES), edge("3", "1", SUPERSEDES)])
    assert folded["1"]["superseded_by"] == "3"


def test_recalls_of_any_observation_of_the_cluster_count_for_it():
    at = START + timedelta(days=3)
    events = [
        Event("1", at, "agent", RECALLED, "q", {"memory_ids": ["2", "gone"]}),
        Event("2", at + timedelta(days=1), "agent", RECALLED, "q", {"memory_ids": ["1"]}),
        Event("3", at + timedelta(days=2), "agent", "proposal.approved", "1"),
    ]
    memory = fold([said("1"), said("2")], [edge("2", "1")], events)["1"]
    assert (memory["recall_count"], memory["last_used_at"]) == (2, at + timedelta(days=1))


def test_the_fold_does_not_depend_on_the_order_of_rows():
    rows = [said(str(n), entities=[f"e{n}"]) for n in range(8)]
    edges = [edge("3", "1"), edge("4", "1"), edge("5", "2"), edge("6", "5"), edge("7", "3", SUPERSEDES), edge("6", "4")]
    first = fold_memories(frame("observations", *rows), frame("merges", *edges), [])
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        random.Random(seed).shuffle(edges)
        assert fold_memories(frame("observations", *rows), frame("merges", *edges), []).equals(first)
