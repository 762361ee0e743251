"""Rows and sessions with complete defaults, so that a test says only what its case is about."""

from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from memory_assets import tables

START = datetime(2026, 8, 3, 9, 0, tzinfo=UTC)


def _row(defaults: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    unknown = set(changes) - set(defaults)
    assert not unknown, f"unknown columns {sorted(unknown)}"
    return {**defaults, **changes}


def message(text: str = "Use uv, never pip.", ordinal: int = 0, **changes: Any) -> dict[str, Any]:
    """A message of the owner, one minute after the one before it."""
    defaults = {
        "message_id": f"msg_{ordinal:020x}",
        "session_id": "session-1",
        "window_id": "w" * 64,
        "day": START.date(),
        "ordinal": ordinal,
        "line": ordinal,
        "byte_from": ordinal * 100,
        "byte_to": ordinal * 100 + 100,
        "resource_id": "resource-1",
        "author": "owner",
        "kind": "text",
        "tool_name": None,
        "is_error": False,
        "is_user_turn": changes.get("author", "owner") == "owner",
        "event_at": START + timedelta(minutes=ordinal),
        "is_time_guessed": False,
        "text": text,
        "text_chars": len(text),
        "image_count": 0,
    }
    return _row(defaults, changes)


def frame(table: str, *rows: dict[str, Any]) -> pl.DataFrame:
    """The rows as a frame of the table."""
    return tables.frame_of(table, rows)
