"""The JSON form of an answer, the same at every door: `{v, ok, data, warnings}`, and `error` where something failed."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import orjson

from memory_assets.interfaces.failure import message_of

VERSION = 1
"""Version of the envelope."""

JSON_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


def answered(data: Any, warnings: Sequence[str] = (), *, ok: bool = True) -> dict[str, Any]:
    """Returns the envelope of an answer."""
    return {"v": VERSION, "ok": ok, "data": data, "warnings": list(warnings)}


def failed(error: BaseException, message: str | None = None) -> dict[str, Any]:
    """Returns the envelope of a failure, with its type and what a person should read."""
    what = {"type": type(error).__name__, "message": message or message_of(error)}
    return {"v": VERSION, "ok": False, "data": None, "error": what, "warnings": []}


def to_json(value: Any) -> bytes:
    """Returns the value as one line of JSON."""
    return orjson.dumps(value, default=_plain, option=JSON_OPTIONS)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value) if not field.name.startswith("_")}
    raise TypeError(f"{type(value).__name__} has no JSON form")
