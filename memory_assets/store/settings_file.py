"""Writes settings into a `memory.toml`; other lines and comments are kept."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from memory_assets.errors import SettingsError
from memory_assets.store.places import data_settings_file, user_settings_file
from memory_assets.store.settings import read_file
from memory_assets.text.files import write_atomically

Value = str | int | float | bool | list[str] | dict[str, dict[str, float]]


def settings_path(names: Iterable[str] = ()) -> Path:
    """Returns the file to write these settings into: the user's if it sets one of them, else the
    data folder's, which the user's overrides.

    Raises `SettingsError` if the user's file cannot be read.
    """
    user_file = Path(user_settings_file())
    if user_file.is_file() and not read_file(str(user_file)).keys().isdisjoint(names):
        return user_file
    return Path(data_settings_file())


def write_settings(changes: Mapping[str, Value]) -> Path:
    """Writes the settings into their file and returns its path; raises `SettingsError` if it cannot
    be read or written.
    """
    return change_file(settings_path(changes), lambda text: with_settings(text, changes))


def change_file(path: Path, change: Callable[[str], str]) -> Path:
    """Replaces the text of a `memory.toml` by what `change` returns for it, and returns the path.

    The mode of the file stays. Raises `SettingsError` if the file cannot be changed.
    """
    try:
        text = path.read_bytes().decode() if path.is_file() else ""
        new_text = change(text)
        if new_text != text:
            mode = path.stat().st_mode & 0o777 if path.is_file() else 0o600
            write_atomically(path.resolve(), new_text.encode(), mode)  # keeps a symbolic link
    except (OSError, ValueError) as error:
        raise SettingsError(f"Cannot write settings into {path}: {error}. Fix the file.") from error
    return path


def with_settings(text: str, changes: Mapping[str, Value]) -> str:
    """Returns the text of a `memory.toml` with these settings: replaced in place, else added above
    the first table.

    Raises `ValueError` for text that is no TOML.
    """
    import tomlkit

    document = tomlkit.parse(text)
    for name, value in changes.items():
        document[name] = value
    return tomlkit.dumps(document)


def without_setting(text: str, name: str, key: str = "") -> str:
    """Returns the text of a `memory.toml` without the setting, or without this entry of it; raises
    `ValueError` for text that is no TOML.
    """
    import tomlkit

    document = tomlkit.parse(text)
    if key:
        document.get(name, {}).pop(key, None)
    if not (key and document.get(name)):
        document.pop(name, None)
    return tomlkit.dumps(document)


def line_of(name: str, value: Any) -> str:
    """Returns the line of a `memory.toml` that sets the value; for a table, the line of its first
    entry.
    """
    import tomlkit

    document = tomlkit.document()
    key = [name]
    if isinstance(value, dict) and value:
        entry, value = next(iter(value.items()))
        key.append(entry)
    document.append(tomlkit.key(key), _inline("" if value is None else value))
    return tomlkit.dumps(document).strip()


def _inline(value: Any) -> Any:
    """Returns the value as an item of TOML that takes one line."""
    import tomlkit

    if not isinstance(value, dict):
        return tomlkit.item(value)
    table = tomlkit.inline_table()
    for name, item in value.items():
        table.append(name, _inline(item))
    return table
