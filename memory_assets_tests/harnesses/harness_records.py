"""The first records that each harness writes, by the harness's name; all are invented."""

from typing import Any

SESSION = "0b000001-1111-4222-8333-444455556666"
AT = "2026-09-01T09:00:00.000Z"
_ENVELOPE = {"sessionId": SESSION, "timestamp": AT, "cwd": "/w/tides", "version": "0.24.4"}
_EVENT = {"id": "e-1", "timestamp": AT, "parentId": None}

WRITTEN: dict[str, list[dict[str, Any]]] = {
    "Claude Code": [
        {
            "type": "user",
            "uuid": "m-1",
            "parentUuid": None,
            **_ENVELOPE,
            "message": {"role": "user", "content": "Use metres."},
        }
    ],
    "Codex": [
        {
            "type": "session_meta",
            "timestamp": AT,
            "payload": {"id": SESSION, "cwd": "/w/tides", "timestamp": AT},
        },
        {
            "type": "response_item",
            "timestamp": AT,
            "payload": {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Use metres."}],
            },
        },
    ],
    "pi": [
        {"type": "session", "id": SESSION, "timestamp": AT, "cwd": "/w/tides"},
        {"type": "message", **_EVENT, "message": {"role": "user", "content": "Use metres."}},
        {"type": "custom", **_EVENT, "customType": "note", "data": {"text": "x"}},
    ],
    "Qwen Code": [
        {
            "type": "user",
            "uuid": "m-1",
            "parentUuid": None,
            **_ENVELOPE,
            "provenance": "real_user",
            "message": {"role": "user", "parts": [{"text": "Use metres."}]},
        },
        {
            "type": "assistant",
            "uuid": "m-2",
            **_ENVELOPE,
            "message": {"role": "model", "parts": [{"text": "Done."}]},
        },
        {
            "type": "system",
            "uuid": "m-3",
            **_ENVELOPE,
            "subtype": "ui_telemetry",
            "systemPayload": {},
        },
    ],
    "Copilot CLI": [
        {
            "type": "session.start",
            "data": {"sessionId": SESSION, "producer": "copilot-agent"},
            **_EVENT,
        },
        {"type": "user.message", "data": {"content": "Use metres."}, **_EVENT},
    ],
    "Gemini CLI": [
        {
            "sessionId": SESSION,
            "projectHash": "0c1d",
            "startTime": AT,
            "lastUpdated": AT,
            "kind": "main",
        }
    ],
    "Cursor": [
        {"role": "user", "message": {"content": [{"type": "text", "text": "Use metres."}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
    ],
    "Droid": [{"type": "session_start", "id": SESSION, "title": "Tides", "cwd": "/w/tides"}],
}
"""OpenCode has tables instead."""

TABLES = {
    "OpenCode": ("project", "session", "message", "part", "todo"),
    "Cursor": ("ItemTable", "cursorDiskKV"),
    "Goose": ("schema_version", "sessions", "messages"),
}
