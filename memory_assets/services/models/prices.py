"""The cost of a model's answers in US dollars.

Prices come from `prices.toml` and the setting `model_prices`, which has precedence. The price of an
unlisted model is not guessed, not even from an earlier version of the same model. A model without a
price is not asked, because the limit of a run could not be held. A harness or a server of this
network is asked nevertheless, as long as the settings have no limit: its questions are seldom
billed.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from ipaddress import ip_address
from typing import get_args
from urllib.parse import urlsplit

from memory_assets.errors import ModelSetupError
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.store.settings import RULES, Role, Settings, harness_of

CACHE_WRITE, CACHE_READ = 1.25, 0.1
"""Multiples of the input price, where no price for the cache is listed: the vendor's usual rates.
"""

BATCH = 0.5
"""Multiple of the price for questions in batches."""

OF_CLAUDE_CODE = "claude-code:"
ALIASES = {"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"}
"""Names of Claude Code, and the models that version 2.1.330 means by them."""

MILLION = 1_000_000

_SNAPSHOT = re.compile(r"(?:[-@.:_]?\d{6,}|-latest|-v\d|:\d|\[1m\])*")
"""What may follow a name that ends in its version: the date of a snapshot, the number of a
deployment; anything else is another model.
"""


@dataclass(frozen=True)
class Price:
    """Prices in US dollars per million tokens."""

    input: float
    output: float
    cache_write: float | None = None
    cache_read: float | None = None
    long_prompt: int | None = None
    """Calls with longer prompts cost `long_prompt_times` as much, answer included."""
    long_prompt_times: float = 1.0

    def of(self, answer: ModelAnswer) -> float:
        """Returns the cost of the answer's tokens, without the factors for batches and long
        prompts.
        """
        write = CACHE_WRITE * self.input if self.cache_write is None else self.cache_write
        read = CACHE_READ * self.input if self.cache_read is None else self.cache_read
        cost_of_cache = answer.cache_write_tokens * write + answer.cache_read_tokens * read
        cost_of_text = answer.input_tokens * self.input + answer.output_tokens * self.output
        return (cost_of_text + cost_of_cache) / MILLION

    def is_long(self, answer: ModelAnswer) -> bool:
        """Returns whether the price for long prompts applies."""
        prompt = answer.input_tokens + answer.cache_write_tokens + answer.cache_read_tokens
        return self.long_prompt is not None and prompt > self.long_prompt


def prices_of(settings: Settings) -> dict[str, Price]:
    """Returns the prices by prefix of model names; those of the settings replace listed ones."""
    prices = {name: Price(**price) for name, price in settings.model_prices.items()}
    return listed_prices() | prices


@cache
def listed_prices() -> dict[str, Price]:
    """Returns the prices of the package."""
    file = files("memory_assets.services.models").joinpath("prices.toml")
    prices = tomllib.loads(file.read_text("utf-8"))
    return {name: Price(**price) for name, price in prices.items()}


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """Returns the price with the longest matching prefix of the model's name; an earlier version of
    the model does not match.

    A model of Claude Code without a price of its own has that of the API, though a subscription
    pays for it in another way.
    """
    price = _listed_price(model, prices)
    if price or not model.startswith(OF_CLAUDE_CODE):
        return price
    api_name = model.removeprefix(OF_CLAUDE_CODE)
    return _listed_price(ALIASES.get(api_name, api_name), prices)


def cost_of(
    answer: ModelAnswer, prices: Mapping[str, Price], model_asked: str = ""
) -> float | None:
    """Returns the cost of the answer in US dollars; None where no price is known.

    `model_asked` is the name that was asked for; the answer may name another model. For a harness
    the price of the name asked for has precedence, otherwise that of the model in the answer.
    """
    price = _listed_price(model_asked, prices) if harness_of(model_asked) else None
    price = price or price_of(answer.model, prices) or price_of(model_asked, prices)
    if not price:
        return None
    usd = price.of(answer) * (price.long_prompt_times if price.is_long(answer) else 1.0)
    return usd * BATCH if answer.is_batch else usd


def price_problems(settings: Settings) -> tuple[str, ...]:
    """Returns why configured models without a price would not be asked."""
    problems = []
    for model in dict.fromkeys(settings.model_of(role) for role in get_args(Role)):
        try:
            check_price(model, settings)
        except ModelSetupError as error:
            problems.append(str(error))
    return tuple(problems)


def check_price(model: str, settings: Settings) -> None:
    """Raises `ModelSetupError` for a model without a price if it may send a bill, or if the
    settings limit what it may cost.
    """
    if model == RULES or price_of(model, prices_of(settings)) is not None:
        return
    is_seldom_billed = harness_of(model) or _is_near(model, settings)
    if "model_most_usd" not in settings.model_fields_set and is_seldom_billed:
        return
    price = json.dumps({model: {"input": 0, "output": 0}})
    raise ModelSetupError(
        f"No price is known for {model}, so MEMORY_MODEL_MOST_USD (${settings.model_most_usd:.2f}) "
        "cannot be held. Nothing was sent. `memory model list` shows the models that have one. Set "
        f"MEMORY_MODEL_PRICES='{price}' with its US dollars per million tokens, or choose it with "
        "`memory model use NAME --free` if no question is billed."
    )


def estimate_of(
    model: str,
    input_tokens: int,
    output_tokens: int,
    prices: Mapping[str, Price],
    *,
    in_batches: bool,
) -> float | None:
    """Returns the cost of this many tokens, in prompts that do not cost more for their length; None
    where the model's price is unknown.
    """
    price = price_of(model, prices)
    if price is None:
        return None
    usd = price.of(ModelAnswer("", model, input_tokens, output_tokens))
    return usd * BATCH if in_batches else usd


def _listed_price(model: str, prices: Mapping[str, Price]) -> Price | None:
    prefixes = [prefix for prefix in prices if _fits(prefix, model)]
    return prices[max(prefixes, key=len)] if prefixes else None


def _is_near(model: str, settings: Settings) -> bool:
    """Returns whether the model is on a server of this machine or of its private network."""
    urls = {settings.url_of(role) for role in get_args(Role) if settings.model_of(role) == model}
    return bool(urls) and all(map(is_near, urls))


def is_near(url: str) -> bool:
    """Returns whether the address names this machine, or an IP address of a private network."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_private
    except ValueError:
        return False


def _fits(prefix: str, model: str) -> bool:
    """Returns whether the model's name begins with the prefix, and is that of no other version."""
    is_same = not prefix[-1:].isdigit() or _SNAPSHOT.fullmatch(model, len(prefix))
    return model.startswith(prefix) and bool(is_same)
