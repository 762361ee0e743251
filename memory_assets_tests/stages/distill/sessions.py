"""Short sessions for the tests of distill: who said what, in order."""

from datetime import timedelta
from typing import Any

import polars as pl

from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets_tests.factories import START, frame, message, row

WINDOW_ID = "a1b2c3d4e5f6" + "0" * 52


def said(*turns: tuple[str, str] | dict[str, Any], window_id: str = WINDOW_ID) -> list[Row]:
    """Messages from (author, text) pairs, a minute apart; a dict changes more of a message."""
    rows = []
    for ordinal, turn in enumerate(turns):
        changes = {"author": turn[0], "text": turn[1]} if isinstance(turn, tuple) else dict(turn)
        author = changes.get("author", "owner")
        kind = "text" if author in ("owner", "assistant", "injected") else "tool_result"
        rows.append(
            message(
                **{
                    "ordinal": ordinal,
                    "line": 2 * ordinal,
                    "window_id": window_id,
                    "kind": kind,
                    **changes,
                    "author": author,
                }
            )
        )
    return rows


def messages(rows: list[Row]) -> pl.DataFrame:
    """The rows as a frame of the table."""
    return frame("messages", *rows)


def window(rows: list[Row], **changes: Any) -> dict[str, Any]:
    """The observed window of these messages."""
    defaults = {
        "window_id": rows[0]["window_id"],
        "session_id": rows[0]["session_id"],
        "status": "observed",
        "trigger": "ended",
        "day": START.date(),
        "title": "Package managers",
        "started_at": rows[0]["event_at"],
        "ended_at": max(message["event_at"] for message in rows),
        "message_count": len(rows),
        "user_turn_count": sum(message["is_user_turn"] for message in rows),
        "message_ids": [message["message_id"] for message in rows],
        "lines": [message["line"] for message in rows],
        "path": "/home/mira/.claude/projects/shop/session-1.jsonl",
        "project": "shop",
        "person": "mira",
        "folder": "/home/mira/shop",
    }
    return row("windows", **{**defaults, **changes})


def windows(*rows: dict[str, Any]) -> pl.DataFrame:
    """The windows as a frame of the table."""
    return frame("windows", *rows)


LATER = timedelta(hours=2)
