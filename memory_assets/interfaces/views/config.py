"""Renders settings: a table of all, everything about one, or what a change did."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_assets.interfaces.views import lines
from memory_assets.memory.places import data_settings_file, user_settings_file

if TYPE_CHECKING:
    from memory_assets.memory.settings import ChangedSetting, Setting

EMPTY = "(empty)"

MOST_CHARS = {"value": 23, "default": 17}
"""Most characters of a cell, so that the table fits into 80 columns."""


def render_settings(settings: "Sequence[Setting]") -> lines.Parts:
    """Renders each setting: its value, a default that differs, its origin; then the files."""
    rows = ((setting.name, *_cells(setting), _origin(setting)) for setting in settings)
    yield lines.table("setting", "value", "default", "from", rows=rows)
    yield ""
    for file, label in _files().items():
        state = "" if Path(file).is_file() else " (missing)"
        yield lines.line((f"{label:14}", "bold"), file, (state, "dim"))
    yield lines.bold("environment   ", "MEMORY_ and the name in capitals; overrides both files")


def render_setting(setting: "Setting") -> lines.Parts:
    """Renders one setting: what it means, its value, default and origin, and how to change it."""
    yield lines.bold(setting.name, f": {setting.about}")
    yield ""
    facts = {
        "value": _lines(setting.value),
        "default": _lines(setting.default),
        "from": setting.origin,
        "variable": setting.variable,
        "file": setting.file,
        "line": setting.line,
    }
    yield from lines.render_fields(facts)


def render_changed(changed: "ChangedSetting") -> lines.Parts:
    """Renders the old and the new value, of a table only the entries that differ, and the file."""
    was = changed.was
    now = changed.setting.value
    if isinstance(was, dict) and isinstance(now, dict):
        keys = [key for key in was | now if was.get(key) != now.get(key)]
        was = {key: was[key] for key in keys if key in was}
        now = {key: now[key] for key in keys if key in now}
    difference = f": {_whole(was)} → {_whole(now)}" if was != now else ": unchanged"
    yield lines.bold(changed.setting.name, difference)
    yield lines.dim(f"   in {changed.path}")


def _cells(setting: "Setting") -> tuple[str, str]:
    """Returns the value and, if it differs, the default; of a table the entries that differ."""
    value = setting.value
    default = setting.default
    is_default = value == default
    if isinstance(value, dict) and isinstance(default, dict) and not is_default:
        changed = {key: entry for key, entry in value.items() if default.get(key) != entry}
        return _short(changed, MOST_CHARS["value"]), _entries(default)
    text = _entries(value) if isinstance(value, dict) else _short(value, MOST_CHARS["value"])
    return text, "" if is_default else _short(default, MOST_CHARS["default"])


def _entries(value: Mapping[str, Any]) -> str:
    return f"{len(value)} entries" if value else ""


def _short(value: Any, most: int) -> str:
    """Returns the value in at most `most` characters: of a path its end, else the beginning."""
    text = _whole(value)
    if len(text) <= most:
        return "" if text == EMPTY else text
    return f"…{text[1 - most :]}" if text.startswith(os.sep) else f"{text[: most - 1]}…"


def _lines(value: Any) -> str:
    """Returns the value, an entry of a table on each line."""
    return _whole(value, "\n")


def _whole(value: Any, separator: str = ", ") -> str:
    text = lines.cell(value)
    if isinstance(value, dict):
        text = separator.join(f"{key} = {lines.cell(item)}" for key, item in value.items())
    return text or EMPTY


def _origin(setting: "Setting") -> str:
    """Returns where the value comes from, as the lines below the table name it."""
    if setting.origin == "default":
        return "default"
    return _files().get(setting.origin, "environment")


def _files() -> dict[str, str]:
    return {user_settings_file(): "your file", data_settings_file(): "store's file"}
