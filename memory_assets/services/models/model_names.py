"""Decides whether a model of a given name exists, before it is asked: by the prices, the harnesses,
and the list of a server.
"""

import json
import urllib.request
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import get_args

from memory_assets.errors import QuestionError
from memory_assets.services.models.harness_clients import inherited_variables, missing_of
from memory_assets.services.models.prices import is_near, price_of, prices_of
from memory_assets.store.settings import HARNESS_MODELS, RULES, Role, Settings, harness_of

SECONDS = 5.0
"""How long to wait for a server's list of models."""

MOST_NAMED = 5
"""Names in an error."""

MOST_BYTES = 1_000_000
"""Bytes of a server's list that are read."""


def check_name(model: str, role: Role, settings: Settings, *, is_free: bool = False) -> str:
    """Returns why it is not sure that the model exists and can be asked; else an empty text.

    Raises `QuestionError`, with the nearest names, for a name that is in no price list, is no
    harness, and is not listed by the server of the role. Without a server, any name is accepted for
    a free model.
    """
    prices = prices_of(settings)
    harness = harness_of(model)
    missing = missing_of(harness, inherited_variables(settings)) if harness else ""
    if missing:
        return f"{model} cannot be asked yet: {missing}."
    if model in (RULES, harness) or price_of(model, prices) is not None:
        return ""
    if harness:
        return f"No price list has {model}: {harness} alone knows whether there is such a model."
    return _check_with_server(model, settings.url_of(role), [*prices], is_free=is_free)


def _check_with_server(model: str, url: str, priced: Sequence[str], *, is_free: bool) -> str:
    names = listed_models(url, SECONDS) if url else []
    if model in names or f"{model}:latest" in names:
        return ""
    if url and not names:
        question = f"the first question shows whether it has {model}"
        return f"{url} did not list its models (/v1/models), so {question}."
    if names:
        nearest = _nearest_names(model, names)
        raise QuestionError(f"{url} does not have {model}. Use one of {nearest}.")
    if is_free:
        return ""
    nearest = _nearest_names(model, [*HARNESS_MODELS, *priced])
    raise QuestionError(
        f"No price is known for {model}, and it is no harness. Use one of "
        f"{nearest}; `memory model list` shows all. For a model "
        "of your own server give --url; for a newer one set its price first, in "
        "MEMORY_MODEL_PRICES, or give --free if no question is billed."
    )


def name_problems(settings: Settings) -> Iterator[str]:
    """Yields why a configured model may not exist; a model of both roles is checked once."""
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
    """Returns the models that the server lists; none if it does not answer in time, or asks for a
    key.
    """
    # A proxy cannot reach a server of this network.
    handlers = [urllib.request.ProxyHandler({})] if is_near(url) else []
    try:
        address = f"{url.rstrip('/')}/v1/models"
        with urllib.request.build_opener(*handlers).open(address, timeout=seconds) as answer:
            models = json.loads(answer.read(MOST_BYTES))["data"]
        return [str(model["id"]) for model in models]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _nearest_names(model: str, names: Sequence[str]) -> str:
    """Returns the nearest names, or the first where none is near."""
    near = get_close_matches(model, names, MOST_NAMED)
    return ", ".join(near or names[:MOST_NAMED])
