"""What an answer costs: the listed price of the longest fitting name, caches and batches counted, nothing guessed."""

import pytest

from memory_assets.errors import ModelSetupError
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.services.models.prices import (
    Price,
    check_price,
    cost_of,
    estimate_of,
    listed_prices,
    price_of,
    prices_of,
)
from memory_assets.store.settings import read_settings

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


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        ("claude-opus-5", "claude-opus-5"),
        ("claude-opus-5-20260724", "claude-opus-5"),
        ("claude-opus-5@20260724", "claude-opus-5"),
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5-5-latest", "claude-opus-5-5"),
        ("claude-opus-5-9", None),
        ("claude-opus-50", None),
        ("claude-opus-5-9-20270101", None),
        ("gateway/claude-opus-5", None),
    ],
)
def test_a_later_version_is_not_guessed_from_an_earlier_one(model: str, listed: str | None):
    prices = {"claude-opus-5": Price(5, 25), "claude-opus-5-5": Price(4, 20)}
    assert price_of(model, prices) == (prices[listed] if listed else None)


def test_the_cache_has_its_own_price_where_one_is_listed():
    prices = {"m": Price(4.0, 20.0, cache_write=5.0, cache_read=0.2)}
    assert cost_of(
        answer("m", cache_write_tokens=1_000_000, cache_read_tokens=1_000_000), prices
    ) == pytest.approx(5.2)


def test_a_long_prompt_costs_more_its_answer_included_but_many_short_ones_do_not():
    prices = {"m": Price(1.0, 5.0, long_prompt=100, long_prompt_times=5.0)}
    usual = answer("m", input_tokens=60, cache_read_tokens=40, output_tokens=10)
    long = answer("m", input_tokens=61, cache_read_tokens=40, output_tokens=10)
    assert cost_of(usual, prices) == pytest.approx((60 + 4 + 50) / 1e6)
    assert cost_of(long, prices) == pytest.approx(5 * (61 + 4 + 50) / 1e6)
    assert estimate_of("m", 1_000_000, 0, prices, in_batches=False) == pytest.approx(1.0)
    assert estimate_of("m", 1_000_000, 0, prices, in_batches=True) == pytest.approx(0.5)
    assert estimate_of("n", 1, 1, prices, in_batches=True) is None


def test_the_settings_add_prices_and_override_them():
    settings = read_settings(
        model_prices={
            "llama-9": {"input": 0, "output": 0},
            "claude-haiku-4-5": {"input": 7, "output": 8},
        }
    )
    prices = prices_of(settings)
    assert cost_of(answer("llama-9", input_tokens=5), prices) == 0.0
    assert prices["claude-haiku-4-5"] == Price(7, 8)
    assert prices["claude-sonnet-5"] == listed_prices()["claude-sonnet-5"]


NEAR = (
    "http://127.0.0.1:11434",
    "http://localhost:1234",
    "http://192.168.0.7:8000",
    "http://[::1]:8080",
)


@pytest.mark.parametrize(
    ("model", "url", "is_asked"),
    [
        *((f"qwen{number}", url, True) for number, url in enumerate(NEAR)),
        ("codex", "", True),
        ("claude-haiku-4-5", "https://gateway.example", True),
        ("qwen3", "https://gateway.example", False),
        ("qwen3", "https://8.8.8.8", False),
        ("gpt-9", "", False),
    ],
)
def test_a_model_that_may_send_a_bill_is_asked_only_with_a_price(
    model: str, url: str, is_asked: bool
):
    settings = read_settings(model=model, model_url=url)
    if is_asked:
        check_price(model, settings)
        return
    with pytest.raises(
        ModelSetupError,
        match=f"No price is known for {model}, so MEMORY_MODEL_MOST_USD .* cannot be held",
    ):
        check_price(model, settings)
    check_price(
        model,
        read_settings(model=model, model_url=url, model_prices={model: {"input": 0, "output": 0}}),
    )


@pytest.mark.parametrize(("model", "url"), [("codex", ""), ("qwen3", NEAR[0])])
def test_a_limit_that_somebody_set_is_held_for_every_model(
    model: str, url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_MODEL_MOST_USD", "3")
    with pytest.raises(
        ModelSetupError, match=rf"\$3\.00.*MEMORY_MODEL_PRICES='{{\"{model}\": {{\"input\": 0"
    ):
        check_price(model, read_settings(model=model, model_url=url))
    check_price(
        model,
        read_settings(model=model, model_url=url, model_prices={model: {"input": 0, "output": 0}}),
    )
