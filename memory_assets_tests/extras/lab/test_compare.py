"""What was added, lost and changed: by stable ids first, then by the messages that facts rest on."""

import polars as pl

from memory_assets.extras.lab.compare import compare_memories, compare_observations
from memory_assets_tests.factories import PLAIN, frame, row


def fact(id: str, text: str = "Use uv, never pip.", **changes) -> dict:
    usual = {"gate_reason": "", "window_id": "w", "message_ids": ["m1"], "confidence": 0.7}
    return row("observations", id=id, text=text, **{**PLAIN, **usual, **changes})


def memory(id: str, state: str = "active", **changes) -> dict:
    usual = {
        "kind": "fact",
        "observation_ids": [id],
        "text": "Use uv, never pip.",
        "category": "operations",
    }
    return row(
        "memories", id=id, state=state, priority="medium", confidence=0.7, **{**usual, **changes}
    )


def observed(*rows: dict) -> pl.DataFrame:
    return frame("observations", *rows)


def told(before: list[dict], after: list[dict]) -> list[tuple[str, str, str | None, str]]:
    found = compare_observations(observed(*before), observed(*after))
    return [(one.kind, one.id, one.was_id, one.why) for one in found.changes]


def test_a_fact_that_is_held_now_is_lost_and_says_why():
    held = fact("a", gate="hold", gate_reason="usefulness below 0.8")
    assert told([fact("a")], [held]) == [("lost", "a", None, "now held: usefulness below 0.8")]


def test_a_fact_that_was_held_is_added_and_says_why():
    held = fact("a", gate="hold", gate_reason="an opinion")
    assert told([held], [fact("a")]) == [("added", "a", None, "was held: an opinion")]


def test_a_fact_that_nobody_says_any_more_is_lost_and_one_that_nobody_said_is_added():
    assert told(
        [fact("a", message_ids=["m1"])], [fact("b", "Ports begin at 5000.", message_ids=["m2"])]
    ) == [
        ("added", "b", None, "nothing said it before"),
        ("lost", "a", None, "nothing says it any more"),
    ]


def test_a_fact_worded_anew_from_the_same_messages_is_changed():
    assert told([fact("a")], [fact("b", "Use uv and never pip for packages.")]) == [
        ("changed", "b", "a", "text")
    ]


def test_a_memory_that_is_held_is_lost_and_one_of_a_fact_worded_anew_is_changed():
    before = frame("memories", memory("a"), memory("b"), memory("h", "held"))
    after = frame(
        "memories", memory("a", "held"), memory("c", text="Ports begin at 5000."), memory("h")
    )
    found = compare_memories(before, after, {"b": "c"})
    assert [
        (one.kind, one.id, one.was_id, one.why)
        for one in sorted(found.changes, key=lambda one: one.id)
    ] == [
        ("lost", "a", None, "now held"),
        ("changed", "c", "b", "text"),
        ("added", "h", None, "was held"),
    ]
    assert found.to_dict()["added"] == found.to_dict()["lost"] == found.to_dict()["changed"] == 1


def test_a_memory_that_another_one_took_in_is_lost_and_says_so():
    before = frame("memories", memory("a"), memory("b"))
    after = frame("memories", memory("a", observation_ids=["a", "b"]))
    changes = compare_memories(before, after, {}).changes
    assert [(one.kind, one.id, one.why) for one in changes] == [
        ("lost", "b", "now part of another memory")
    ]
