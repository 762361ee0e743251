"""What an answer of a model costs, in US dollars.

Prices are data (`prices.toml`), overridden by the setting `model_prices`. A model that neither knows has no price: nothing
is guessed, not even from an earlier version of the same model.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from memory_assets.schema.protocols import ModelAnswer
from memory_assets.store.settings import Settings

CACHE_WRITE, CACHE_READ = 1.25, 0.1
"""Times the price of input, where a setting names no price for the cache: the vendor's usual rates."""

BATCH = 0.5
MILLION = 1_000_000

_LATER_VERSION = re.compile(r"[-._]?\d{1,5}(?!\d)")
"""What turns the name of one version into that of another; a snapshot's date has six digits and more."""


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float
    cache_write: float | None = None
    cache_read: float | None = None
    long_prompt: int | None = None
    """Prompts of more tokens cost `long_prompt_times` as much, answer included."""
    long_prompt_times: float = 1.0

    def of(self, answer: ModelAnswer) -> float:
        """Returns what the answer's tokens cost, asked alone and with a prompt of the usual length."""
        write = CACHE_WRITE * self.input if self.cache_write is None else self.cache_write
        read = CACHE_READ * self.input if self.cache_read is None else self.cache_read
        sent = answer.input_tokens * self.input + answer.cache_write_tokens * write + answer.cache_read_tokens * read
        return (sent + answer.output_tokens * self.output) / MILLION

    def is_long(self, answer: ModelAnswer) -> bool:
        """Returns whether the prompt was longer than the usual price covers."""
        prompt = answer.input_tokens + answer.cache_write_tokens + answer.cache_read_tokens
        return self.long_prompt is not None and prompt > self.long_prompt


def prices_of(settings: Settings) -> dict[str, Price]:
    """Returns the prices by the beginning of a model's name, the settings' own last."""
    return {**listed_prices(), **{name: Price(**price) for name, price in settings.model_prices.items()}}


@cache
def listed_prices() -> dict[str, Price]:
    """Returns the prices that come with the package."""
    listed = tomllib.loads(files("memory_assets.services").joinpath("prices.toml").read_text("utf-8"))
    return {name: Price(**price) for name, price in listed.items()}


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """Returns the price whose name is the longest beginning of the model's, unless that is an earlier version."""
    fitting = [name for name in prices if _fits(name, model)]
    return prices[max(fitting, key=len)] if fitting else None


def cost_of(answer: ModelAnswer, prices: Mapping[str, Price]) -> float | None:
    """Returns what the answer cost in US dollars, or nothing where the model's price is unknown."""
    price = price_of(answer.model, prices)
    if price is None:
        return None
    whole = price.of(answer) * (price.long_prompt_times if price.is_long(answer) else 1.0)
    return whole * BATCH if answer.is_batch else whole


def estimate_of(
    model: str, input_tokens: int, output_tokens: int, prices: Mapping[str, Price], *, in_batches: bool
) -> float | None:
    """Returns what many calls of the usual length would cost together, or nothing where the model's price is unknown."""
    price = price_of(model, prices)
    if price is None:
        return None
    whole = price.of(ModelAnswer("", model, input_tokens, output_tokens))
    return whole * BATCH if in_batches else whole


def _fits(name: str, model: str) -> bool:
    is_version = name[-1:].isdigit()
    return model.startswith(name) and not (is_version and _LATER_VERSION.match(model, len(name)))
