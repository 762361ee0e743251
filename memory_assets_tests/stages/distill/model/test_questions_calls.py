"""Calls about a window: everything is shown, nothing over the limit, a little of the call before shown again."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.stages.distill.model.material import shown
from memory_assets.stages.distill.model.questions import OVERLAP_TOKENS, plan_calls
from memory_assets.text.words import count_tokens
from memory_assets_tests.stages.distill.sessions import said


def told(call) -> str:
    return "".join(message["text"] for message in call.messages)


def test_a_segment_that_is_too_long_is_split_between_its_messages():
    rows = said(*[("owner", "word " * 200)] * 10)
    calls = plan_calls(rows, [list(range(10))], tokens=650)
    assert [(call.first, call.last) for call in calls] == [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]


def test_the_last_messages_of_a_call_are_shown_again_with_the_next():
    rows = said(*[("owner", f"number {number} " + "word " * 100) for number in range(60)])
    first, second, *_ = plan_calls(rows, [list(range(60))], tokens=7_000)
    assert first.before == ()
    assert [message["text"] for message in second.before] == [
        row["text"] for row in rows[first.last + 1 - len(second.before) : first.last + 1]
    ]
    assert 0 < sum(count_tokens(message["text"]) for message in second.before) <= OVERLAP_TOKENS


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(0, 4_000), min_size=1, max_size=30),
    cuts=st.sets(st.integers(1, 29)),
    tokens=st.integers(200, 2_000),
)
def test_every_message_is_shown_once_in_order_and_no_call_is_over_its_limit(
    sizes: list[int], cuts: set[int], tokens: int
):
    rows = said(*[("owner", "w" * size + f"#{number}") for number, size in enumerate(sizes)])
    bounds = [0, *sorted(cut for cut in cuts if cut < len(rows)), len(rows)]
    segments = [list(range(start, end)) for start, end in pairwise(bounds)]
    calls = plan_calls(rows, segments, tokens=tokens)
    assert "".join(map(told, calls)) == "".join(row["text"] for row in rows)
    for call in calls:
        assert (
            sum(count_tokens(shown(message)) + 8 for message in (*call.before, *call.messages))
            <= tokens
        )
