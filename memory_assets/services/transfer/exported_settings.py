"""Renders the settings of a store for another machine: those that differ from the defaults, without
secrets and paths.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memory_assets.services.settings.which_store import is_sample
from memory_assets.store.settings import PATH_LISTS, PATHS, USUAL_EMBEDDING_MODEL, Settings
from memory_assets.text.masking.redact import mask_text

OF_A_MACHINE = frozenset({*PATHS, *PATH_LISTS, "now", "port"})
"""Settings that name places of this machine, or its present moment."""

ALWAYS = ("timezone", "owner")
"""Their defaults depend on the machine."""

OF_ROWS = (*ALWAYS, "people")
"""Settings on which the rows of a store depend, wherever it lies."""


def render_settings(settings: Settings) -> tuple[bytes, tuple[str, ...]]:
    """Returns the text of a `memory.toml`, and the names of the settings that it leaves out."""
    import tomlkit

    document = tomlkit.document()
    left_out = []
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        if name not in ALWAYS and value == field.get_default(call_default_factory=True):
            continue
        if name == "data" or is_sample(settings):
            continue  # an import decides where the store is; the sample has its own settings
        is_of_machine = name in OF_A_MACHINE or _is_folder(name, value)
        if is_of_machine or not field.repr or _has_secret(value):
            left_out.append(name)
        else:
            document[name] = value
    return tomlkit.dumps(document).encode(), tuple(left_out)


def with_identity(content: bytes, settings: Settings) -> bytes:
    """Returns the text of the store's `memory.toml` with the present settings of `OF_ROWS`, which
    may come from the environment, the person's file or the machine.
    """
    import tomlkit

    document = tomlkit.parse(content.decode())
    for name in OF_ROWS:
        value = getattr(settings, name)
        if value and document.get(name) != value:
            document[name] = value
    return tomlkit.dumps(document).encode()


def _is_folder(name: str, value: Any) -> bool:
    is_own_model = name == "embedding_model" and value != USUAL_EMBEDDING_MODEL
    return is_own_model and Path(str(value)).is_absolute()


def _has_secret(value: Any) -> bool:
    """Returns whether a text in the value would be masked, or an address names a user or a
    password.
    """
    if isinstance(value, dict):
        return any(_has_secret(item) for item in (*value, *value.values()))
    if isinstance(value, list):
        return any(map(_has_secret, value))
    if not isinstance(value, str):
        return False
    has_login = "://" in value and "@" in urlsplit(value).netloc
    return has_login or mask_text(value)[1] > 0
