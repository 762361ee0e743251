"""What a result says of itself: whether to trust it, and which of two that cannot both hold is surer."""

from dataclasses import replace

import pytest

from memory_assets.stages.recall.results import in_order, result_of
from memory_assets.text.short_ids import short_id
from memory_assets_tests.factories import START, row

IDS = [f"{number}f3a5c1e-0000-5000-8000-000000000001" for number in range(3)]


def result(id: str, confidence: float, **changes):
    known = {
        "state": "active",
        "strength": "explicit",
        "author": "owner",
        "confirmed_count": 0,
        "event_at": START,
    }
    memory = row(
        "memories", id=id, confidence=confidence, **{**known, "conflicts_with": [], **changes}
    )
    return result_of(memory, START, score=confidence, arms=["keyword"])


@pytest.mark.parametrize(
    ("confidence", "changes", "tags"),
    [
        (0.30, {}, ()),
        (0.29, {}, ("uncertain",)),
        (0.9, {"state": "stale"}, ("stale",)),
        (0.9, {"strength": "inferred", "author": "assistant"}, ("unconfirmed",)),
        (0.9, {"strength": "inferred", "author": "assistant", "confirmed_count": 1}, ()),
        (0.9, {"strength": "inferred", "author": "owner"}, ()),
        (0.9, {"conflicts_with": [IDS[1]]}, (f"conflict:{short_id(IDS[1])}",)),
    ],
)
def test_a_result_is_marked_with_what_speaks_against_trusting_it(
    confidence: float, changes: dict, tags: tuple[str, ...]
):
    assert result(IDS[0], confidence, **changes).tags == tags


def test_of_two_that_conflict_both_are_marked_and_the_surer_comes_first():
    weak, sure = (
        result(IDS[0], 0.4, conflicts_with=[IDS[1]]),
        result(IDS[1], 0.9, conflicts_with=[IDS[0]]),
    )
    other = replace(result(IDS[2], 0.5), score=0.95)
    assert [one.memory_id for one in in_order([weak, other, sure])] == [IDS[1], IDS[2], IDS[0]]
    assert in_order([sure, other, weak]) == [sure, other, weak]
    assert weak.tags and sure.tags and not other.tags
