"""Lists the settings with value, default and origin; changes one in the file; chooses the model."""

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, get_args

from memory_assets.errors import QuestionError, SettingsError
from memory_assets.schema.setting_types import ALL_PROJECTS
from memory_assets.services.models.model_names import check_name
from memory_assets.services.models.prices import price_of, price_problems, prices_of
from memory_assets.store.places import settings_files, user_settings_file
from memory_assets.store.settings import (
    RENAMED,
    RULES,
    Role,
    Settings,
    TokenKind,
    changed_settings,
    from_folder,
    read_file,
    read_settings,
)
from memory_assets.store.settings_file import (
    Value,
    change_file,
    line_of,
    with_settings,
    without_setting,
    write_settings,
)
from memory_assets.text.masking.redact import mask_text

FREE: dict[TokenKind, float] = {"input": 0.0, "output": 0.0}

ENVIRONMENT = "environment"
"""Beginning of the origin of a setting that an environment variable sets."""

CONSENT = ("model", "reflector_model")
"""Settings that name who is sent transcripts; `memory model use` also records which projects may be
sent.
"""


@dataclass(frozen=True)
class Setting:
    """A setting with its value, its default, and where its value comes from."""

    name: str
    value: Any
    default: Any
    origin: str
    """`default`, the environment variable, or the file."""
    about: str
    variable: str
    """The environment variable that sets it, whatever the files say."""
    file: Path
    """The file to change: the one that sets it, else the user's."""
    line: str
    """The line of a file that gives it the present value."""


@dataclass(frozen=True)
class ModelName:
    """A model that can be configured; prices are US dollars per million tokens."""

    name: str
    is_used: bool
    input_usd: float | None = None
    output_usd: float | None = None


@dataclass(frozen=True)
class Models:
    """The configured model, where its name comes from, and others with a known price."""

    used: str
    origin: str
    url: str
    models: tuple[ModelName, ...]
    reflector: str = ""
    """The model of the other role."""
    projects: tuple[str, ...] = (ALL_PROJECTS,)
    """The projects that models may be sent."""
    path: Path | None = None
    """The settings file, where a model was chosen."""
    price_problems: tuple[str, ...] = ()
    """Why the models would not be asked: no known price."""
    uncertain_names: tuple[str, ...] = ()
    """Why a chosen model may not exist, or cannot be asked yet."""
    notices: tuple[str, ...] = ()
    """Earlier choices that the new one resets, or that stay."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning where the environment overrides the settings file, and where a price is
        missing.
        """
        others = (*self.notices, *self.uncertain_names, *self.price_problems)
        if self.path is None or not self.origin.startswith(ENVIRONMENT):
            return others
        return (f"The {self.origin} overrides {self.path}: {self.used} is still used.", *others)


@dataclass(frozen=True)
class ChangedSetting:
    """A setting after its line in the user's file was written or removed."""

    setting: Setting
    path: Path
    was: Any
    warnings: tuple[str, ...] = ()
    """That an environment variable overrides the file."""


def read_configuration(only: str | None = None) -> tuple[Setting, ...]:
    """Returns every setting, or the one of that name; raises `SettingsError` for invalid
    settings.
    """
    settings = read_settings()
    files = _files()
    if only in RENAMED:
        raise QuestionError(f"The setting '{only}' is now '{RENAMED[only]}'.")
    if only is not None and only not in Settings.model_fields:
        raise QuestionError(f"There is no setting '{only}'; `memory config` lists all.")
    return tuple(
        _setting(name, settings, files) for name in Settings.model_fields if only in (None, name)
    )


def _setting(name: str, settings: Settings, files: Mapping[str, str]) -> Setting:
    field = Settings.model_fields[name]
    value = _public_value(getattr(settings, name))
    default = _public_value(field.get_default(call_default_factory=True))
    about = field.description or ""
    origin = origin_of(name, files)
    file = Path(files.get(name) or user_settings_file())
    line = line_of(name, value)
    return Setting(name, value, default, origin, about, variable_of(name), file, line)


def variable_of(name: str) -> str:
    """Returns the environment variable of the setting."""
    return f"MEMORY_{name.upper()}"


def origin_of(name: str, files: Mapping[str, str]) -> str:
    """Returns where a setting's value comes from: an environment variable, a file, or the
    default.
    """
    variable = variable_of(name)
    if os.environ.get(variable):
        return f"{ENVIRONMENT} variable {variable}"
    return files.get(name, "default")


def list_models(path: Path | None = None) -> Models:
    """Returns the configured model and those with a known price."""
    settings = read_settings()
    prices = prices_of(settings)
    used = {role: settings.model_of(role) for role in get_args(Role)}
    names = dict.fromkeys((RULES, *prices, *used.values()))
    models = []
    for name in names:
        price = None if name == RULES else price_of(name, prices)
        usd = (price.input, price.output) if price else (None, None)
        models.append(ModelName(name, name in used.values(), *usd))
    return Models(
        used["observer"],
        origin_of("model", _files()),
        settings.model_url,
        tuple(models),
        reflector=used["reflector"],
        projects=tuple(settings.model_projects),
        path=path,
        price_problems=price_problems(settings),
    )


def use_model(
    name: str,
    projects: Sequence[str],
    *,
    reflector: str | None = None,
    url: str | None = None,
    is_free: bool = False,
) -> Models:
    """Writes the models, and the projects that they may be sent, into the settings file.

    Resets an earlier address, and an earlier price of 0 for the models, that are not given again.
    `rules` clears the reflector and the projects. A reflector of None stays. Raises
    `SettingsError` for an invalid name or address, `QuestionError` for a model that does not exist.
    """
    present = read_settings()
    new_reflector = "" if name == RULES else reflector
    changes = {"model": name, "reflector_model": new_reflector, "model_url": url or ""}
    if reflector is None and name != RULES:
        changes["reflector_model"] = present.reflector_model
    models: dict[Role, str] = {"observer": name}
    if reflector:
        models["reflector"] = reflector
    billed = _without_free(present, models.values())
    changed = changed_settings(present, changes).model_copy(update={"model_prices": billed})
    doubts = [check_name(model, role, changed, is_free=is_free) for role, model in models.items()]
    if is_free:
        prices = billed | dict.fromkeys(models.values(), FREE)
        changed = changed.model_copy(update={"model_prices": prices})
    lines: dict[str, Value] = {"model": changed.model}
    for setting in ("reflector_model", "model_url", "model_prices"):
        if getattr(changed, setting) != getattr(present, setting):
            lines[setting] = getattr(changed, setting)
    lines["model_projects"] = [] if name == RULES else list(projects)
    path = write_settings(lines)
    notices = tuple(_notices(present, changed, is_kept=reflector is None))
    uncertain = tuple(filter(None, doubts))
    return replace(list_models(path), uncertain_names=uncertain, notices=notices)


def _without_free(settings: Settings, models: Iterable[str]) -> dict[str, dict[TokenKind, float]]:
    """Returns the prices of the settings, without a price of 0 for the models."""
    names = set(models)
    prices = settings.model_prices.items()
    return {name: price for name, price in prices if name not in names or price != FREE}


def _notices(present: Settings, changed: Settings, *, is_kept: bool) -> Iterator[str]:
    """Yields a notice for each earlier choice that was reset or still applies."""
    if present.model_url and not changed.model_url:
        use = f"To use it, give --url {present.model_url}."
        yield f"The server {present.model_url} is no longer used. {use}"
    for name in sorted(present.model_prices.keys() - changed.model_prices.keys()):
        yield f"{name} no longer counts as free. If it is, give --free."
    if is_kept and changed.reflector_model:
        yield f"{changed.reflector_model} still reflects. To change that, give --reflector."
    if changed.reflector_url and changed.model != RULES:
        yield f"The reflector's server is still {changed.reflector_url} (setting reflector_url)."


def add_projects(projects: Sequence[str]) -> Models:
    """Adds projects to those that models may be sent."""
    earlier = read_settings().model_projects
    added = earlier if ALL_PROJECTS in earlier else [*earlier, *projects]
    return list_models(write_settings({"model_projects": list(dict.fromkeys(added))}))


def _files() -> Mapping[str, str]:
    """Returns setting → the file that it is read from, the one with precedence."""
    return {name: file for file in reversed(settings_files()) for name in read_file(file)}


def _public_value(value: Any) -> Any:
    """Returns the value as plain JSON, with secrets masked."""
    if isinstance(value, str):
        return mask_text(value)[0]
    return value if isinstance(value, bool | int | float | list | dict | None) else str(value)


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
    """Removes the setting from the user's file, or one entry of it (`NAME.KEY`); raises
    `QuestionError` where the file does not set it.
    """
    name, dot, key = name.partition(".")
    (previous,) = read_configuration(name)
    path = Path(user_settings_file())
    present = read_file(str(path)) if path.is_file() else {}
    entries = present.get(name)
    if name not in present or (dot and not (isinstance(entries, dict) and key in entries)):
        elsewhere = "" if previous.origin == "default" else f" It comes from the {previous.origin}."
        raise QuestionError(f"{path} does not set {name}{dot}{key}.{elsewhere}")
    change_file(path, lambda content: without_setting(content, name, key))
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
