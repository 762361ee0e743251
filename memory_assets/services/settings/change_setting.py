"""Sets or removes one setting in the user's `memory.toml`, after checking the value as the program
will read it.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from memory_assets.errors import QuestionError, SettingsError
from memory_assets.services.settings.configuration import ENVIRONMENT, Setting, read_configuration
from memory_assets.store.places import user_settings_file
from memory_assets.store.settings import (
    RULES,
    Settings,
    changed_settings,
    from_folder,
    read_file,
    read_settings,
)
from memory_assets.store.settings_file import change_file, with_settings, without_setting

CONSENT = ("model", "reflector_model")
"""Settings that name who is sent transcripts; `memory model use` also records which projects may be
sent.
"""


@dataclass(frozen=True)
class ChangedSetting:
    """A setting after its line in the user's file was written or removed."""

    setting: Setting
    path: Path
    was: Any
    warnings: tuple[str, ...] = ()
    """That an environment variable overrides the file."""


def set_setting(name: str, text: str) -> ChangedSetting:
    """Writes the setting into the user's file; `NAME.KEY` sets one entry of a table, such as
    `ttl_days.projects`.

    Raises `QuestionError` for an unknown name, and for a value that the setting does not take;
    `ModelError` for an embedding model that cannot be used here.
    """
    name, _, key = name.partition(".")
    (previous,) = read_configuration(name)
    if name in CONSENT and text.lower() not in ("", RULES):
        command = f"`memory model use {text}`"
        raise QuestionError(
            f"A model is chosen with {command}, which also asks which projects it may be sent."
        )
    if key and not isinstance(previous.default, dict):
        raise QuestionError(f"{name} has no entries: run `memory config set {name} VALUE`.")
    path = Path(user_settings_file())
    present = read_file(str(path)).get(name, {}) if key and path.is_file() else {}
    value = _checked(name, text, key, present)
    if name == "embedding_model":
        from memory_assets.adapters.local_embedder import model_folder  # imports numpy

        model_folder(value)
    change_file(path, lambda content: with_settings(content, {name: value}))
    return _changed_setting(name, path, previous)


def unset_setting(name: str) -> ChangedSetting:
    """Removes the setting from the user's file; raises `QuestionError` where the file does not set
    it.
    """
    (previous,) = read_configuration(name)
    path = Path(user_settings_file())
    if not path.is_file() or name not in read_file(str(path)):
        elsewhere = "" if previous.origin == "default" else f" It comes from the {previous.origin}."
        raise QuestionError(f"{path} does not set {name}.{elsewhere}")
    change_file(path, lambda content: without_setting(content, name))
    return _changed_setting(name, path, previous)


def _changed_setting(name: str, path: Path, previous: Setting) -> ChangedSetting:
    """Reads the setting again, because the environment may override the file."""
    (current,) = read_configuration(name)
    is_overridden = current.origin.startswith(ENVIRONMENT)
    warnings = (f"The {current.origin} overrides {path}.",) if is_overridden else ()
    return ChangedSetting(current, path, previous.value, warnings)


def _checked(name: str, text: str, key: str, present: dict[str, Any]) -> Any:
    """Returns the value to write: the first reading of the text that the setting takes.

    With a key, the reading is the value of this entry, and `present` holds the other entries.
    """
    first_error = None
    for reading in _readings(text):
        value = {**present, key: reading} if key else reading
        change = {name: from_folder(Path.cwd(), name, value)}
        try:
            parsed = getattr(changed_settings(read_settings(), change), name)
        except SettingsError as error:
            first_error = first_error or error
            continue
        if isinstance(parsed, dict):
            return {entry: _plain(parsed[entry]) for entry in value}
        return _plain(parsed)
    reason = str(first_error).partition("\n")[2].strip().removeprefix(f"{name}: ")
    reason = reason.replace("Value error, ", "")
    raise QuestionError(
        f"{name} cannot be set to this: {reason}. It is: {Settings.model_fields[name].description}"
    )


def _readings(text: str) -> Iterator[Any]:
    """Yields what the text may mean: the text itself, then its value in TOML or, if it is no TOML,
    the list of its parts between commas.
    """
    yield text
    try:
        yield tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        yield [word.strip() for word in text.split(",") if word.strip()]


def _plain(value: Any) -> Any:
    """Returns the value as a type of TOML; dates as text, none as an empty text."""
    if value is None:
        return ""
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, bool | int | float | list | dict) else str(value)
