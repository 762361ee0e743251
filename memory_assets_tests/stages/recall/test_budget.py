"""Budget mode: at most five, within the tokens, and what was dear for nothing counts less."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.recall.budget import BUDGET_TOKENS, LEAST, MOST, fit, thrift
from memory_assets.stages.recall.render import render_block
from memory_assets.stages.recall.results import Recalled
from memory_assets.text.tokens import count_tokens
from memory_assets_tests.factories import START, row

ONE = Recalled(
    memory_id="m", kind="fact", text="Use uv.", score=1.0, confidence=0.9, category="operations", priority="high", age_days=3,
    event_at=START, session="s", path="p", lines=(1,), project="shop",
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({"text": "Use uv."}, 1.0),
        ({"text": "x" * 300, "recall_count": 0}, 1.0),
        ({"text": "x" * 300, "used_count": 1}, 1.0),
        ({"text": "x" * 300, "recall_count": 1}, 0.9),
        ({"text": "x" * 300, "recall_count": 5}, LEAST),
        ({"text": "x" * 900, "recall_count": 50}, LEAST),
    ],
)
def test_only_what_was_dear_handed_out_and_never_used_counts_less(changes: dict[str, Any], counts: float):
    assert thrift(row("memories", **{"recall_count": 9, "used_count": 0} | changes)) == pytest.approx(counts)


def test_one_that_is_too_long_makes_room_for_a_shorter_one():
    long, short = replace(ONE, text="x" * 590), replace(ONE, text="short")
    assert fit([ONE, long, short], tokens=100) == (ONE, short)


@given(st.lists(st.builds(lambda text: replace(ONE, text=text), st.text(max_size=700)), max_size=20))
def test_a_block_of_budget_mode_stays_within_its_tokens_and_has_at_most_five(results: list[Recalled]):
    kept = fit(results)
    assert len(kept) <= MOST
    assert count_tokens(render_block(kept)) <= BUDGET_TOKENS
