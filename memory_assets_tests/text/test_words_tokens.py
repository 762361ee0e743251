"""Estimating tokens: never less than the characters divided by four."""

import pytest

from memory_assets.text.words import count_tokens


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("four", 1), ("fives", 2), ("x" * 4_000, 1_000)]
)
def test_a_part_of_a_token_counts_as_one(text: str, tokens: int):
    assert count_tokens(text) == tokens
