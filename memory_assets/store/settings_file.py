"""Writes settings into `memory.toml` as text: the lines that name them change, everything else stays as it is."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from memory_assets.errors import SettingsError
from memory_assets.store.places import SETTINGS_FILE, find_data, settings_file
from memory_assets.text.files import write_atomically

Value = str | int | float | bool


def settings_path() -> Path:
    """Returns the file that applies, or that would: the working folder's, else the data folder's."""
    return Path(settings_file() or Path(find_data()) / SETTINGS_FILE)


def write_settings(changes: Mapping[str, Value]) -> Path:
    """Puts the settings into the file and returns it; raises `SettingsError` where its lines cannot be told apart."""
    path = settings_path()
    try:
        before = path.read_text("utf-8") if path.is_file() else ""
        after = with_settings(before, changes)
        is_right = tomllib.loads(after) == {**tomllib.loads(before), **changes}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"Cannot write settings into {path}: {error}. Mend the file.") from error
    if not is_right:
        raise SettingsError(f"Cannot write settings into {path} without harm. Write them there yourself:\n{_lines(changes)}")
    if after != before:
        write_atomically(path, after.encode(), mode=path.stat().st_mode & 0o777 if path.is_file() else 0o600)
    return path


def with_settings(text: str, changes: Mapping[str, Value]) -> str:
    """Returns the text of a `memory.toml` with these settings: in the place of their lines, else above the first table."""
    for name, value in changes.items():
        line = _lines({name: value})
        top, table, rest = _before_tables(text)
        known = re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*=.*$", re.M)
        if known.search(top):
            top = known.sub(lambda _, line=line: line, top, count=1)
        else:
            top += f"{'' if not top or top.endswith(chr(10)) else chr(10)}{line}\n{chr(10) if table else ''}"
        text = top + table + rest
    return text


def _before_tables(text: str) -> tuple[str, str, str]:
    first = re.search(r"^[ \t]*\[", text, re.M)
    at = first.start() if first else len(text)
    return text[:at], text[at : at + 1], text[at + 1 :]


def _lines(changes: Mapping[str, Value]) -> str:
    return "\n".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in changes.items())
