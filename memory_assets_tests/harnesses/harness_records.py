"""The first records that each harness writes, by the harness's name; all are invented."""

from typing import Any

SESSION = "0b000001-1111-4222-8333-444455556666"
AT = "2026-09-01T09:00:00.000Z"
_ENVELOPE = {"sessionId": SESSION, "timestamp": AT, "cwd": "/w/tides", "version": "0.24.4"}
_EVENT = {"id": "e-1", "timestamp": AT, "parentId": None}


def _qwen(type: str, second: int, **fields: Any) -> dict[str, Any]:
    ids = {"uuid": f"m-{second}", "parentUuid": f"m-{second - 1}" if second else None}
    at = {**_ENVELOPE, "timestamp": f"2026-09-01T09:00:0{second}.000Z"}
    return {"type": type, **ids, **at, "gitBranch": "main", **fields}


def _parts(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


_HOOKED = {"text": "<qwen:user-prompt-submit-context>\nUse uv.\n</qwen:user-prompt-submit-context>"}
_RECALLED = {"name": "mcp__memory__memory_recall", "arguments": {"question": "units"}}
_COMPRESSED = [_parts("user", {"text": "<state_snapshot>Heights are in metres.</state_snapshot>"})]
QWEN: list[dict[str, Any]] = [
    _qwen(
        "user",
        0,
        provenance="real_user",
        message=_parts("user", {"text": "Use metres."}, _HOOKED),
        systemPayload={"displayText": "Use metres.", "hookContext": "Use uv."},
    ),
    _qwen(
        "assistant",
        1,
        provenance="assistant_output",
        model="m",
        message=_parts(
            "model",
            {"text": "They want metres.", "thought": True},
            {"text": "I look."},
            {"functionCall": {"id": "c1", "name": "read_file", "args": {"file_path": "a.py"}}},
            {"functionCall": {"id": "c2", "name": "tool_call", "args": _RECALLED}},
        ),
    ),
    _qwen(
        "tool_result",
        2,
        provenance="tool_result",
        message=_parts(
            "user", {"functionResponse": {"id": "c1", "response": {"output": "unit = 'feet'"}}}
        ),
        toolCallResult={"status": "success", "resultDisplay": "read"},
    ),
    _qwen(
        "tool_result",
        3,
        provenance="tool_result",
        message=_parts(
            "user", {"functionResponse": {"id": "c2", "response": {"output": "Use uv."}}}
        ),
    ),
    _qwen(
        "user",
        4,
        provenance="real_user",
        subtype="mid_turn_user_message",
        message=_parts("user", {"text": "In tests, too."}),
        systemPayload={"displayText": "In tests, too."},
    ),
    _qwen(
        "user",
        5,
        provenance="system",
        subtype="notification",
        message=_parts("user", {"text": "<task-notification>\nx\n</task-notification>"}),
        systemPayload={"displayText": "Agent completed."},
    ),
    _qwen("system", 6, provenance="system", subtype="ui_telemetry", systemPayload={}),
    _qwen(
        "system",
        7,
        provenance="system",
        subtype="chat_compression",
        systemPayload={"compressedHistory": _COMPRESSED},
    ),
    _qwen("system", 8, subtype="custom_title", systemPayload={"customTitle": "Tides"}),
]


def _copilot(type: str, second: int, **fields: Any) -> dict[str, Any]:
    ids = {"id": f"e-{second}", "parentId": f"e-{second - 1}" if second else None}
    at = f"2026-09-01T09:00:0{second % 10}.000Z"
    agent = {"agentId": fields.pop("agent")} if "agent" in fields else {}
    return {"type": type, "data": fields, **ids, "timestamp": at, **agent}


_CALL = {"toolCallId": "c1", "name": "bash", "arguments": {"command": "make tides"}}
COPILOT: list[dict[str, Any]] = [
    _copilot(
        "session.start",
        0,
        sessionId=SESSION,
        producer="copilot-agent",
        copilotVersion="1.0.102",
        context={"cwd": "/w/tides", "gitRoot": "/w/tides", "branch": "main"},
    ),
    _copilot("hook.end", 1, hookType="sessionStart", output={"additionalContext": "Use uv."}),
    _copilot(
        "user.message",
        2,
        content="Use metres.",
        transformedContent="<current_datetime>x</current_datetime>\n\nUse metres.\n\n"
        "<system_reminder>\nUse uv.\n</system_reminder>",
    ),
    _copilot("assistant.message", 3, content="I look.", model="m", toolRequests=[_CALL]),
    _copilot(
        "tool.execution_complete",
        4,
        toolCallId="c1",
        success=True,
        result={"content": "No rule"},
        shellExecution={"exitCode": 2},
    ),
    _copilot("user.message", 5, content="Look at the gauge.", source="agent-x", agent="x"),
    _copilot("assistant.message", 6, content="It works.", model="m", agent="x"),
    _copilot("user.message", 7, content="Go on.", isAutopilotContinuation=True),
    _copilot(
        "human_response.recorded",
        8,
        actor="human_response",
        response={"question": "Which unit?", "answer": "Metres"},
    ),
    _copilot("session.compaction_complete", 9, success=True, summaryContent="Heights in metres."),
    _copilot("model.messages_snapshot", 10, messages=[{"role": "user", "content": "Use metres."}]),
]

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
    "Qwen Code": QWEN,
    "Copilot CLI": COPILOT,
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
    "Cursor's editor": ("ItemTable", "cursorDiskKV"),
    "Goose": ("schema_version", "sessions", "messages"),
}
