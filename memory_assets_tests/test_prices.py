"""What an answer costs: the listed price of the longest fitting name, caches and batches counted, nothing guessed."""

import pytest

from memory_assets.prices import Price, cost_of, listed_prices, price_of, prices_of
from memory_assets.protocols import ModelAnswer
from memory_assets.settings import read_settings

PRICES = {"claude-haiku": Price(1.0, 5.0), "claude-haiku-9": Price(2.0, 10.0)}


def answer(model: str = "claude-haiku-4-5", **tokens) -> ModelAnswer:
    return ModelAnswer("", model, **{"input_tokens": 0, "output_tokens": 0, **tokens})


@pytest.mark.parametrize(
    ("tokens", "usd"),
    [
        ({"input_tokens": 1_000_000}, 1.0),
        ({"output_tokens": 1_000_000}, 5.0),
        ({"cache_write_tokens": 1_000_000}, 1.25),
        ({"cache_read_tokens": 1_000_000}, 0.1),
        ({"input_tokens": 1_000_000, "output_tokens": 1_000_000, "is_batch": True}, 3.0),
    ],
)
def test_tokens_cost_what_the_list_says(tokens: dict, usd: float):
    assert cost_of(answer(**tokens), PRICES) == pytest.approx(usd)


def test_the_longest_name_that_fits_counts():
    assert price_of("claude-haiku-9-20270101", PRICES) == Price(2.0, 10.0)


def test_a_model_that_nobody_lists_has_no_price():
    assert cost_of(answer("llama-9"), PRICES) is None


def test_the_settings_add_prices_and_override_them():
    settings = read_settings(
        model_prices={"llama-9": {"input": 0.0, "output": 0.0}, "claude-haiku-4-5": {"input": 7, "output": 8}}
    )
    prices = prices_of(settings)
    assert cost_of(answer("llama-9", input_tokens=5), prices) == 0.0
    assert prices["claude-haiku-4-5"] == Price(7, 8)
    assert prices["claude-sonnet-4"] == listed_prices()["claude-sonnet-4"]
