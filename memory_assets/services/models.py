"""Which model observes, rewrites questions and reflects: none by default, and only ever one that the settings name."""

from memory_assets.schema.protocols import Model
from memory_assets.store.settings import RULES, Settings


def open_model(settings: Settings, *, timeout_seconds: float | None = None, retries: int | None = None) -> Model | None:
    """Returns the model that the settings name, or None for the rules; with less patience where somebody is waiting.

    A key in the environment is not consent: nothing is sent anywhere unless a setting says so.
    """
    if settings.model == RULES:
        return None
    from memory_assets.adapters.anthropic_model import AnthropicModel

    return AnthropicModel(
        settings.model,
        url=settings.model_url,
        timeout_seconds=settings.model_timeout_seconds if timeout_seconds is None else timeout_seconds,
        retries=settings.model_retries if retries is None else retries,
    )
