"""Renders settings: a table of all of them, one with everything about it, and what changing one
did.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_assets.interfaces.views.lines import Parts, bold, cell, dim, line, render_fields, table
from memory_assets.memory.places import data_settings_file, user_settings_file

if TYPE_CHECKING:
    from memory_assets.memory.settings import ChangedSetting, DagsterConfiguration, Setting

EMPTY = "(empty)"

MOST_CHARS = {"value": 23, "default": 17}
"""Characters of the cells of the table, which then fits into 80 columns."""


def render_settings(settings: "Sequence[Setting]") -> Parts:
    """Renders each setting with its value, its default where it differs, and its origin; then the
    files.
    """
    rows = ((one.name, *_cells(one), _origin(one)) for one in settings)
    yield table("setting", "value", "default", "from", rows=rows)
    yield ""
    for label, file in (
        ("your file", user_settings_file()),
        ("store's file", data_settings_file()),
    ):
        yield line(
            (f"{label:14}", "bold"), file, ("" if Path(file).is_file() else " (missing)", "dim")
        )
    yield line(("environment   ", "bold"), "MEMORY_ and the name in capitals; overrides both files")


def render_setting(one: "Setting") -> Parts:
    """Renders one setting: what it means, its value, default and origin, and how to change it."""
    yield bold(one.name, f": {one.about}")
    yield ""
    shown = {
        "value": _lines(one.value),
        "default": _lines(one.default),
        "from": one.origin,
        "variable": one.variable,
    }
    yield from render_fields({**shown, "file": one.file, "line": one.line})


def render_changed(changed: "ChangedSetting") -> Parts:
    """Renders what differs between the value before and after, and the file."""
    one, was = changed.setting, changed.was
    now = one.value
    if isinstance(was, dict) and isinstance(now, dict):
        keys = [key for key in was | now if was.get(key) != now.get(key)]
        was, now = ({key: value[key] for key in keys if key in value} for value in (was, now))
    yield bold(one.name, f": {_whole(was)} → {_whole(now)}" if was != now else ": unchanged")
    yield dim(f"   in {changed.path}")


def render_deployment(found: "DagsterConfiguration") -> Parts:
    """Renders the file: all of it where it is only shown, what changes where it was written."""
    if not found.is_written:
        yield dim(f"# {found.path}")
        yield found.content.rstrip("\n")
        return
    yield found.diff.rstrip("\n") or "Nothing changes."
    yield ""
    yield bold("written", f": {found.path}") if found.diff else bold("unchanged", f": {found.path}")
    if found.before:
        yield dim(f"   the file before it: {found.before}")


def _cells(one: "Setting") -> tuple[str, str]:
    is_default = one.value == one.default
    if isinstance(one.value, dict) and isinstance(one.default, dict) and not is_default:
        changed = {key: value for key, value in one.value.items() if one.default.get(key) != value}
        return _short(changed, MOST_CHARS["value"]), _entries(one.default)
    value = (
        _entries(one.value)
        if isinstance(one.value, dict)
        else _short(one.value, MOST_CHARS["value"])
    )
    return value, "" if is_default else _short(one.default, MOST_CHARS["default"])


def _entries(value: Mapping[str, Any]) -> str:
    return f"{len(value)} entries" if value else ""


def _short(value: Any, most: int) -> str:
    """Returns the value in so many characters: the end of a path, the beginning of anything
    else.
    """
    text = _whole(value)
    if len(text) <= most:
        return "" if text == EMPTY else text
    return f"…{text[1 - most :]}" if text.startswith(os.sep) else f"{text[: most - 1]}…"


def _lines(value: Any) -> str:
    """Returns the value, an entry of a table on each line."""
    return (
        "\n".join(f"{key} = {cell(one)}" for key, one in value.items())
        if value and isinstance(value, dict)
        else _whole(value)
    )


def _whole(value: Any) -> str:
    text = (
        ", ".join(f"{key} = {cell(one)}" for key, one in value.items())
        if isinstance(value, dict)
        else cell(value)
    )
    return text or EMPTY


def _origin(one: "Setting") -> str:
    """Returns where the value comes from, as the lines below the table name it."""
    named = {
        "default": "default",
        user_settings_file(): "your file",
        data_settings_file(): "store's file",
    }
    return named.get(one.origin, "environment")
