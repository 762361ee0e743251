"""A session leaves at most 25 allowed facts, and what an earlier window was given never changes."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.distill.standards import plan_allowances
from memory_assets_tests.factories import START, frame, row


def planned(*turns: int) -> list[int]:
    rows = [
        row(
            "windows",
            window_id=f"{n:064x}",
            session_id="s",
            status="observed",
            user_turn_count=count,
            started_at=START + timedelta(hours=n),
        )
        for n, count in enumerate(turns)
    ]
    shares = plan_allowances(frame("windows", *rows))
    return [shares[window["window_id"]] for window in rows]


@given(st.lists(st.integers(0, 90), min_size=1, max_size=12))
def test_all_windows_of_a_session_stay_within_its_share(turns: list[int]):
    assert sum(planned(*turns)) <= 25


@given(
    st.lists(st.integers(0, 90), min_size=1, max_size=8), st.lists(st.integers(0, 90), max_size=4)
)
def test_a_later_window_changes_nothing_of_an_earlier_one(turns: list[int], more: list[int]):
    assert planned(*turns, *more)[: len(turns)] == planned(*turns)
