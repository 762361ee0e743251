"""What an answer of a model costs, in US dollars.

Prices are data (`prices.toml`), overridden by the setting `model_prices`. A model that neither knows has no price: nothing
is guessed.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from memory_assets.protocols import ModelAnswer
from memory_assets.settings import Settings

CACHE_WRITE, CACHE_READ = 1.25, 0.1
"""Times the price of input (the vendor's price list; writes that live for five minutes)."""

BATCH = 0.5
MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


def prices_of(settings: Settings) -> dict[str, Price]:
    """Returns the prices by the beginning of a model's name, the settings' own last."""
    return {**listed_prices(), **{name: Price(**price) for name, price in settings.model_prices.items()}}


@cache
def listed_prices() -> dict[str, Price]:
    """Returns the prices that come with the package."""
    listed = tomllib.loads(files("memory_assets").joinpath("prices.toml").read_text("utf-8"))
    return {name: Price(**price) for name, price in listed.items()}


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """Returns the price whose name is the longest beginning of the model's."""
    fitting = [name for name in prices if model.startswith(name)]
    return prices[max(fitting, key=len)] if fitting else None


def cost_of(answer: ModelAnswer, prices: Mapping[str, Price]) -> float | None:
    """Returns what the answer cost in US dollars, or nothing where the model's price is unknown."""
    price = price_of(answer.model, prices)
    if price is None:
        return None
    sent = answer.input_tokens + CACHE_WRITE * answer.cache_write_tokens + CACHE_READ * answer.cache_read_tokens
    whole = (sent * price.input + answer.output_tokens * price.output) / MILLION
    return whole * BATCH if answer.is_batch else whole
