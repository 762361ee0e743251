"""Which model observes and reflects: none by default, and only ever one that the settings name."""

from memory_assets.errors import ModelError
from memory_assets.protocols import Model
from memory_assets.settings import RULES, Settings


def open_model(settings: Settings) -> Model | None:
    """Returns the model that the settings name, or None for the rules; raises `ModelError` for one that is not known.

    A key in the environment is not consent: nothing is sent anywhere unless a setting says so.
    """
    if settings.model == RULES:
        return None
    raise ModelError(
        f"MEMORY_MODEL names '{settings.model}', but this release observes with rules only. "
        f"Unset MEMORY_MODEL, or set it to '{RULES}'."
    )
