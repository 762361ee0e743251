"""Whether a model of a name exists, as far as that is known before it is asked: from prices,
harnesses, a server's list.
"""

import json
import urllib.request
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import get_args

from memory_assets.errors import QuestionError
from memory_assets.services.models.prices import is_near, price_of, prices_of
from memory_assets.store.settings import HARNESS_MODELS, RULES, Role, Settings, harness_of

SECONDS = 5.0
"""For a server to list its models."""

MOST_NAMED = 5
"""Names in an error."""


def check_name(model: str, role: Role, settings: Settings, *, is_free: bool = False) -> str:
    """Returns what is not sure about the name in this role, if anything.

    Raises `QuestionError`, with the nearest names, for one that neither a price, nor a harness, nor
    the server's list has. Of a free model that no server lists, any name is taken: its price is
    known to be nothing.
    """
    prices = prices_of(settings)
    harness = harness_of(model)
    if model in (RULES, harness) or price_of(model, prices) is not None:
        return ""
    if harness:
        return f"No price list has {model}: {harness} alone knows whether there is such a model."
    url = settings.url_of(role)
    listed = listed_models(url, SECONDS) if url else []
    if model in listed or f"{model}:latest" in listed:
        return ""
    if url and not listed:
        question = f"the first question shows whether it has {model}"
        return f"{url} did not list its models (/v1/models), so {question}."
    if listed:
        raise QuestionError(f"{url} does not have {model}. Use one of {_named(model, listed)}.")
    if is_free:
        return ""
    raise QuestionError(
        f"No price is known for {model}, and it is no harness. Use one of "
        f"{_named(model, [*HARNESS_MODELS, *prices])}; `memory model list` shows all. For a model "
        "of your own server give --url; for a newer one set its price first, in "
        "MEMORY_MODEL_PRICES, or give --free if no question is billed."
    )


def name_problems(settings: Settings) -> Iterator[str]:
    """Yields why a configured model may not exist, once for both roles."""
    roles: tuple[Role, ...] = get_args(Role)
    by_model: dict[str, Role] = {settings.model_of(role): role for role in roles}
    for model, role in by_model.items():
        try:
            problem = check_name(model, role, settings)
        except QuestionError as error:
            problem = str(error)
        if problem:
            yield problem


def listed_models(url: str, seconds: float) -> list[str]:
    """Returns the models that the server lists; none where it does not answer in time, or wants a
    key for that.
    """
    handlers = [urllib.request.ProxyHandler({})] if is_near(url) else []
    try:
        address = f"{url.rstrip('/')}/v1/models"
        with urllib.request.build_opener(*handlers).open(address, timeout=seconds) as answer:
            listed = json.loads(answer.read(1_000_000))["data"]
        return [str(model["id"]) for model in listed]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _named(model: str, names: Sequence[str]) -> str:
    """Returns the nearest names, or the first where none is near."""
    near = get_close_matches(model, names, MOST_NAMED)
    return ", ".join(near or names[:MOST_NAMED])
